// Record batches of an Arrow foreign table for the engine. Used by table/arrow/arrow_kind.cpp.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "pg/files/source.hpp"
#include "pg/source/row_source.hpp"
#include "pg/table/arrow/decompressed_columns.hpp"

namespace strom::pg::table {

class ArrowRows : public source::DecodedRows {
 public:
  explicit ArrowRows(std::shared_ptr<const files::Source> source);

  int64_t chunk_count() const override { return static_cast<int64_t>(chosen_.size()); }
  int64_t total_rows() const override { return rows_; }
  Result<columnar::BatchView> chunk(int64_t index) const override;
  int64_t loadable_columns(int64_t index) const override;
  void load_column(int64_t index, int64_t column) const override;
  int64_t chunk_rows(int64_t index) const override { return batch_of(index).rows; }
  bool stable_text() const override {
    return !source_->is_compressed() && source_->holds_files() && !source_->makes_values();
  }
  std::string describe(int64_t index) const override;
  uint64_t cache_key(int64_t index) const override;
  bool has_bounds(uint32_t column) const override;
  bool may_hold(int64_t index, uint32_t column, const engine::op::KeyRange& keys) const override;
  columnar::RowsOrigin origin(const std::vector<uint32_t>& columns) const override {
    return source_->origin(chosen_, columns);
  }
  void restrict_to(pruning::ChunkFilter& filter) override;
  int64_t skipped_chunks() const override {
    return static_cast<int64_t>(source_->chunks().size()) - static_cast<int64_t>(chosen_.size());
  }
  std::vector<const pruning::ChunkStatistics*> statistics() const override { return {source_.get()}; }
  void require_types(const std::vector<engine::plan::ValueType>& types) const override;
  Status unchanged() const override { return source_->all_unchanged(); }
  std::string storage() const override;
  int64_t stored_bytes() const override { return source_->file_bytes(); }
  bool may_have_invalid_text() const override { return true; }
  void tell_extent(Extent* extent) const override;
  void explain_runs(ExplainState* es) const override;
  void explain_table(ExplainState* es) const override;
  void begin_run() override { decompressed_ = DecompressedColumns::open(*source_, chosen_); }
  void close() override;

 private:
  std::span<const codec::Decoder> decoders(int64_t chunk) override;
  int64_t place_of(int64_t index) const { return chosen_[static_cast<size_t>(index)]; }
  const files::Chunk& batch_of(int64_t index) const { return source_->chunks()[static_cast<size_t>(place_of(index))]; }

  std::shared_ptr<const files::Source> source_;
  std::unique_ptr<DecompressedColumns> decompressed_;
  DecompressedColumns::Counts counts_;  // of earlier runs
  mutable std::mutex mutex_;
  mutable std::map<int64_t, files::LoadedColumns> loaded_;  // of chunks being loaded
  std::vector<int64_t> chosen_;                             // chunks of source_
  int64_t rows_ = 0;                                        // in the chosen chunks
  std::vector<codec::Decoder> decoders_;
  std::vector<codec::RowSite> places_;
  columnar::BatchView decoded_;
  int64_t decoded_chunk_ = -1;
};

}  // namespace strom::pg::table
