// Costs of the engine's work in PostgreSQL's units. Used by the path files. All functions may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// The estimated number of rows, of `rows` in random order, that the engine returns for a top-N.
double top_rows_left(const EngineTop* top, double rows);

/// The cost of a heap page whose cost is `each` if it has to be read from a file.
Cost page_cost(const EngineScan* scan, double each);
/// The cost of reading all pages of a table sequentially.
Cost read_cost(const EngineScan* scan, double each);

/// cost_scan() fills in startup and run of a scan without joins. cost_join() does so for `input`, which is `outer` with
/// `join` added.
void cost_scan(EngineInput* input);
/// `pairs`: the number of row pairs for which the join's clauses are evaluated.
void cost_join(EngineInput* input, const EngineInput* outer, const EngineJoin* join, int operations, double pairs);
/// The part of the join's costs for reading the inner side and building its table.
Cost cost_of_build(const EngineJoin* join);

/// How many times the outer side of a join has to be read because pg_strom.work_memory limits the inner side.
double pass_count(const RelOptInfo* inner, engine::plan::SpatialMatch spatial = engine::plan::SpatialMatch::kNone);

/// Fills in rows and costs of `path`, and chooses its device. Its target, input, aggregation and top rows are set.
void cost_path(EnginePath* path);

/// Adds the sort of `path`'s rows.
void cost_order(EnginePath* path);

/// If true, PostgreSQL settings that make its own scans expensive do not affect the engine's costs. Returns the
/// previous value.
bool set_comparing(bool comparing);

}  // namespace strom::pg::planner
