#include "pg/source/collected_rows.hpp"

#include <cstring>

#include "columnar/text.hpp"
#include "engine/block/tile.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/codec/numeric.hpp"

namespace strom::pg::source {

using columnar::Layout;
using registry::TypeId;

namespace {

constexpr int64_t kRowsInBatch = 64 * 1024;

// Dates and timestamps stay in PostgreSQL's form, which can represent infinite ones.
columnar::Field field_of(const engine::plan::ValueType& type) {
  columnar::Field field = codec::field_for(type.type, type.scale, "");
  if (type.type == TypeId::kDate) field.layout = Layout::kInt32;
  if (type.type == TypeId::kTimestamp || type.type == TypeId::kTimestampTz) field.layout = Layout::kInt64;
  return field;
}

}  // namespace

CollectedRows::CollectedRows(std::vector<engine::plan::ValueType> types, bool is_set)
    : types_(std::move(types)), is_set_(is_set) {
  for (const auto& type : types_) fields_.push_back(field_of(type));
}

bool CollectedRows::is_numeric(size_t column) const {
  return types_[column].type == TypeId::kNumeric || types_[column].type == TypeId::kDecimal;
}

// A set ignores the display scale, so values are stored in their shortest form, which more values have.
bool CollectedRows::hold(size_t column, Datum value, __int128* held) const {
  const bool is_decimal = types_[column].type == TypeId::kDecimal;
  const int scale = types_[column].scale;
  const bool is_set = is_set_;
  return boundary::guard([=] {
    if (is_decimal)
      return is_set ? codec::numeric_to_shortest_decimal(value, held) : codec::numeric_to_decimal(value, held);
    return codec::numeric_to_int128(value, scale, held);
  });
}

// False when the row has to be left out.
bool CollectedRows::append_numeric(size_t column, Datum value, UnheldValues* unheld) {
  __int128 held = 0;
  if (!hold(column, value, &held)) {
    if (is_set_) return false;
    auto* original = reinterpret_cast<struct varlena*>(DatumGetPointer(value));
    struct varlena* plain = boundary::guard([original] { return pg_detoast_datum(original); });
    unheld->emplace_back(column, std::string(reinterpret_cast<const char*>(plain), VARSIZE(plain)));
    if (plain != original) pfree(plain);
  }
  batches_.back()[column].append(held);
  return true;
}

void CollectedRows::append(size_t column, Datum value) {
  columnar::ColumnBuilder& builder = batches_.back()[column];
  if (fields_[column].layout == Layout::kInt32 && types_[column].type == TypeId::kDate)
    builder.append(static_cast<int32_t>(DatumGetDateADT(value)));
  else if (types_[column].type == TypeId::kTimestamp || types_[column].type == TypeId::kTimestampTz)
    builder.append(static_cast<int64_t>(DatumGetTimestamp(value)));
  else
    codec::append(builder, types_[column].type, value, false);
}

void CollectedRows::add(const Datum* values, const bool* nulls) {
  if (batches_.empty() || batch_rows_.back() == kRowsInBatch) {
    batches_.emplace_back();
    batch_rows_.push_back(0);
    for (const auto& field : fields_) batches_.back().emplace_back(field);
  }
  UnheldValues unheld;
  for (size_t i = 0; i < types_.size(); ++i) {
    if (nulls[i])
      batches_.back()[i].append_null();
    else if (!is_numeric(i))
      append(i, values[i]);
    else if (!append_numeric(i, values[i], &unheld))
      return;  // a set has only one column
  }
  if (!unheld.empty()) unheld_.emplace(std::pair(chunk_count() - 1, batch_rows_.back()), std::move(unheld));
  ++batch_rows_.back();
  ++rows_;
}

void CollectedRows::finish() {
  spilled_.map();
  for (const auto& [place, values] : unheld_) mark_unheld(place.first, place.second, values);
}

void CollectedRows::mark_unheld(int64_t chunk, int64_t row, const UnheldValues& values) {
  for (const auto& value : values) {
    std::vector<uint8_t>& flags = flags_[{chunk, value.first}];
    if (flags.empty()) {
      const columnar::ColumnView view = views(chunk)[value.first];
      flags.resize(static_cast<size_t>(view.length));
      for (int64_t i = 0; i < view.length; ++i)
        flags[static_cast<size_t>(i)] = columnar::is_valid(view, i) ? 0 : engine::block::kNullFlag;
    }
    flags[static_cast<size_t>(row)] = engine::block::kErrorFlag;
  }
}

void CollectedRows::read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) {
  DecodedRows::read(chunk, row, memory, values, nulls);
  const auto found = unheld_.find({chunk, row});
  if (found == unheld_.end()) return;
  for (const auto& [column, bytes] : found->second) {
    void* copy = boundary::guard([&] { return MemoryContextAlloc(memory, bytes.size()); });
    std::memcpy(copy, bytes.data(), bytes.size());
    values[column] = PointerGetDatum(copy);
  }
}

void CollectedRows::spill() {
  for (const Batch& batch : batches_) {
    std::vector<columnar::ColumnView> columns;
    for (const auto& column : batch) columns.push_back(column.view());
    spilled_.write(columns);
  }
  batches_.clear();
}

std::vector<columnar::ColumnView> CollectedRows::views(int64_t chunk) const {
  const auto index = static_cast<size_t>(chunk);
  if (index < spilled_.batch_count()) return spilled_.columns(index);
  std::vector<columnar::ColumnView> columns;
  for (const auto& column : batches_[index - spilled_.batch_count()]) columns.push_back(column.view());
  return columns;
}

Result<columnar::BatchView> CollectedRows::chunk(int64_t index) const {
  std::vector<columnar::ColumnView> columns = views(index);
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto found = flags_.find({index, i});
    if (found == flags_.end()) continue;
    columns[i].is_register = true;
    columns[i].flags = found->second.data();
  }
  return columnar::BatchView{batch_rows_[static_cast<size_t>(index)], std::move(columns)};
}

std::span<const codec::Decoder> CollectedRows::decoders(int64_t chunk) {
  decoders_.clear();
  const std::vector<columnar::ColumnView> columns = views(chunk);
  for (size_t i = 0; i < types_.size(); ++i) {
    decoders_.push_back(codec::make_decoder(fields_[i], registry::type_info(types_[i].type)));
    decoders_.back().view = columns[i];
  }
  return decoders_;
}

int64_t CollectedRows::memory_bytes() const {
  int64_t bytes = 0;
  for (const Batch& batch : batches_)
    for (const auto& column : batch) bytes += column.memory_bytes();
  return bytes;
}

}  // namespace strom::pg::source
