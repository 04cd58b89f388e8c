#include "pg/table/heap/heap_columns.hpp"

#include <algorithm>

#include "columnar/datum_form.hpp"
#include "engine/block/tile.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/codec/numeric.hpp"

namespace strom::pg::table {

using boundary::guard;
using columnar::BatchView;
using columnar::ColumnView;
using format::heap::Storage;
using registry::TypeId;

namespace {

constexpr int kPagesInCache = 1;      // pages to prefetch before they are decoded
constexpr size_t kBeforeNumeric = 2;  // bytes before it that base::read_ordinary_numeric() may read
constexpr int64_t kPadding = engine::block::kTilePadding;

uint8_t alignment_of(char align) {
  switch (align) {
    case TYPALIGN_CHAR: return 1;
    case TYPALIGN_SHORT: return 2;
    case TYPALIGN_INT: return 4;
    default: return 8;
  }
}

}  // namespace

bool heap_storage(const FormData_pg_attribute& attribute, TypeId type, Storage* storage) {
  const registry::DatumForm form = registry::type_info(type).form;
  *storage = columnar::storage_of(form);
  return attribute.attlen == registry::form_info(form).length;
}

HeapColumns::HeapColumns(Relation relation, const std::vector<AttrNumber>& attnums,
                         const std::vector<engine::plan::ValueType>& types)
    : table_name_(RelationGetRelationName(relation)), table_oid_(RelationGetRelid(relation)), attnums_(attnums) {
  const TupleDesc descriptor = RelationGetDescr(relation);
  std::vector<format::heap::WantedColumn> wanted;
  for (size_t i = 0; i < attnums.size(); ++i) {
    if (attnums[i] < 0) continue;
    Storage storage;
    if (!heap_storage(*TupleDescAttr(descriptor, attnums[i] - 1), types[i].type, &storage))
      throw boundary::StatusError(
          Status(ErrorCode::kInternal, "column of table \"" + table_name_ + "\" cannot be read"));
    wanted.push_back({attnums[i] - 1, storage});
    if (storage == Storage::kNumeric)
      numeric_scales_.push_back(types[i].type == TypeId::kDecimal ? base::kOwnScale : types[i].scale);
    else
      numeric_scales_.push_back(0);
    if (TupleDescAttr(descriptor, attnums[i] - 1)->atthasmissing) set_missing(relation, types[i], &wanted.back());
  }
  set_decoder(relation, std::move(wanted));
}

HeapColumns::HeapColumns(Relation relation, std::vector<format::heap::WantedColumn> wanted)
    : table_name_(RelationGetRelationName(relation)),
      table_oid_(RelationGetRelid(relation)),
      numeric_scales_(wanted.size()) {
  for (const auto& column : wanted) attnums_.push_back(static_cast<AttrNumber>(column.attribute + 1));
  set_decoder(relation, std::move(wanted));
}

void HeapColumns::set_decoder(Relation relation, std::vector<format::heap::WantedColumn> wanted) {
  const TupleDesc descriptor = RelationGetDescr(relation);
  for (int i = 0; i < descriptor->natts; ++i) {
    const FormData_pg_attribute& attribute = *TupleDescAttr(descriptor, i);
    layouts_.push_back({attribute.attlen, alignment_of(attribute.attalign)});
  }
  decoder_ = std::make_unique<const format::heap::TupleDecoder>(BLCKSZ, layouts_, std::move(wanted));
}

// Handles a column that was added with a default when the table had rows already.
void HeapColumns::set_missing(Relation relation, const engine::plan::ValueType& type,
                              format::heap::WantedColumn* column) {
  struct Value {
    Datum datum;
    bool is_null;
  };
  const TupleDesc descriptor = RelationGetDescr(relation);
  const auto attnum = static_cast<AttrNumber>(column->attribute + 1);
  const Value value = guard([=] {
    Value found;
    found.datum = getmissingattr(descriptor, attnum, &found.is_null);
    return found;
  });
  if (value.is_null) return;
  Missing& missing = missing_.emplace_back();
  bool held = true;
  if (column->storage == Storage::kNumeric)
    guard([&] { codec::stored_bytes(value.datum, &missing.bytes); });
  else
    held = codec::register_bytes(type.type, type.scale, value.datum, &missing.bytes) == codec::Encoded::kDone;
  missing.bytes.insert(0, kBeforeNumeric, '\0');
  missing.view = {missing.bytes.data() + kBeforeNumeric, static_cast<int64_t>(missing.bytes.size() - kBeforeNumeric)};
  column->missing_flag = held ? 0 : format::heap::kValueOfHost;
  const bool by_view = column->storage == Storage::kText || column->storage == Storage::kNumeric;
  column->missing = by_view ? static_cast<const void*>(&missing.view) : missing.view.ptr;
}

bool HeapColumns::are_stored() const {
  return std::all_of(attnums_.begin(), attnums_.end(), [](AttrNumber attnum) { return attnum > 0; });
}

std::vector<ColumnId> HeapColumns::ids() const {
  std::vector<ColumnId> columns;
  columns.reserve(decoder_->wanted().size());
  for (size_t i = 0; i < decoder_->wanted().size(); ++i)
    columns.push_back(column_id(decoder_->wanted()[i], numeric_scales_[i]));
  return columns;
}

std::vector<ColumnId> HeapColumns::ids_of(const std::vector<uint32_t>& columns) const {
  const std::vector<ColumnId> all = ids();
  std::vector<ColumnId> wanted;
  for (const uint32_t column : columns) {
    if (attnums_[column] < 0) return {};
    const auto before = std::count_if(attnums_.begin(), attnums_.begin() + column, [](AttrNumber a) { return a < 0; });
    wanted.push_back(all[column - static_cast<size_t>(before)]);
  }
  return wanted;
}

columnar::PageLayout HeapColumns::page_layout() const {
  return {BLCKSZ, DataChecksumsEnabled(), layouts_, decoder_->wanted(), numeric_scales_};
}

void HeapColumns::make_room(PageChunk* chunk) const {
  for (auto& out : chunk->out) out.has_flags = out.has_packed = false;
  const int64_t needed = std::max<int64_t>(chunk->most_rows, 1);  // pages without rows need columns as well
  if (chunk->capacity >= needed) return;
  chunk->capacity = needed + needed / 4;
  const auto rows = static_cast<size_t>(chunk->capacity + kPadding);
  chunk->numbers.resize(rows);
  if (wants(TableOidAttributeNumber)) chunk->table_oids.assign(rows, table_oid_);
  if (wants(SelfItemPointerAttributeNumber)) chunk->tids.resize(rows);
  chunk->memory.clear();
  chunk->out.clear();
  for (const auto& column : decoder_->wanted()) {
    // new[] aligns to 16 bytes, which the widest values need.
    const size_t bytes = rows * static_cast<size_t>(storage_width(column.storage));
    chunk->memory.push_back(std::unique_ptr<uint8_t[]>(new uint8_t[bytes + rows]));
    chunk->out.push_back({chunk->memory.back().get(), chunk->memory.back().get() + bytes, false});
  }
}

Status HeapColumns::decode(PageChunk* chunk) const {
  make_room(chunk);
  const auto pages = static_cast<size_t>(chunk->pages);
  for (size_t i = 0; i < std::min<size_t>(kPagesInCache, pages); ++i) decoder_->prefetch(chunk->refs[i].bytes);
  int64_t row = 0;
  for (size_t i = 0; i < pages; ++i) {
    const uint8_t* next = i + kPagesInCache < pages ? chunk->refs[i + kPagesInCache].bytes : nullptr;
    const format::heap::PageRows some =
        decoder_->decode(chunk->refs[i], next, row, chunk->capacity, chunk->numbers.data(), chunk->out.data());
    if (some.bad_item != 0)
      return Status(ErrorCode::kCorruptFile, "item " + std::to_string(some.bad_item) + " of block " +
                                                 std::to_string(chunk->blocks[i]) + " of table \"" + table_name_ +
                                                 "\" is damaged");
    chunk->first_rows[i] = row;
    row += some.rows;
  }
  chunk->rows = row;
  if (wants(SelfItemPointerAttributeNumber)) set_tids(chunk);
  if (chunk->fill != nullptr) make_part(chunk);
  return Status::ok();
}

void HeapColumns::make_part(PageChunk* chunk) const {
  CachedTable::Part& part = chunk->part;
  part.take(*decoder_, numeric_scales_, chunk->out, chunk->rows);
  part.blocks.assign(chunk->blocks.begin(), chunk->blocks.begin() + chunk->pages);
  part.first_rows.assign(chunk->first_rows.begin(), chunk->first_rows.begin() + chunk->pages);
  part.numbers.assign(chunk->numbers.begin(), chunk->numbers.begin() + chunk->rows);
}

bool HeapColumns::wants(AttrNumber attnum) const {
  return std::find(attnums_.begin(), attnums_.end(), attnum) != attnums_.end();
}

void HeapColumns::set_tids(PageChunk* chunk) {
  for (size_t page = 0; page < static_cast<size_t>(chunk->pages); ++page) {
    const bool is_last = page + 1 == static_cast<size_t>(chunk->pages);
    const auto end = static_cast<size_t>(is_last ? chunk->rows : chunk->first_rows[page + 1]);
    const uint64_t block = uint64_t{chunk->blocks[page]} << columnar::heap::kItemBits;
    for (auto row = static_cast<size_t>(chunk->first_rows[page]); row < end; ++row)
      chunk->tids[row] = static_cast<int64_t>(block | chunk->numbers[row]);
  }
}

template <class Chunk>
ColumnView HeapColumns::system_view(const Chunk& chunk, AttrNumber attnum) {
  ColumnView column;
  column.is_register = true;
  column.length = chunk.rows;
  column.values = attnum == TableOidAttributeNumber ? chunk.table_oids.data() : chunk.tids.data();
  return column;
}

BatchView HeapColumns::view(CachedChunk* chunk) const {
  BatchView view;
  view.rows = chunk->rows;
  const auto rows = static_cast<size_t>(chunk->rows + kPadding);
  if (wants(TableOidAttributeNumber)) chunk->table_oids.assign(rows, table_oid_);
  if (wants(SelfItemPointerAttributeNumber)) {
    chunk->tids.resize(rows);
    format::heap::RowPlaces::write_tids(chunk->group.places, chunk->begin, chunk->tids.data());
  }
  size_t i = 0;  // index in the group's columns
  for (const AttrNumber attnum : attnums_)
    view.columns.push_back(attnum < 0 ? system_view(*chunk, attnum) : chunk->group.columns[i++]);
  if (are_stored()) view.origin = chunk->group.origin;  // names only the columns of the cache
  return view;
}

BatchView HeapColumns::view(const PageChunk& chunk) const {
  BatchView view;
  view.rows = chunk.rows;
  size_t i = 0;  // index in chunk.out
  for (const AttrNumber attnum : attnums_) {
    if (attnum < 0) {
      view.columns.push_back(system_view(chunk, attnum));
      continue;
    }
    ColumnView column;
    column.is_register = true;
    column.length = chunk.rows;
    const format::heap::ColumnOut& out = chunk.out[i];
    column.values = out.values;
    column.flags = out.has_flags ? out.flags : nullptr;
    column.has_packed = out.has_packed;
    column.is_stored_numeric = decoder_->wanted()[i].storage == Storage::kNumeric;
    column.scale = numeric_scales_[i++];
    view.columns.push_back(column);
  }
  return view;
}

}  // namespace strom::pg::table
