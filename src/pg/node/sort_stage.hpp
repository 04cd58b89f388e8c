// Brings a node's rows in order: the engine's sorted batches are merged, or, when there are fallback rows or too many
// batches for memory, PostgreSQL sorts all rows. Used by QueryRun. C++ code: throws StatusError and PostgresError.
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

  /// The rows are all there; next() may be called.
  bool is_done() const { return engine_ != nullptr || host_ != nullptr; }
  /// Before the first add(); batches beyond `limit` bytes are PostgreSQL's.
  void begin(int64_t limit);
  /// The next batch, or nullptr at the end, and the fallback rows that have come with it.
  void add(ResultCursor::Batch batch, FallbackRows* fallback);
  /// All rows have come.
  void finish();
  /// The next row in order becomes the current one; false when there is none.
  bool next() { return is_by_host() ? host_->next() : engine_->next(); }

  /// The current row is for fill(); else it is that of batch().
  bool is_by_host() const { return host_ != nullptr; }
  /// May ereport.
  void fill(TupleTableSlot* slot) const { host_->fill(slot); }
  const ResultCursor::Batch& batch() const { return engine_->batch(); }
  int64_t row() const { return engine_->row(); }

  /// Frees the batches.
  void drop_batches() { engine_.reset(); }
  /// Frees everything; not after an error, which frees what PostgreSQL's sort takes.
  void end();

  /// How the rows came in order; nullptr when they did not, or not yet.
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
  std::unique_ptr<HostSort> host_;  // instead of it
  const char* sorted_by_ = nullptr;
};

}  // namespace strom::pg::node
