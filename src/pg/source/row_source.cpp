#include "pg/source/row_source.hpp"

#include <numeric>

#include "engine/block/hash.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/guc.hpp"

namespace strom::pg::source {

using columnar::Layout;
using registry::TypeId;

namespace {

constexpr int64_t kRowsInBatch = 64 * 1024;

// Dates and timestamps lie there as PostgreSQL has them, so that the infinite ones can be held.
columnar::Field field_of(const engine::plan::ValueType& type) {
  columnar::Field field = codec::field_for(type.type, type.scale, "");
  if (type.type == TypeId::kDate) field.layout = Layout::kInt32;
  if (type.type == TypeId::kTimestamp || type.type == TypeId::kTimestampTz) field.layout = Layout::kInt64;
  return field;
}

}  // namespace

void DecodedRows::read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) {
  const std::span<const codec::Decoder> columns = decoders(chunk);
  boundary::guard([&] {
    MemoryContext caller = MemoryContextSwitchTo(memory);
    for (size_t i = 0; i < columns.size(); ++i) values[i] = codec::decode(columns[i], row, &nulls[i]);
    MemoryContextSwitchTo(caller);
  });
}

ArrowRows::ArrowRows(std::shared_ptr<const fdw_arrow::Source> source)
    : source_(std::move(source)), chosen_(source_->chunks().size()), rows_(source_->total_rows()) {
  std::iota(chosen_.begin(), chosen_.end(), 0);
}

uint64_t ArrowRows::place(int64_t index) const {
  const fdw_arrow::Chunk& chunk = batch_of(index);
  const base::FileIdentity& file = source_->files()[static_cast<size_t>(chunk.file)]->identity();
  return engine::block::combine(engine::block::combine(file.device, file.inode), static_cast<uint64_t>(chunk.batch));
}

void ArrowRows::close() {
  if (decompressed_ == nullptr) return;
  decompressed_->close();
  const DecompressedColumns::Counts run = decompressed_->counts();
  counts_.kept += run.kept;
  counts_.decompressed += run.decompressed;
  decompressed_.reset();
}

void ArrowRows::restrict_to(fdw_arrow::BatchFilter& filter) {
  decoded_chunk_ = -1;
  chosen_.clear();
  rows_ = 0;
  const bool useful = !filter.useful_clauses(*source_).empty();
  for (size_t i = 0; i < source_->chunks().size(); ++i) {
    if (useful && !filter.may_match(*source_, static_cast<int64_t>(i))) continue;
    if (useful) boundary::check_for_interrupts();
    chosen_.push_back(static_cast<int64_t>(i));
    rows_ += source_->chunks()[i].rows;
  }
}

std::string ArrowRows::describe(int64_t index) const {
  const fdw_arrow::Chunk& chunk = batch_of(index);
  return "record batch " + std::to_string(chunk.batch) + " of file \"" +
         source_->files()[static_cast<size_t>(chunk.file)]->path() + "\"";
}

bool ArrowRows::has_bounds(uint32_t column) const {
  if (!guc::arrow_fdw::stats_hint_enabled) return false;
  const auto known = source_->has_bounds(static_cast<int>(column));
  return known.is_ok() && known.value();
}

bool ArrowRows::may_hold(int64_t index, uint32_t column, const engine::exec::KeyRange& keys) const {
  const auto nulls = source_->null_count(place_of(index), static_cast<int>(column));
  if (nulls.is_ok() && nulls.value() == batch_of(index).rows) return false;
  const auto bounds = source_->bounds(place_of(index), static_cast<int>(column));
  int64_t low, high;
  if (!bounds.is_ok() || !bounds.value().has_value()) return true;
  const columnar::Field& field = source_->field(batch_of(index).file, static_cast<int>(column));
  return !engine::exec::register_bounds(field, *bounds.value(), &low, &high) || keys.overlaps(low, high);
}

// A file may have been replaced by one of another layout since the plan was made.
void ArrowRows::require_types(const std::vector<engine::plan::ValueType>& types) const {
  const fdw_arrow::Source& table = *source_;
  for (size_t i = 0; i < types.size(); ++i) {
    const fdw_arrow::SourceColumn& column = table.columns()[i];
    const bool is_numeric = types[i].type == TypeId::kNumeric && !table.files().empty();
    const bool same_scale = !is_numeric || table.field(0, static_cast<int>(i)).scale == types[i].scale;
    if (column.engine_readable && same_scale) continue;
    throw boundary::StatusError(
        Status(ErrorCode::kTypeMismatch,
               "files of foreign table \"" + table.table_name() + "\" have changed their layout")
            .with_detail("Column \"" + column.name + "\" is stored differently from when the query was planned."));
  }
}

std::span<const codec::Decoder> ArrowRows::decoders(int64_t chunk) {
  if (chunk == decoded_chunk_) return decoders_;
  const auto& columns = source_->columns();
  decoded_chunk_ = -1;
  decoded_ = {};
  decoded_ = boundary::value_or_throw(source_->batch(place_of(chunk)));
  decoders_.clear();
  places_.resize(columns.size());
  for (size_t i = 0; i < columns.size(); ++i)
    decoders_.push_back(source_->decoder(place_of(chunk), static_cast<int>(i), decoded_, &places_[i]));
  decoded_chunk_ = chunk;
  return decoders_;
}

CollectedRows::CollectedRows(std::vector<engine::plan::ValueType> types, std::vector<bool> is_key)
    : types_(std::move(types)), is_key_(std::move(is_key)) {
  for (const auto& type : types_) fields_.push_back(field_of(type));
}

bool CollectedRows::holds(size_t column, Datum value, bool is_null) const {
  const engine::plan::ValueType type = types_[column];
  if (is_null || (type.type != TypeId::kNumeric && type.type != TypeId::kDecimal)) return true;
  std::string bytes;
  return codec::register_bytes(type.type, type.scale, value, &bytes) == codec::Encoded::kDone;
}

void CollectedRows::append(size_t column, Datum value, bool is_null) {
  columnar::ColumnBuilder& builder = batches_.back()[column];
  if (is_null)
    builder.append_null();
  else if (fields_[column].layout == Layout::kInt32 && types_[column].type == TypeId::kDate)
    builder.append_value(static_cast<int32_t>(DatumGetDateADT(value)));
  else if (types_[column].type == TypeId::kTimestamp || types_[column].type == TypeId::kTimestampTz)
    builder.append_value(static_cast<int64_t>(DatumGetTimestamp(value)));
  else
    codec::append(builder, types_[column].type, value, false);
}

void CollectedRows::add(const Datum* values, const bool* nulls) {
  for (size_t i = 0; i < types_.size(); ++i) {
    if (holds(i, values[i], nulls[i])) continue;
    if (!is_key_[i])
      throw boundary::StatusError(
          Status(ErrorCode::kUnsupported, "numeric value of an inner relation has no place in the engine")
              .with_hint("Set pg_strom.enable_gpujoin to off for this query."));
    ++dropped_;
    return;
  }
  if (batches_.empty() || batch_rows_.back() == kRowsInBatch) {
    batches_.emplace_back();
    batch_rows_.push_back(0);
    for (const auto& field : fields_) batches_.back().emplace_back(field);
  }
  for (size_t i = 0; i < types_.size(); ++i) append(i, values[i], nulls[i]);
  ++batch_rows_.back();
  ++rows_;
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
  return columnar::BatchView{batch_rows_[static_cast<size_t>(index)], views(index)};
}

std::span<const codec::Decoder> CollectedRows::decoders(int64_t chunk) {
  decoders_.clear();
  const std::vector<columnar::ColumnView> columns = views(chunk);
  for (size_t i = 0; i < types_.size(); ++i) {
    const registry::TypeInfo& info = registry::type_info(types_[i].type);
    decoders_.push_back(codec::make_decoder(fields_[i], {info.pg_oid, -1}));
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
