// The table that a pipeline reads, or the partitions or inheritance children whose rows it reads. Decides which parts
// are read and how they are opened. Used by SourceSet and EXPLAIN. C++ code: throws StatusError and PostgresError.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/pruning/chunk_filter.hpp"
#include "pg/node/partitions.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/source/row_source.hpp"
#include "pg/table/planned_table.hpp"

namespace strom::pg::node {

class PipelineInput {
 public:
  /// If the pipeline's rows come from a PostgreSQL plan, only rows() may be called.
  PipelineInput(CustomScanState* state, const PlanSpec& plan, size_t pipeline);
  PipelineInput(const PipelineInput&) = delete;
  PipelineInput& operator=(const PipelineInput&) = delete;

  /// Opens the table unless it is already open.
  source::RowSource* open();
  /// nullptr: not opened yet.
  source::RowSource* rows() const { return rows_.get(); }
  /// Chooses what to read by the current parameters, and begins a run over it.
  void begin_run();
  /// `keep_children`: for each child plan whether what it has selected is still valid.
  void restart(const std::vector<bool>& keep_children);

  /// A file or folder on the storage of each part; "" for a part that is read from none.
  std::vector<std::string> storages() const;
  /// True if texts of opened tables have not been checked for validity.
  bool may_have_invalid_text() const { return may_have_invalid_text_; }
  /// True when the table has fewer than `bytes` bytes; false if that is unknown.
  bool is_smaller_than(int64_t bytes);

  /// The table, opened, if EXPLAIN has lines about it without a run; else nullptr.
  const source::RowSource* explained_table();
  /// nullptr when the rows are not those of partitions or inheritance children.
  const Partitions* partitions() const { return partitions_.get(); }

  /// How statistics of chunks are used for pruning.
  struct Pruning {
    std::vector<const Node*> clauses;           // conditions that statistics can decide
    std::vector<engine::plan::KeyColumn> keys;  // keys of joins that they can decide; only for the probing pipeline
  };
  /// nullopt when statistics of chunks are not used. Opens the table if necessary.
  std::optional<Pruning> pruning();
  /// Numbers of record batches over all runs.
  struct BatchCounts {
    int64_t chosen = 0, skipped = 0;
  };
  const BatchCounts& batch_counts() const { return batch_counts_; }

 private:
  bool is_one_table() const { return spec_.relid != 0 && spec_.leaves.empty(); }
  void make_chunk_filter();
  void restrict_batches();
  void select_blocks();
  std::unique_ptr<source::RowSource> open_table(Index relid, table::KindNumber kind, const std::vector<int>& positions);

  CustomScanState* state_;
  const PlanSpec& plan_;
  const size_t pipeline_;
  const PipelineSpec& spec_;
  std::unique_ptr<Partitions> partitions_;
  std::unique_ptr<pruning::ChunkFilter> chunk_filter_;  // nullptr: statistics of chunks are not used
  std::unique_ptr<source::RowSource> rows_;
  bool blocks_selected_ = false;  // by the child plan that selects what to read
  bool may_have_invalid_text_ = false;
  BatchCounts batch_counts_;
};

}  // namespace strom::pg::node
