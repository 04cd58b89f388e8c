// Chooses the blocks of a table that devices read themselves, and collects the blocks that come back for this process
// to read. Main thread. Used by HeapRows. Throws PostgresError.
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
  /// Sets whether devices may read blocks. Called before open().
  void allow(bool allowed) { are_allowed_ = allowed; }
  bool are_allowed() const { return are_allowed_; }
  void set_threads(int threads) { threads_ = threads; }

  /// For a scan of a whole table. Stays closed if devices cannot read the table.
  void open(Relation relation, Snapshot snapshot, BlockNumber pages, const columnar::PageLayout& layout);
  bool is_open() const { return blocks_ != nullptr; }
  /// Drops pins. The resource owner must still exist.
  void close();

  /// Blocks before this one are read through shared buffers.
  BlockNumber buffers_until() const { return buffers_until_; }
  void leave_to_buffers(BlockNumber until) { buffers_until_ = until; }
  /// The approximate number of blocks for a chunk.
  BlockNumber wanted_blocks() const;
  /// A chunk of blocks from `begin` on, at most to `end`; nullopt when the blocks have to be read through shared
  /// buffers.
  std::optional<DeviceChunk> take(BlockNumber begin, BlockNumber end);
  /// Called when the engine has released a chunk.
  void take_back(const DirectPages& pages);

  /// True while devices read chunks, which may give blocks back.
  bool are_awaited() const { return chunks_ > 0; }
  /// Blocks that a device could not read, so that this process has to read them.
  std::deque<BlockNumber>& returned() { return returned_; }
  /// The number of blocks that devices have read, over all scans.
  int64_t count() const { return count_; }

 private:
  bool are_allowed_ = false;
  int threads_ = 1;
  std::unique_ptr<DirectBlocks> blocks_;  // nullptr: devices read none
  BlockNumber pages_ = 0;
  BlockNumber buffers_until_ = 0;
  std::deque<BlockNumber> returned_;
  int64_t chunks_ = 0;  // chunks being read
  int refusals_ = 0;    // consecutive chunks of which most blocks came back
  int64_t count_ = 0;
};

}  // namespace strom::pg::table
