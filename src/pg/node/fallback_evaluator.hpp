// Evaluates fallback rows with PostgreSQL's own expressions in PostgreSQL's order. Used by QueryRun.
// C++ code: throws PostgresError (also the query's own errors) and StatusError.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/exec/execution.hpp"
#include "pg/node/fallback_reason.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/source/row_source.hpp"

namespace strom::pg::node {

class FallbackEvaluator {
 public:
  /// Compiles the expressions; they live as long as the executor state.
  FallbackEvaluator(CustomScanState* state, const PlanSpec& plan);

  /// Sets the sources of rows, one for each pipeline. Drops queued rows.
  void bind(std::vector<source::RowSource*> sources);

  /// Counts the reasons of all later rows in `reasons`, which outlives this object.
  void count_reasons(FallbackReasons* reasons) { reasons_ = reasons; }

  /// Evaluates a row of the last pipeline, and queues its results for pop().
  void decide(const engine::op::FallbackRow& row, engine::exec::Execution& execution);

  /// Prepares for a new table of `join`.
  void begin_build(uint32_t join);
  /// Evaluates a row of a build pipeline, and adds it to the join table if it passes the filters. A key that the engine
  /// cannot represent equals no key of another row that it can represent. So the table stores it as NULL, where no
  /// look-up finds it, and this object stores the row as well.
  void decide_build(const engine::op::FallbackRow& row, uint32_t join, engine::exec::Execution& execution);

  /// Makes the oldest queued row the current one. False when there is none; the queue's memory is then released.
  bool pop();
  bool has_rows() const { return !queue_.empty(); }
  /// Values of the current row, one for each output. Does not throw.
  const Datum* values() const { return current_.values; }
  const bool* nulls() const { return current_.nulls; }

 private:
  struct Value {
    Datum datum;
    bool is_null;
  };
  /// A build row with values that the engine cannot represent. They live in the executor's memory.
  struct OddRow {
    int64_t build_row = -1;    // in the table
    bool has_odd_key = false;  // the join table's look-up does not find it
    std::vector<Value> keys, payload;
  };
  /// The odd rows of one join.
  struct OddRows {
    std::vector<OddRow> rows;
    std::unordered_map<int64_t, size_t> by_build_row;
    std::unordered_multimap<uint32_t, size_t> by_key;  // rows with an odd key, by hash_of()
    MemoryContext memory = nullptr;                    // for their values
  };
  struct Row {
    Datum* values = nullptr;
    bool* nulls = nullptr;
  };
  void load_source(size_t pipeline, const engine::op::FallbackRow& row);
  bool passes(ExprState* filters);
  Value evaluate(ExprState* expr);
  static Value copied(Value value, const Node* expr, MemoryContext memory);
  engine::plan::Constant key(ExprState* expr, const engine::plan::ValueType& type, bool* held);
  void keep_odd_row(uint32_t join, int64_t build_row, bool has_odd_key);
  void find_odd_candidates(size_t depth, std::vector<int64_t>* candidates);
  bool keys_equal(size_t depth, size_t key, const Value& outer, const Value& inner);
  static uint32_t hash_of(const std::vector<Value>& keys, const std::vector<ExprState*>& exprs);
  struct Keys {
    std::vector<engine::plan::Constant> values;
    bool held = true, has_null = false;
  };
  Keys outer_key_values(size_t depth);
  bool is_in_pass(size_t depth, const engine::exec::Execution& execution);
  void join(size_t depth, const engine::op::FallbackRow& row, engine::exec::Execution& execution);
  bool find_candidates(size_t depth, const engine::exec::Execution& execution, std::vector<int64_t>* candidates);
  void load_payload(size_t join, int64_t row, const engine::exec::Execution& execution);
  void clear_payload(size_t join);
  void begin_row();
  void queue_value(Value value, size_t i, Row* row);
  void emit();

  const PlanSpec& plan_;
  std::vector<source::RowSource*> sources_;
  ExprContext* context_;        // its per-tuple memory belongs to the current row
  MemoryContext queue_memory_;  // for queued rows
  TupleTableSlot* slot_;
  std::vector<ExprState*> filters_;        // for each pipeline; nullptr = none
  std::vector<ExprState*> match_filters_;  // for each join; nullptr = none
  ExprState* join_filters_;
  std::vector<std::vector<ExprState*>> outer_keys_, inner_keys_;
  std::vector<OddRows> odd_rows_;  // for each join
  std::vector<ExprState*> group_keys_;
  struct Aggregate {
    ExprState *argument, *second, *filter;  // nullptr = none
  };
  std::vector<Aggregate> aggregates_;
  std::vector<Datum> values_read_;  // of one row of a source
  std::unique_ptr<bool[]> nulls_read_;
  FallbackReasons* reasons_ = nullptr;  // nullptr: nobody asked for reasons
  std::deque<Row> queue_;
  Row current_;
};

}  // namespace strom::pg::node
