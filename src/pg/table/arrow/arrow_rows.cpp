#include "pg/table/arrow/arrow_rows.hpp"

#include <numeric>

#include "engine/block/hash.hpp"
#include "engine/op/scan/key_range.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/explain/lines.hpp"
#include "pg/files/explain.hpp"
#include "pg/guc/guc.hpp"
#include "pg/pruning/chunk_filter.hpp"

namespace strom::pg::table {

ArrowRows::ArrowRows(std::shared_ptr<const files::Source> source)
    : source_(std::move(source)), chosen_(source_->chunks().size()), rows_(source_->total_rows()) {
  std::iota(chosen_.begin(), chosen_.end(), 0);
}

uint64_t ArrowRows::cache_key(int64_t index) const {
  const files::Chunk& chunk = batch_of(index);
  const base::FileIdentity& file = source_->files()[static_cast<size_t>(chunk.file)]->identity();
  return engine::block::combine(engine::block::combine(file.device, file.inode), static_cast<uint64_t>(chunk.batch));
}

// Small columns take no longer than waking a thread, so they are not loaded in parallel.
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
  return source_->engine_batch(place_of(index), decompressed_.get(), columns.empty() ? nullptr : &columns);
}

void ArrowRows::close() {
  loaded_.clear();  // a run may have ended early
  if (decompressed_ == nullptr) return;
  decompressed_->close();
  const DecompressedColumns::Counts run = decompressed_->counts();
  counts_.cached += run.cached;
  counts_.decompressed += run.decompressed;
  counts_.filled += run.filled;
  decompressed_.reset();
}

void ArrowRows::restrict_to(pruning::ChunkFilter& filter) {
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
  explain::explain_cached(es, "Columns", counts_.cached, "Decompressed", counts_.decompressed, counts_.filled);
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

bool ArrowRows::may_hold(int64_t index, uint32_t column, const engine::op::KeyRange& keys) const {
  const auto nulls = source_->null_count(place_of(index), static_cast<int>(column));
  if (nulls.is_ok() && nulls.value() == batch_of(index).rows) return false;
  const auto bounds = source_->bounds(place_of(index), static_cast<int>(column));
  int64_t low, high;
  if (!bounds.is_ok() || !bounds.value().has_value()) return true;
  const columnar::Field& field = source_->field(batch_of(index).file, static_cast<int>(column));
  return !engine::op::register_bounds(field, *bounds.value(), &low, &high) || keys.overlaps(low, high);
}

// Since planning, a file may have been replaced by one with another layout.
void ArrowRows::require_types(const std::vector<engine::plan::ValueType>& types) const {
  const files::Source& table = *source_;
  for (size_t i = 0; i < types.size(); ++i) {
    const files::SourceColumn& column = table.columns()[i];
    const bool is_numeric = types[i].type == registry::TypeId::kNumeric && !table.files().empty();
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

}  // namespace strom::pg::table
