#include "pg/planner/costs/cached_columns.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"
#include "pg/gpu/known_service.hpp"
#include "pg/table/table_kind.hpp"
#include "service/device_order.hpp"

namespace strom::pg::planner {

namespace {

constexpr std::chrono::seconds kFresh{1};
constexpr size_t kMostTables = 1000;  // that are remembered

/// What the service's last answer says about a table.
struct Found {
  double bytes = 0, columns = 0;  // columns: the average over its parts, weighted by bytes
  uint32_t device = 0;
};

Found find(Oid oid, table::KindNumber kind, const gpu::ServiceContents& contents) {
  const table::Storage table = table::kind(kind).storage(oid);
  Found found;
  for (const std::string& label : table.labels) {
    const auto row = contents.cached.find(label);
    if (row == contents.cached.end()) continue;
    found.bytes += static_cast<double>(row->second.bytes);
    found.columns += static_cast<double>(row->second.bytes) * row->second.columns;
  }
  if (found.bytes > 0) found.columns /= found.bytes;
  if (contents.devices.size() <= 1) return found;
  const char* text = guc::pg_strom::manual_optimal_gpus;
  const auto optimal = service::parse_optimal_devices(text == nullptr ? "" : text);
  const auto devices = service::order_devices(
      contents.devices, optimal.is_ok() ? optimal.value() : std::vector<service::OptimalDevices>(), table.path);
  if (!devices.empty()) found.device = devices.front().number;
  return found;
}

const Found& found_now(Oid oid, table::KindNumber kind) {
  static std::map<Oid, Found> known;
  static uint64_t of = 0;
  const gpu::ServiceContents& contents = gpu::service_contents(kFresh);
  if (contents.number != of || known.size() > kMostTables) known.clear();
  of = contents.number;
  const auto place = known.find(oid);
  return place != known.end() ? place->second : known.emplace(oid, find(oid, kind, contents)).first->second;
}

}  // namespace

CachedColumns cached_columns(const EngineScan* scan, int columns) {
  CachedColumns cached;
  boundary::entry([&] {
    const int leaves = list_length(scan->leaf_tables);
    for (int i = 0; i < std::max(1, leaves); ++i) {
      const Found& found = leaves == 0
                               ? found_now(scan->table, scan->kind)
                               : found_now(list_nth_oid(scan->leaf_tables, i), list_nth_int(scan->leaf_kinds, i));
      // Assumes that the columns that this query reads are among the cached ones.
      cached.bytes += found.columns > columns ? found.bytes * columns / found.columns : found.bytes;
      if (i == 0) cached.device = found.device;
    }
  });
  return cached;
}

}  // namespace strom::pg::planner
