#include "pg/table/heap/cached_groups.hpp"

#include <algorithm>
#include <utility>

namespace strom::pg::table {

void CachedGroups::open(Relation relation, Snapshot snapshot, BlockNumber pages, const std::vector<ColumnId>& columns) {
  table_ = CachedTable::open(relation, snapshot, pages, columns);
  pages_ = pages;
  group_end_ = 0;
  fill_ = nullptr;
}

void CachedGroups::close() {
  next_group_.reset();
  filled_pages_ = filled_pages();
  if (table_ != nullptr) table_->close();
  table_.reset();
}

CachedGroups::Group CachedGroups::look_up(BlockNumber begin) {
  if (next_group_ && next_group_->begin == begin) return *std::exchange(next_group_, std::nullopt);
  Group group{begin, std::min(cache::group_end(begin), pages_)};
  group.is_cached = table_->look_up(begin, group.end, &group.cached, &group.fill);
  return group;
}

std::optional<CachedChunk> CachedGroups::next(BlockNumber begin) {
  Group group = look_up(begin);
  group_end_ = group.end;
  fill_ = group.fill;
  if (!group.is_cached) return std::nullopt;
  const int64_t rows = format::heap::RowPlaces::rows(group.cached.places);
  return CachedChunk{std::move(group.cached), begin, rows, {}};
}

BlockNumber CachedGroups::device_end(BlockNumber begin, BlockNumber most) {
  if (!is_open()) return pages_;
  while (group_end_ < pages_ && group_end_ - begin < most) {
    next_group_ = look_up(group_end_);
    if (next_group_->is_cached || next_group_->fill != nullptr) break;
    group_end_ = next_group_->end;
  }
  return group_end_;
}

void CachedGroups::end_filling() { table_->end_feeding(std::exchange(fill_, nullptr)); }

bool CachedGroups::is_filling() {
  if (fill_ != nullptr && table_->is_full()) {
    fill_->dropped = true;
    end_filling();
  }
  return fill_ != nullptr;
}

void CachedGroups::add_pages(PageChunk* chunk, bool is_last) {
  if (fill_ == nullptr) return;
  if (!chunk->is_all_visible) fill_->dropped = true;
  if (!fill_->dropped) {
    chunk->fill = fill_;
    ++fill_->chunks;
  }
  if (is_last) end_filling();
}

}  // namespace strom::pg::table
