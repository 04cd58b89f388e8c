// Which blocks of a table a device reads by itself, and which of them come back for this process to read. Main thread.
// Used by HeapRows. Throws PostgresError.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "pg/boundary/postgres.hpp"
#include "pg/table/heap/direct_pages.hpp"
#include "pg/table/heap/heap_chunk.hpp"

namespace strom::pg::table {

class DeviceBlocks {
 public:
  /// Whether devices may read blocks, before open().
  void allow(bool allowed) { are_allowed_ = allowed; }
  bool are_allowed() const { return are_allowed_; }
  void set_threads(int threads) { threads_ = threads; }

  /// For a scan of a whole table. Where devices cannot read it, it stays closed.
  void open(Relation relation, Snapshot snapshot, BlockNumber pages, const columnar::PageLayout& layout);
  bool is_open() const { return blocks_ != nullptr; }
  /// Drops pins, while the resource owner is alive.
  void close();

  /// Blocks before it are for shared buffers.
  BlockNumber buffers_until() const { return buffers_until_; }
  void leave_to_buffers(BlockNumber until) { buffers_until_ = until; }
  /// About how many blocks a chunk should have.
  BlockNumber wanted_blocks() const;
  /// Blocks from `begin` on, at most to `end`; none when they are for shared buffers.
  std::optional<DeviceChunk> take(BlockNumber begin, BlockNumber end);
  /// The engine has let go of a chunk.
  void take_back(const DirectPages& pages);

  /// Chunks that devices are reading may give blocks back.
  bool are_awaited() const { return chunks_ > 0; }
  /// Blocks that a device has not read, which are to be read here.
  std::deque<BlockNumber>& returned() { return returned_; }
  /// Blocks that devices have read, in all scans.
  int64_t count() const { return count_; }

 private:
  bool are_allowed_ = false;
  int threads_ = 1;
  std::unique_ptr<DirectBlocks> blocks_;  // nullptr: devices read none
  BlockNumber pages_ = 0;
  BlockNumber buffers_until_ = 0;
  std::deque<BlockNumber> returned_;
  int64_t chunks_ = 0;  // that are being read
  int refusals_ = 0;    // chunks in a row of which most came back
  int64_t count_ = 0;
};

}  // namespace strom::pg::table
