// Compares a table's published region with its rows, in pieces, so that commits need not wait long.
#include "pg/boundary/boundary.hpp"
#include "pg/store/published.hpp"
#include "pg/store/server_headers.hpp"
#include "store/region/reader.hpp"
#include "store/rows/row_payload.hpp"

namespace strom::pg::store {

namespace {

using boundary::guard;
using boundary::throw_if_failed;

/// Compares one record with the table's row. The caller holds kRegionLock.
class Comparison {
 public:
  explicit Comparison(const Table* table) : table_(table), cells_(table->columns.size()) {}

  Status compare(std::string_view key, std::string_view payload, bool has_nulls) {
    const rows::Cell cell = rows::cell_of(key);
    const Table* table = table_;
    const Slot slot = guard([&] { return find_live(table, cell); });
    if (slot == rows::kNoSlot)
      return Status(ErrorCode::kCorruptFile, "the published region has a row that the table does not have");
    for (uint32_t i = 0; i < cells_.size(); ++i) cells_[i] = table->rows->read(slot, i);
    const rows::PayloadSize size = rows::payload_size(table->shape, cells_);
    expected_.resize(size.bytes);
    rows::write_payload(table->shape, cells_, size.has_nulls, reinterpret_cast<uint8_t*>(expected_.data()));
    if (expected_ == payload && has_nulls == size.has_nulls) return Status::ok();
    return Status(ErrorCode::kCorruptFile, "the published region has another value of a row");
  }

 private:
  const Table* table_;
  std::vector<rows::Cell> cells_;
  std::string expected_;
};

/// Calls `check` for each number below `end`. Holds kRegionLock during each call, and releases it now and then. Throws.
template <class Check>
void check_in_pieces(const Table* table, uint64_t end, const Check& check) {
  constexpr uint64_t kLongestUs = 1000;
  constexpr long kPauseUs = 100;  // else this process would have the lock again before those that wait for it wake up
  LWLock* lock = table->lock(kRegionLock);
  for (uint64_t at = 0; at < end;) {
    guard([lock] { LWLockAcquire(lock, LW_SHARED); });
    const uint64_t begin_us = now_us();
    Status status = Status::ok();
    do status = check(at++);
    while (status.is_ok() && at < end && now_us() - begin_us < kLongestUs);
    guard([lock] { LWLockRelease(lock); });
    throw_if_failed(status);
    pg_usleep(kPauseUs);
    boundary::check_for_interrupts();
  }
}

/// Checks that the region has each live row once. Throws.
uint64_t check_live_rows(const Table* table, region::Checking* checking) {
  const auto key = static_cast<uint32_t>(table->key());
  uint64_t live = 0;
  // Slots that come into use meanwhile are of later transactions.
  check_in_pieces(table, table->rows->used_slots(), [&](uint64_t at) {
    const auto slot = static_cast<Slot>(at);
    if (slot == rows::kNoSlot || !is_live(table, slot)) return Status::ok();
    ++live;
    return checking->check_key(table->rows->read(slot, key).view());
  });
  return live;
}

}  // namespace

void check_region(Table* table) {
  const Region* own = region_of(table);
  if (own == nullptr) return;
  boundary::entry([=] {
    Comparison comparison(table);
    const region::EachRecord each = [&comparison](std::string_view key, std::string_view payload, bool has_nulls) {
      return comparison.compare(key, payload, has_nulls);
    };
    throw_if_failed(region::check_header(own->memory, own->bytes));
    const auto& header = own->writer.header();
    const uint64_t before = __atomic_load_n(&header.publish_begin, __ATOMIC_ACQUIRE);
    region::Checking checking(own->memory, own->bytes, each);
    check_in_pieces(table, checking.buckets(), [&checking](uint64_t bucket) { return checking.check_bucket(bucket); });
    const uint64_t live = check_live_rows(table, &checking);
    // Else the numbers are of several moments. Each live row has been found all the same, and each entry has a row.
    if (__atomic_load_n(&header.publish_begin, __ATOMIC_ACQUIRE) != before) return;
    throw_if_failed(checking.check_counts());
    const uint64_t found = checking.counts().rows;
    if (live != found)
      throw_if_failed(Status(ErrorCode::kCorruptFile, "the published region has " + std::to_string(found) +
                                                          " rows, the table " + std::to_string(live)));
  });
}

}  // namespace strom::pg::store
