// Puts rows of the engine's results into a node's slot. Values get their storage from the current memory context. Used
// by QueryRun. May ereport, does not throw.
#pragma once

#include "engine/exec/execution.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/node/source_set.hpp"

namespace strom::pg::node {

class OutputWriter {
 public:
  OutputWriter(const PlanSpec& plan, SourceSet& sources) : plan_(plan), sources_(sources) {}

  /// Puts a row, or a group with the transition states of its aggregates, into the slot.
  void put_row(TupleTableSlot* slot, const engine::op::ResultBatch& batch, int64_t row) const;
  /// Puts a group with the results of its aggregates into the slot. `averages` tells for each output whether it is an
  /// average.
  void put_group(TupleTableSlot* slot, const engine::op::ResultBatch& batch, int64_t row, const bool* averages) const;
  /// Puts the group of no rows into the slot.
  void put_empty_group(TupleTableSlot* slot) const;
  /// Makes the group in `slot` one of grouping set `set`.
  void apply_grouping_set(TupleTableSlot* slot, size_t set) const;
  /// Sets attributes that are not outputs to NULL.
  void clear_others(TupleTableSlot* slot) const;

  /// True when the results of all aggregates can be computed, and equal keys are the same.
  bool has_final_groups() const;

 private:
  void put_column(TupleTableSlot* slot, size_t output, const engine::op::ResultColumn& column, int64_t row) const;

  const PlanSpec& plan_;
  SourceSet& sources_;
};

}  // namespace strom::pg::node
