#include "pg/planner/costs/cost.hpp"

#include <math.h>

#include <algorithm>
#include <utility>

#include "engine/op/join/join_limit.hpp"
#include "pg/compat/disabled_path.hpp"
#include "pg/guc/guc.hpp"
#include "pg/node/thread_slots.hpp"
#include "pg/planner/costs/device_cost.hpp"

namespace strom::pg::planner {

namespace {

using guc::pg_strom::cpu_operator_cost;  // hides PostgreSQL's setting of the same name
using guc::pg_strom::cpu_setup_cost;

// In units of pg_strom.cpu_tuple_cost for each row. Building has to cost more than probing, so that the largest
// relation becomes the outermost one.
constexpr double kProbe = 5;
constexpr double kTry = 1;  // a pair of rows in a join without keys
constexpr double kBuild = 40;
constexpr double kTreeProbe = 60, kTreeBuild = 40;

// kHandOver: a row that PostgreSQL takes from us, in units of its cpu_tuple_cost. The others: making the row and each
// of its values, in units of pg_strom.cpu_tuple_cost. PostgreSQL's own scan of a heap table need not copy values.
constexpr double kHandOver = 0.5;
constexpr double kMakeRow = 75, kMakeWord = 10, kMakeCopy = 100, kMakeNumeric = 200;

// Rows are collected and queued before PostgreSQL gets them. This adds to set-up and work; an aggregation keeps only
// its sums. The values exceed add_path()'s fuzz of 1 %, so that the aggregation is fused however few rows are expected.
constexpr double kQueueSetup = 0.1;
constexpr double kQueueWork = 0.05;

// Finding a tuple in a heap page and decoding a column or two, in units of pg_strom.cpu_tuple_cost. Engine threads do
// it.
constexpr double kHeapRow = 25;

// Finding the partition of a row, in units of operations.
constexpr double kPartitionLookup = 8;

// A comparison of a sort, in units of PostgreSQL's cpu_operator_cost. PostgreSQL counts two units.
constexpr double kSortStep = 0.5;

// The cost of a page in shared buffers, relative to a page that is not. PostgreSQL's costs do not distinguish them.
// Without this, an engine limited by memory would look like one limited by disks.
constexpr double kBufferedPage = 0.35;

// The cost of a page whose columns are cached. Reading its columns costs a quarter of this. But PostgreSQL prices index
// look-ups as if they read from a disk, so they would hardly ever be chosen at that price.
constexpr double kCachedPage = 0.12;

bool compares = false;  // see set_comparing()

double row_cost() { return guc::pg_strom::cpu_tuple_cost; }
double thread_count() { return node::wanted_threads(); }

// A user who disables sequential scans to have an index used does not want our scans either.
bool is_disabled(const EngineScan* scan) {
  return !enable_seqscan && !compares && scan->stored.pages > 0 && scan->chooser == nullptr;
}

int disabled_parts(const EngineInput* input) {
  int count = is_disabled(input->scan);
  ListCell* cell;
  foreach (cell, input->joins) {
    const auto* join = static_cast<EngineJoin*>(lfirst(cell));
    if (join->scan != nullptr)
      count += is_disabled(join->scan);
    else if (join->path != nullptr)
      count += compat::disabled_parts(join->path);
  }
  return count;
}

// True if the rows of an inner side come last, after all others have probed it.
bool rows_come_last(const EngineInput* input) {
  ListCell* cell;
  foreach (cell, input->joins)
    if (engine::plan::ends_probing(static_cast<EngineJoin*>(lfirst(cell))->kind)) return true;
  return false;
}

Cost read_pages(const EngineScan* scan) {
  if (scan->chooser != nullptr) return scan->chosen_cost;
  if (scan->stored.pages == 0) return 0;
  if (is_disabled(scan)) return disable_cost;
  return scan->read_cost;
}

Cost scan_rows(const EngineScan* scan) {
  const double each = 1 + (kHeapRow - 1) * scan->stored.row_form * (1 - scan->stored.cached);
  return scan->rows_in * (each * row_cost() + cpu_operator_cost * scan->operations);
}

// A row that PostgreSQL fetches and evaluates on its only thread, in units of its cpu_tuple_cost.
constexpr double kFallbackRow = 2;

// Work that threads cannot share.
Cost alone(const EngineScan* scan) {
  return read_pages(scan) +
         scan->fallback_rows * (kFallbackRow * ::cpu_tuple_cost + ::cpu_operator_cost * list_length(scan->quals));
}

// The expected number of rows, in random order, that are among the first `wanted` of the rows so far.
double top_rows_found(double wanted, double rows) {
  return rows <= wanted ? rows : clamp_row_est(wanted * (1 + log(rows / wanted)));
}

// The cost of making a row of `target` for PostgreSQL.
Cost make_row_cost(const PathTarget* target) {
  double units = kMakeRow;
  ListCell* cell;
  foreach (cell, target->exprs) {
    const Oid type = exprType(static_cast<Node*>(lfirst(cell)));
    units += is_numeric(type) ? kMakeNumeric : get_typbyval(type) ? kMakeWord : kMakeCopy;
  }
  return units * row_cost();
}

}  // namespace

bool set_comparing(bool comparing) { return std::exchange(compares, comparing); }

double top_rows_left(const EngineTop* top, double rows) {
  if (top->partition == NIL) return top_rows_found(top->rows, rows);
  return fmin(rows, top->partitions * top_rows_found(top->rows, fmax(1, rows / top->partitions)));
}

Cost read_cost(const EngineScan* scan, double each) {
  return scan->stored.pages * ((1 - scan->stored.cached) * page_cost(scan, each) + scan->stored.cached * kCachedPage);
}

Cost page_cost(const EngineScan* scan, double each) {
  return each * (1 - scan->stored.buffered + kBufferedPage * scan->stored.buffered);
}

void cost_scan(EngineInput* input) {
  const EngineScan* scan = input->scan;
  input->startup = 0;
  input->run = alone(scan) + scan_rows(scan) / thread_count();
  add_scan_work(input, scan->rows_in * (row_cost() + cpu_operator_cost * scan->operations) / thread_count());
}

double pass_count(const RelOptInfo* inner, engine::plan::SpatialMatch spatial) {
  constexpr double kHashEntry = 32;  // bytes for each row: hash, link, key
  const int width = inner->reltarget->width;
  const bool is_spatial = spatial != engine::plan::SpatialMatch::kNone;
  const double entry = is_spatial ? static_cast<double>(engine::op::index_row_memory(spatial, width)) : kHashEntry;
  const double bytes = inner->rows * (width + entry);
  return std::max(1.0, ceil(bytes / (guc::pg_strom::work_memory * 1024.0)));
}

/// The additional cost of an index over geometries, compared with a hash table, for each row in kBuild's units.
static double spatial_build(const EngineJoin* join) {
  // An index over polygons reads each of their points.
  constexpr double kPolygonByte = 0.03;
  if (engine::plan::has_tree(join->spatial)) return kTreeBuild;
  return join->spatial != engine::plan::SpatialMatch::kNone ? kPolygonByte * join->inner->reltarget->width : 0;
}

Cost cost_of_build(const EngineJoin* join) {
  Cost read;
  if (join->scan != nullptr)
    read = (alone(join->scan) + scan_rows(join->scan)) * join->passes;
  else
    read = (join->membership != nullptr ? join->membership->plan->total_cost : join->path->total_cost) +
           join->inner->rows * (::cpu_tuple_cost + row_cost() * (join->passes - 1));
  return read + join->inner->rows * (kBuild + spatial_build(join)) * row_cost();
}

void cost_join(EngineInput* input, const EngineInput* outer, const EngineJoin* join, int operations, double pairs) {
  input->startup = outer->startup + cost_of_build(join);
  const bool tries_all =
      join->outer_keys == NIL || (engine::plan::ends_probing(join->kind) && join->match_quals != NIL);
  const double each = engine::plan::has_tree(join->spatial) ? kTreeProbe : kProbe;
  const Cost probe = outer->rows * (each * row_cost() + cpu_operator_cost) + pairs * cpu_operator_cost * operations +
                     (tries_all ? pairs * kTry * row_cost() : 0);
  input->run = (outer->run + outer->rows * kProbe * row_cost() / thread_count()) * (join->passes - 1) + outer->run +
               probe / thread_count();
  add_join_work(input, outer, join, operations, pairs,
                (outer->rows * kProbe * row_cost() * (join->passes - 1) + probe) / thread_count());
}

// Engine threads sort batches, and all rows have to be there before the first one is returned. Then the batches are
// merged.
void cost_order(EnginePath* path) {
  Path* rows = &path->custom.path;
  const Cost hand_over = rows->rows * ::cpu_tuple_cost * kHandOver;
  const Cost compare = fmax(rows->rows, 2) * log2(fmax(rows->rows, 2)) * ::cpu_operator_cost * kSortStep;
  rows->startup_cost = fmax(rows->startup_cost, rows->total_cost - hand_over) + compare;
  rows->total_cost += compare;
}

void cost_path(EnginePath* path) {
  const EngineInput* input = path->input;
  const EngineAggregation* aggregation = path->aggregation;
  const EngineTop* top = path->top;
  const RelOptInfo* parent = path->custom.path.parent;
  const PathTarget* target = path->custom.path.pathtarget;
  Cost work = input->run;
  double rows = input->host_quals != NIL ? parent->rows : input->rows;
  double produced = input->rows;
  Cost start = cpu_setup_cost + input->startup, aggregating = 0;
  if (rows_come_last(input)) {
    start += work;
    work = 0;
  }
  if (aggregation != nullptr) {
    aggregating = input->rows * cpu_operator_cost * list_length(target->exprs) / thread_count();
    work += aggregating;
    rows = produced = aggregation->groups;
    start += work;
    work = 0;
  } else {
    start += cpu_setup_cost * kQueueSetup;
    work += work * kQueueWork;
  }
  if (top != nullptr) rows = produced = top_rows_left(top, input->rows);
  if (top != nullptr && top->partition != NIL)
    work += input->rows * cpu_operator_cost * kPartitionLookup / thread_count();
  if (aggregation == nullptr) work += produced * make_row_cost(target) * input->scan->stored.row_form;
  start += input->host_cost.startup;
  work += input->host_cost.per_tuple * produced;
  compat::set_disabled_parts(&path->custom.path, disabled_parts(input));
  path->custom.path.rows = rows;
  path->custom.path.startup_cost = start + target->cost.startup;
  path->custom.path.total_cost =
      start + work + produced * ::cpu_tuple_cost * kHandOver + target->cost.startup + target->cost.per_tuple * rows;
  choose_device(path, produced, aggregating);
}

}  // namespace strom::pg::planner
