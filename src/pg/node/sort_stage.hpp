// Sorts a node's rows. The engine's sorted batches are merged. If there are fallback rows, or if batches exceed the
// memory, PostgreSQL sorts all rows. Used by QueryRun. C++ code: throws StatusError and PostgresError.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/op/sort/sorted_rows.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/node/fallback_rows.hpp"
#include "pg/node/host_sort.hpp"
#include "pg/node/output_writer.hpp"
#include "pg/node/result_cursor.hpp"

namespace strom::pg::node {

class SortStage {
 public:
  SortStage(CustomScanState* state, const PlanSpec& plan, const OutputWriter& writer)
      : state_(state), plan_(plan), writer_(writer) {}

  /// True after finish(): next() may be called.
  bool is_done() const { return engine_ != nullptr || host_ != nullptr; }
  /// Called before the first add(). If batches exceed `limit` bytes, PostgreSQL sorts.
  void begin(int64_t limit);
  /// Adds the next batch, or nullptr at the end, and the fallback rows that came with it.
  void add(ResultCursor::Batch batch, FallbackRows* fallback);
  /// Called when all rows have been added.
  void finish();
  /// Makes the next row in order the current one; false at the end.
  bool next() { return is_by_host() ? host_->next() : engine_->next(); }

  /// True if fill() returns the current row; else it is in batch().
  bool is_by_host() const { return host_ != nullptr; }
  /// May ereport.
  void fill(TupleTableSlot* slot) const { host_->fill(slot); }
  const ResultCursor::Batch& batch() const { return engine_->batch(); }
  int64_t row() const { return engine_->row(); }

  /// Frees the batches.
  void drop_batches() { engine_.reset(); }
  /// Frees everything. Not to be called after an error, which frees the memory of PostgreSQL's sort.
  void end();

  /// How the rows were sorted; nullptr when they were not, or not yet.
  const char* sorted_by() const { return sorted_by_; }

 private:
  template <class Fill>
  void put_row(Fill fill);
  void put_batch(const engine::op::ResultBatch& batch);
  void begin_host_sort();

  CustomScanState* state_;
  const PlanSpec& plan_;
  const OutputWriter& writer_;
  int64_t limit_ = 0;
  std::unique_ptr<engine::op::SortedRows> engine_;
  std::unique_ptr<HostSort> host_;  // instead of engine_
  const char* sorted_by_ = nullptr;
};

}  // namespace strom::pg::node
