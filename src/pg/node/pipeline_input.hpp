// The table that a pipeline reads, or the partitions or inheritance children whose rows are its own: which parts of it
// are read, and how they are opened. Used by SourceSet and EXPLAIN. C++ code: throws StatusError and PostgresError.
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
  /// Of a pipeline whose rows are a PostgreSQL plan's nothing is to be asked but rows().
  PipelineInput(CustomScanState* state, const PlanSpec& plan, size_t pipeline);
  PipelineInput(const PipelineInput&) = delete;
  PipelineInput& operator=(const PipelineInput&) = delete;

  /// Opens the table unless it is open.
  source::RowSource* open();
  /// nullptr: not opened yet.
  source::RowSource* rows() const { return rows_.get(); }
  /// Chooses what is read with the parameters of now, and begins a run over it.
  void begin_run();
  /// `keep_children`: for each child plan, what it has told is still right.
  void restart(const std::vector<bool>& keep_children);

  /// A file or folder on the storage of each part; "" where none is read.
  std::vector<std::string> storages() const;
  /// Nobody has checked whether texts of what was opened are valid.
  bool may_have_invalid_text() const { return may_have_invalid_text_; }
  /// True when the table has less than so many bytes; false where that is not known.
  bool is_smaller_than(int64_t bytes);

  /// Of one table what EXPLAIN has lines about without running it. Opens it. nullptr: nothing.
  const source::RowSource* explained_table();
  /// nullptr when the rows are not those of partitions or inheritance children.
  const Partitions* partitions() const { return partitions_.get(); }

  /// What statistics of chunks leave out.
  struct Pruning {
    std::vector<const Node*> clauses;           // conditions that they are asked about
    std::vector<engine::plan::KeyColumn> keys;  // of joins, likewise; of the probing pipeline only
  };
  /// None when statistics of chunks are not asked. Opens a table that is not open.
  std::optional<Pruning> pruning();
  /// Record batches over all runs.
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
  std::unique_ptr<pruning::ChunkFilter> chunk_filter_;  // nullptr: statistics of chunks are not asked
  std::unique_ptr<source::RowSource> rows_;
  bool blocks_selected_ = false;  // by the child plan that tells what to read
  bool may_have_invalid_text_ = false;
  BatchCounts batch_counts_;
};

}  // namespace strom::pg::node
