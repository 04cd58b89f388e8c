// Costs of the engine's work in PostgreSQL's units. Used by the path files. All functions may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// Rows that are handed over of so many, in random order.
double top_rows_left(const EngineTop* top, double rows);

/// What a page of a heap table costs that costs `each` where it has to be read from a file.
Cost page_cost(const EngineScan* scan, double each);
/// All pages of a table, where they are read one after another.
Cost read_cost(const EngineScan* scan, double each);

/// Fills startup and run of a scan without joins; of `input` that is `outer` with `join` added.
void cost_scan(EngineInput* input);
/// `pairs`: of rows for which the join's clauses are evaluated.
void cost_join(EngineInput* input, const EngineInput* outer, const EngineJoin* join, int operations, double pairs);
/// The part of them that is for reading the inner side and making a table of it.
Cost cost_of_build(const EngineJoin* join);

/// How often the outer side of a join has to be read because of pg_strom.work_memory.
double pass_count(const RelOptInfo* inner, engine::plan::SpatialMatch spatial = engine::plan::SpatialMatch::kNone);

/// Fills rows and costs of `path`, which has its target, input, aggregation and top rows, and chooses its device.
void cost_path(EnginePath* path);

/// Makes the rows of `path` come in an order.
void cost_order(EnginePath* path);

/// From now on, settings of PostgreSQL that make its scans dear leave the engine's as they are. What was set
/// Before.
bool set_comparing(bool comparing);

}  // namespace strom::pg::planner
