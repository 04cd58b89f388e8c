#include "pg/source/row_source.hpp"

#include <cstring>
#include <numeric>

#include "columnar/text.hpp"
#include "engine/block/hash.hpp"
#include "engine/block/tile.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/codec/numeric.hpp"
#include "pg/files/explain.hpp"
#include "pg/guc/guc.hpp"
#include "pg/source/explain_counts.hpp"

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

ArrowRows::ArrowRows(std::shared_ptr<const files::Source> source)
    : source_(std::move(source)), chosen_(source_->chunks().size()), rows_(source_->total_rows()) {
  std::iota(chosen_.begin(), chosen_.end(), 0);
}

uint64_t ArrowRows::place(int64_t index) const {
  const files::Chunk& chunk = batch_of(index);
  const base::FileIdentity& file = source_->files()[static_cast<size_t>(chunk.file)]->identity();
  return engine::block::combine(engine::block::combine(file.device, file.inode), static_cast<uint64_t>(chunk.batch));
}

// Small ones take no longer than waking a thread.
int64_t ArrowRows::loadable_columns(int64_t index) const {
  constexpr int64_t kLeastRows = 1 << 14;
  const auto columns = static_cast<int64_t>(source_->columns().size());
  if (columns < 2 || batch_of(index).rows < kLeastRows || !source_->is_compressed(place_of(index))) return 0;
  std::lock_guard lock(mutex_);
  loaded_[index].assign(static_cast<size_t>(columns), std::nullopt);
  return columns;
}

void ArrowRows::load_column(int64_t index, int64_t column) const {
  files::LoadedColumns* columns;
  {
    std::lock_guard lock(mutex_);
    columns = &loaded_[index];
  }
  const auto number = static_cast<size_t>(column);
  (*columns)[number] = source_->load_column(place_of(index), number, decompressed_.get());
}

Result<columnar::BatchView> ArrowRows::chunk(int64_t index) const {
  files::LoadedColumns columns;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = loaded_.find(index); found != loaded_.end()) {
      columns = std::move(found->second);
      loaded_.erase(found);
    }
  }
  return source_->batch(place_of(index), decompressed_.get(), columns.empty() ? nullptr : &columns);
}

void ArrowRows::close() {
  loaded_.clear();  // where a run ended early
  if (decompressed_ == nullptr) return;
  decompressed_->close();
  const DecompressedColumns::Counts run = decompressed_->counts();
  counts_.kept += run.kept;
  counts_.decompressed += run.decompressed;
  decompressed_.reset();
}

void ArrowRows::restrict_to(files::BatchFilter& filter) {
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

std::string ArrowRows::storage() const {
  return source_->files().empty() ? std::string() : source_->files().front()->path();
}

void ArrowRows::tell_extent(Extent* extent) const {
  if (extent->chunks == 0) return;
  extent->bytes = source_->file_bytes();
  extent->bytes_done =
      static_cast<int64_t>(static_cast<double>(extent->bytes) * static_cast<double>(extent->chunks_done) /
                           static_cast<double>(extent->chunks));
}

void ArrowRows::explain_runs(ExplainState* es) const {
  explain_cached(es, "Columns", counts_.kept, "Decompressed", counts_.decompressed);
}

void ArrowRows::explain_table(ExplainState* es) const { files::explain_source(*source_, es); }

std::string ArrowRows::describe(int64_t index) const {
  const files::Chunk& chunk = batch_of(index);
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
  const files::Source& table = *source_;
  for (size_t i = 0; i < types.size(); ++i) {
    const files::SourceColumn& column = table.columns()[i];
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

CollectedRows::CollectedRows(std::vector<engine::plan::ValueType> types, bool is_set)
    : types_(std::move(types)), is_set_(is_set) {
  for (const auto& type : types_) fields_.push_back(field_of(type));
}

bool CollectedRows::is_numeric(size_t column) const {
  return types_[column].type == TypeId::kNumeric || types_[column].type == TypeId::kDecimal;
}

// Of a set the display scale does not matter, so that all values have a place that are equal to one which has.
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

// False when the row is to be left out.
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
      return;  // the first column of a set is the only one
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
