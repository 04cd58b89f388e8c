#include "pg/table/heap/cached_table.hpp"

#include <algorithm>

#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"
#include "pg/table/heap/map_version.hpp"

namespace strom::pg::table {

using boundary::guard;
using format::heap::ColumnPart;
using format::heap::ImageWriter;
using format::heap::RowPlaces;

namespace {

constexpr BlockNumber kFewestPages = 4;  // smaller tables are not worth it
constexpr ColumnId kPlaces{0, 0, 0, 0};

/// Names a group of pages in one version, within the current life of the column cache.
class GroupOrigin final : public columnar::BatchOrigin {
 public:
  GroupOrigin(uint64_t incarnation, const GroupId& group, BlockNumber end, XLogRecPtr version,
              std::vector<ColumnId> columns)
      : incarnation_(incarnation), group_(group), end_(end), version_(version), columns_(std::move(columns)) {}

  std::string name(size_t column) const override {
    std::string name = "t";
    const ColumnId& id = columns_[column];
    columnar::append_name(&name, incarnation_, group_.file.tablespace, group_.file.database, group_.file.file,
                          group_.begin, end_, version_, id.attribute, id.storage, id.unused, id.scale);
    return name;
  }
  int32_t number(size_t column) const override { return columns_[column].attribute; }
  std::string label() const override {
    return columnar::table_label(group_.file.tablespace, group_.file.database, group_.file.file);
  }

 private:
  const uint64_t incarnation_;
  const GroupId group_;
  const BlockNumber end_;
  const XLogRecPtr version_;
  const std::vector<ColumnId> columns_;
};

// Until its transaction has ended, a column's number may also stand for another column. May ereport.
bool has_new_column(Relation relation, const std::vector<ColumnId>& columns) {
  for (const ColumnId& column : columns)
    if (compat::is_column_new(relation, column.attribute)) return true;
  return false;
}

// True if the table may be cached and pages of its visibility map have versions.
bool has_versions(Relation relation) { return guc::pg_strom::enable_column_cache && leaves_traces(relation); }

// True if a table's first scan fills the cache. There must be room, as far as is known, and the table must not be
// short-lived: it has been vacuumed or analysed, or it is too large for PostgreSQL's shared buffers.
bool is_first_worth_it(Relation relation, BlockNumber pages, size_t columns) {
  if (relation->rd_rel->reltuples < 0 && pages <= static_cast<BlockNumber>(NBuffers)) return false;
  const double all = std::max(RelationGetNumberOfAttributes(relation), AttrNumber{1});
  const double part = std::min(1.0, static_cast<double>(columns) / all);
  return static_cast<double>(pages) * BLCKSZ * part <= static_cast<double>(SharedColumns::allowed());
}

// The LSN of the visibility map's page if all pages of the group are all-visible, else InvalidXLogRecPtr.
XLogRecPtr version_of(Relation relation, BlockNumber begin, BlockNumber end, Buffer* map_page) {
  return guard([=] {
    XLogRecPtr version = InvalidXLogRecPtr;
    return visible_until(relation, begin, end, map_page, &version) == end ? version : InvalidXLogRecPtr;
  });
}

}  // namespace

ColumnId column_id(const format::heap::WantedColumn& column, int scale) {
  return {static_cast<int16_t>(column.attribute + 1), static_cast<uint8_t>(column.storage), 0, scale};
}

// ---- Engine threads ----

void CachedTable::Part::take(const format::heap::TupleDecoder& decoder, const std::vector<int>& scales,
                             std::span<const format::heap::ColumnOut> out, int64_t rows) {
  columns.assign(out.size(), {});
  keepable.assign(out.size(), false);
  for (size_t i = 0; i < out.size(); ++i) keepable[i] = columns[i].take(decoder.wanted()[i], scales[i], out[i], rows);
}

// ---- The main thread ----

bool CachedTable::is_for(Relation relation, BlockNumber pages) {
  return pages >= kFewestPages && has_versions(relation);
}

std::unique_ptr<CachedTable> CachedTable::open(Relation relation, Snapshot snapshot, BlockNumber pages,
                                               const std::vector<ColumnId>& columns) {
  if (!is_for(relation, pages) || !sees_all_visible(snapshot)) return nullptr;
  if (guard([&] { return has_new_column(relation, columns); })) return nullptr;
  SharedColumns* shared = SharedColumns::attach();
  if (shared == nullptr) return nullptr;
  const bool worth_it = is_first_worth_it(relation, pages, columns.size());
  return std::unique_ptr<CachedTable>(new CachedTable(relation, shared, pages, columns, worth_it));
}

// Adjacent groups with the same version become one range. Usually all groups of one page of the map have the same
// version.
columnar::RowsOrigin CachedTable::origin(Relation relation, Snapshot snapshot, BlockNumber pages,
                                         const std::vector<ColumnId>& columns) {
  if (!has_versions(relation) || !sees_all_visible(snapshot)) return {};
  if (guard([&] { return has_new_column(relation, columns); })) return {};
  SharedColumns* shared = SharedColumns::attach();
  if (shared == nullptr) return {};
  const compat::FileId file = compat::file_of(relation);
  columnar::RowsOrigin origin{"T", columnar::table_label(file.tablespace, file.database, file.file)};
  columnar::append_name(&origin.name, shared->incarnation(), file.tablespace, file.database, file.file, pages);
  for (const ColumnId& id : columns) columnar::append_name(&origin.name, id.attribute, id.storage, id.unused, id.scale);
  Buffer map_page = InvalidBuffer;
  XLogRecPtr last = InvalidXLogRecPtr;
  bool is_visible = true;
  for (BlockNumber begin = 0; begin < pages && is_visible; begin = cache::group_end(begin)) {
    const XLogRecPtr version = version_of(relation, begin, std::min(cache::group_end(begin), pages), &map_page);
    is_visible = version != InvalidXLogRecPtr;
    if (version != last) columnar::append_name(&origin.name, begin, version);
    last = version;
  }
  if (map_page != InvalidBuffer) guard([map_page] { ReleaseBuffer(map_page); });
  return is_visible ? origin : columnar::RowsOrigin();
}

CachedTable::CachedTable(Relation relation, SharedColumns* shared, BlockNumber pages,
                         const std::vector<ColumnId>& columns, bool is_first_worth_it)
    : relation_(relation), file_(compat::file_of(relation)), shared_(shared), pages_(pages), columns_(columns) {
  columns_.push_back(kPlaces);
  found_.resize(columns_.size());
  turn_ = shared_->begin_scan(file_, is_first_worth_it);
}

CachedTable::~CachedTable() { shared_->end_scan(&turn_); }

void CachedTable::close() {
  if (map_page_ != InvalidBuffer) guard([this] { ReleaseBuffer(std::exchange(map_page_, InvalidBuffer)); });
  shared_->end_scan(&turn_);
  pins_.release();
  fills_.clear();
}

bool CachedTable::look_up(BlockNumber begin, BlockNumber end, Group* cached, Fill** fill) {
  *fill = nullptr;
  const GroupId group{file_, begin};
  const XLogRecPtr version = version_of(relation_, begin, end, &map_page_);
  if (version == InvalidXLogRecPtr) return false;
  const auto found = shared_->find(group, version, columns_, turn_, &pins_, found_.data());
  if (found == SharedColumns::Found::kCannotBeCached) return false;
  const uint8_t* places = found_.back().bytes;
  // The table may have grown since.
  if (found == SharedColumns::Found::kAll && RowPlaces::pages(places) == end - begin) {
    cached->places = places;
    cached->columns.clear();
    for (size_t i = 0; i + 1 < found_.size(); ++i)
      cached->columns.push_back(format::heap::view_image(found_[i].shape, found_[i].bytes));
    cached->origin = std::make_shared<const GroupOrigin>(shared_->incarnation(), group, end, version, columns_);
    return true;
  }
  if (turn_.fills && !is_full_) {
    *fill = &fills_.emplace_back();
    (*fill)->group = group;
    (*fill)->end = end;
    (*fill)->version = version;
  }
  return false;
}

void CachedTable::end_feeding(Fill* fill) {
  fill->all_fed = true;
  finish(fill);
}

void CachedTable::add(Fill* fill, int64_t chunk, Part part) {
  fill->parts.emplace(chunk, std::move(part));
  finish(fill);
}

void CachedTable::finish(Fill* fill) {
  if (!fill->all_fed || static_cast<int64_t>(fill->parts.size()) < fill->chunks) return;
  if (!fill->dropped) keep(*fill);
  fills_.remove_if([=](const Fill& other) { return &other == fill; });
}

void CachedTable::keep(const Fill& fill) {
  RowPlaces places;
  BlockNumber next = fill.group.begin;
  for (const auto& [chunk, part] : fill.parts) {
    for (size_t i = 0; i < part.blocks.size(); ++i) {
      for (; next < part.blocks[i]; ++next) places.add_page(nullptr, 0);
      const int64_t end =
          i + 1 < part.blocks.size() ? part.first_rows[i + 1] : static_cast<int64_t>(part.numbers.size());
      places.add_page(part.numbers.data() + part.first_rows[i], end - part.first_rows[i]);
      ++next;
    }
  }
  for (; next < fill.end; ++next) places.add_page(nullptr, 0);

  std::vector<ImageWriter> writers;
  std::vector<cache::NewColumn> columns;
  for (size_t c = 0; c + 1 < columns_.size(); ++c) {
    std::vector<const ColumnPart*> parts;
    for (const auto& [chunk, part] : fill.parts)
      if (part.keepable[c]) parts.push_back(&part.columns[c]);
    const bool keepable = parts.size() == fill.parts.size() && format::heap::fits_image(parts);
    writers.emplace_back(std::move(parts));
    const int64_t size = keepable ? format::heap::image_bytes(writers.back().shape()) : 0;
    columns.push_back({columns_[c], writers.back().shape(), size});
  }
  columns.push_back({kPlaces, {}, places.bytes()});
  if (is_full_) return;
  is_full_ = !shared_->add(fill.group, fill.version, columns, turn_, [&](size_t i, uint8_t* to) {
    if (i < writers.size())
      writers[i].write(to);
    else
      places.write(to);
  });
  if (!is_full_) {
    // If no column of a group can be cached, only the places of its rows are there.
    const bool any = columns_.size() == 1 || std::any_of(columns.begin(), columns.end() - 1,
                                                         [](const cache::NewColumn& one) { return one.size > 0; });
    if (any) filled_pages_ += fill.end - fill.group.begin;
    return;
  }
  uint64_t bytes = 0;
  for (const cache::NewColumn& column : columns) bytes += static_cast<uint64_t>(column.size);
  shared_->lacks(turn_, bytes * ((pages_ - fill.group.begin + cache::kGroupPages - 1) / cache::kGroupPages));
}

}  // namespace strom::pg::table
