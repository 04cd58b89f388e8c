// Blocks of a heap table that a device reads from the table's files, without shared buffers. Decides which blocks may
// be read this way, and whether the bytes read are what the scan sees. See docs/dev/heap.md. Used by HeapRows.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "columnar/page_batch.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::table {

/// Consecutive blocks that a device reads. The calling thread makes and releases it; in between an engine thread uses
/// it.
class DirectPages final : public columnar::PageBatch {
 public:
  /// `map_page`: the pinned page of the visibility map that has the blocks' bits. Its LSN was `version` when all of
  /// them were set. This object owns the pin until release().
  DirectPages(std::shared_ptr<const columnar::PageLayout> layout, std::shared_ptr<const columnar::PageFile> file,
              BlockNumber first, uint32_t pages, Buffer map_page, XLogRecPtr version);

  const columnar::PageLayout& layout() const override { return *layout_; }
  std::shared_ptr<const columnar::PageFile> file() const override { return file_; }
  uint64_t file_offset() const override { return uint64_t{first_ % RELSEG_SIZE} * BLCKSZ; }
  uint32_t first_block() const override { return first_; }
  uint32_t pages() const override { return pages_; }
  std::vector<bool> are_visible() const override;
  void add_rows(uint32_t page, const uint16_t* numbers, uint32_t rows) override;
  void give_back(uint32_t page) override { given_back_.push_back(first_ + page); }

  /// The place of a row's tuple. Other rows may be added meanwhile.
  ItemPointerData place_of(int64_t row) const;
  // Once the engine has released it:
  int64_t rows() const { return static_cast<int64_t>(numbers_.size()); }
  const std::vector<BlockNumber>& given_back() const { return given_back_; }

  /// Drops the pin. The resource owner must still exist. May ereport.
  void release() { ReleaseBuffer(map_page_); }

 private:
  const std::shared_ptr<const columnar::PageLayout> layout_;
  const std::shared_ptr<const columnar::PageFile> file_;
  const BlockNumber first_;
  const uint32_t pages_;
  const Buffer map_page_;
  const XLogRecPtr version_;
  std::vector<BlockNumber> given_back_;
  mutable std::mutex mutex_;               // protects the members below
  std::map<int64_t, BlockNumber> blocks_;  // by the block's first row
  std::vector<uint16_t> numbers_;          // item number of each row
};

/// Chooses such blocks for one scan. Main thread.
class DirectBlocks {
 public:
  /// True when the snapshot allows reading blocks of the table this way. May ereport.
  static bool are_possible(Relation relation, Snapshot snapshot);

  DirectBlocks(Relation relation, columnar::PageLayout layout)
      : relation_(relation), layout_(std::make_shared<const columnar::PageLayout>(std::move(layout))) {}

  /// Takes blocks from `begin` on, at most to `end` and about `most` of them. They are all-visible, and the storage has
  /// the same content as shared buffers. nullptr: there are none, or too few to be worth it, before *buffers_until,
  /// which is greater than `begin`. Throws PostgresError.
  std::shared_ptr<DirectPages> take(BlockNumber begin, BlockNumber end, uint32_t most, BlockNumber* buffers_until);
  /// Drops the pin. The resource owner must still exist. Throws PostgresError.
  void close();

 private:
  std::shared_ptr<const columnar::PageFile> file_of(BlockNumber block);

  const Relation relation_;
  const std::shared_ptr<const columnar::PageLayout> layout_;
  std::shared_ptr<const columnar::PageFile> file_;  // the last file that was read
  BlockNumber segment_ = 0;                         // its number
  Buffer map_page_ = InvalidBuffer;
};

}  // namespace strom::pg::table
