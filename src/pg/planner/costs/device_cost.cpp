#include "pg/planner/costs/device_cost.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"
#include "pg/node/thread_slots.hpp"
#include "pg/planner/costs/cached_columns.hpp"
#include "pg/gpu/known_service.hpp"

namespace strom::pg::planner {

namespace {

using guc::DeviceChoice;
using service::DeviceRates;
using service::RowTime;

constexpr double kNanoseconds = 1e9;
constexpr double kNsPerUs = 1000;
constexpr double kWorthAsking = 1e6;   // ns of copying; from here on, cached columns make a difference
constexpr double kTableOverhead = 32;  // bytes of a row in a join table, in addition to its columns
constexpr double kTextBytes = 32;      // bytes of a text of unknown width, with its offset

/// The rates of a device that was not measured, as the settings' defaults imply them.
DeviceRates unmeasured() {
  DeviceRates rates;
  rates.copy_in = rates.copy_out = rates.stage = 1e18;
  rates.setup_us = 1000;
  rates.scan = {1, 0.2};
  rates.probe = {5, 1};
  rates.group = {2, 0.4};
  return rates;
}

/// Times in nanoseconds: of one CPU thread, and of a whole GPU.
struct Times {
  double setup = 0;
  RowTime scan, probe, group, operation;
  double in = 0, out = 0, stage = 0;  // for each byte
};

Times times_of(const DeviceRates& rates) {
  using guc::pg_strom::gpu_setup_cost, guc::pg_strom::gpu_tuple_cost, guc::pg_strom::gpu_operator_cost;
  Times times;
  times.setup = rates.setup_us * kNsPerUs;
  // The measured scan includes one operation, which takes about as long as reading the column.
  times.scan = times.operation = {rates.scan.cpu / 2, rates.scan.device / 2};
  times.probe = rates.probe;
  times.group = {rates.group.cpu / 2, rates.group.device / 2};  // measured with two expressions
  times.in = kNanoseconds / rates.copy_in;
  times.out = kNanoseconds / rates.copy_out;
  times.stage = kNanoseconds / rates.stage;
  // Settings give the speed of the GPU relative to the CPU device.
  const double tuple = std::max(1e-12, guc::pg_strom::cpu_tuple_cost);
  const double operation = std::max(1e-12, guc::pg_strom::cpu_operator_cost);
  if (gpu_setup_cost >= 0) times.setup = gpu_setup_cost / tuple * times.scan.cpu;
  if (gpu_tuple_cost >= 0) {
    const double share = gpu_tuple_cost / tuple;
    times.scan.device = times.scan.cpu * share;
    times.probe.device = times.probe.cpu * share;
    times.group.device = times.group.cpu * share;
    times.in = times.out = times.stage = 0;
    if (gpu_operator_cost < 0) times.operation.device = times.operation.cpu * share;
  }
  if (gpu_operator_cost >= 0) times.operation.device = times.operation.cpu * gpu_operator_cost / operation;
  return times;
}

struct Known {
  bool is_looked_up = false;
  std::vector<Times> times;  // by device number; empty: no GPU can be chosen
};
Known known;

/// nullptr when no GPU can be chosen. Runs C++ inside.
const Times* times(uint32_t device) {
  const DeviceChoice choice = guc::pg_strom::device();
  if (choice != DeviceChoice::kAuto && choice != DeviceChoice::kGpu) return nullptr;
  if (!known.is_looked_up) {
    boundary::entry([] {
      known.times.clear();
      const service::Calibration* service = gpu::known_service();
      if (service == nullptr) return;
      for (const DeviceRates& rates : service->devices) known.times.push_back(times_of(rates));
      if (known.times.empty()) known.times.push_back(times_of(unmeasured()));
    });
    known.is_looked_up = true;
  }
  if (known.times.empty()) return nullptr;
  return &known.times[device < known.times.size() ? device : 0];
}

double threads() { return node::wanted_threads(); }

/// Bytes of a row of the columns that are read. `columns` gets their number.
double row_bytes(const EngineScan* scan, int* columns) {
  double bytes = 0;
  for (int i = 0; i <= scan->column_count; ++i) {
    if (!scan->columns[i].readable) continue;
    ++*columns;
    const registry::Phys phys = scan->columns[i].type.phys();
    const RelOptInfo* rel = scan->rel;
    const bool has_width = i >= rel->min_attr && i <= rel->max_attr && rel->attr_widths != nullptr && i > 0;
    const double width = has_width ? rel->attr_widths[i - rel->min_attr] : 0;
    if (phys == registry::Phys::kStr)
      bytes += width > 0 ? width + sizeof(int64_t) : kTextBytes;
    else
      bytes += registry::phys_size(phys);
  }
  return bytes;
}

}  // namespace

void begin_device_costs() { known = {}; }

void add_scan_work(EngineInput* input, Cost cost) {
  DeviceWorkload& work = input->work;
  work = {};
  const Times* t = times(0);
  if (t == nullptr) return;
  const EngineScan* scan = input->scan;
  int columns = 0;
  const double bytes = scan->rows_in * row_bytes(scan, &columns), operations = scan->rows_in * scan->operations;
  if (bytes * (t->in + t->stage / threads()) > kWorthAsking) {
    const CachedColumns cached = cached_columns(scan, columns);
    if (guc::pg_strom::enable_gpu_cache) work.cached_bytes = std::min(cached.bytes, bytes);
    work.device = cached.device;
    t = times(work.device);
  }
  const double copied = bytes - work.cached_bytes;
  work.cost = cost;
  work.cpu_ns = (scan->rows_in * t->scan.cpu + operations * t->operation.cpu) / threads();
  work.gpu_ns =
      scan->rows_in * t->scan.device + operations * t->operation.device + copied * (t->in + t->stage / threads());
}

void add_join_work(EngineInput* input, const EngineInput* outer, const EngineJoin* join, int operations, double pairs,
                   Cost cost) {
  DeviceWorkload& work = input->work;
  work = outer->work;
  const Times* t = times(work.device);
  if (t == nullptr) return;
  const double table = join->inner->rows * (join->inner->reltarget->width + kTableOverhead);
  work.cost = work.cost * join->passes + cost;
  work.cpu_ns = work.cpu_ns * join->passes +
                (outer->rows * join->passes * t->probe.cpu + pairs * operations * t->operation.cpu) / threads();
  work.gpu_ns = work.gpu_ns * join->passes + outer->rows * join->passes * t->probe.device +
                pairs * operations * t->operation.device + table * t->in;
}

void choose_device(EnginePath* path, double produced, Cost cost) {
  Path* rows = &path->custom.path;
  const Times* t = times(path->input->work.device);
  path->on_gpu = guc::pg_strom::device() == DeviceChoice::kGpu;
  path->knows_gpu = t != nullptr;
  path->cpu_cost = path->gpu_cost = rows->total_cost;
  if (t == nullptr) return;
  DeviceWorkload work = path->input->work;
  const PathTarget* target = rows->pathtarget;
  if (path->aggregation != nullptr) {
    bool has_keys = false;
    ListCell* cell;
    foreach (cell, target->exprs) has_keys = has_keys || !IsA(lfirst(cell), Aggref);
    const RowTime& each = has_keys ? t->group : t->operation;
    const double evaluated = path->input->rows * std::max(1, list_length(target->exprs));
    work.cost += cost;
    work.cpu_ns += evaluated * each.cpu / threads();
    work.gpu_ns += evaluated * each.device;
  }
  work.gpu_ns += t->setup + produced * target->width * t->out;
  // In the planner's units: the model's cost of this work, times the ratio of the GPU's time to the CPU's.
  const double share = work.gpu_ns / std::max(1.0, work.cpu_ns);
  const Cost saved = work.cost * (1 - share);
  path->gpu_cost -= saved;
  if (path->gpu_cost < path->cpu_cost && guc::pg_strom::device() == DeviceChoice::kAuto) path->on_gpu = true;
  if (!path->on_gpu || saved <= 0) return;
  rows->total_cost -= saved;
  // Groups come when all work is done; rows come while it is in progress.
  if (path->aggregation != nullptr) rows->startup_cost = std::max(0.0, rows->startup_cost - saved);
  rows->startup_cost = std::min(rows->startup_cost, rows->total_cost);
}

}  // namespace strom::pg::planner
