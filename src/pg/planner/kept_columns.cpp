#include "pg/planner/kept_columns.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "columnar/origin.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/compat/heap.hpp"
#include "pg/files/source.hpp"
#include "pg/guc/guc.hpp"
#include "pg/gpu/known_service.hpp"
#include "service/device_order.hpp"

namespace strom::pg::planner {

namespace {

using boundary::guard;

constexpr std::chrono::seconds kFresh{1};
constexpr size_t kMostTables = 1000;  // remembered

struct Table {
  std::vector<std::string> labels;  // see columnar::BatchOrigin
  std::string storage;              // a file or folder on it
};

Table describe(Oid oid) {
  Table table;
  if (guard([oid] { return get_rel_relkind(oid); }) == RELKIND_FOREIGN_TABLE) {
    const auto source = files::Source::open(oid, {});
    for (const auto& file : source->files()) table.labels.push_back(columnar::file_label(file->path()));
    if (!source->files().empty()) table.storage = source->files().front()->path();
    return table;
  }
  const compat::FileId file = guard([oid] {
    Relation relation = table_open(oid, NoLock);
    const compat::FileId found = compat::file_of(relation);
    table_close(relation, NoLock);
    return found;
  });
  table.labels = {columnar::table_label(file.tablespace, file.database, file.file)};
  table.storage = DataDir;
  return table;
}

/// Of a table in what was said last.
struct Found {
  double bytes = 0, columns = 0;  // the latter weighted by bytes
  uint32_t device = 0;
};

Found find(Oid oid, const gpu::ServiceContents& contents) {
  const Table table = describe(oid);
  Found found;
  for (const std::string& label : table.labels) {
    const auto row = contents.kept.find(label);
    if (row == contents.kept.end()) continue;
    found.bytes += static_cast<double>(row->second.bytes);
    found.columns += static_cast<double>(row->second.bytes) * row->second.columns;
  }
  if (found.bytes > 0) found.columns /= found.bytes;
  if (contents.devices.size() <= 1) return found;
  const char* text = guc::pg_strom::manual_optimal_gpus;
  const auto optimal = service::parse_optimal_devices(text == nullptr ? "" : text);
  const auto devices = service::order_devices(
      contents.devices, optimal.is_ok() ? optimal.value() : std::vector<service::OptimalDevices>(), table.storage);
  if (!devices.empty()) found.device = devices.front().number;
  return found;
}

const Found& found_now(Oid oid) {
  static std::map<Oid, Found> known;
  static uint64_t of = 0;
  const gpu::ServiceContents& contents = gpu::service_contents(kFresh);
  if (contents.number != of || known.size() > kMostTables) known.clear();
  of = contents.number;
  const auto place = known.find(oid);
  return place != known.end() ? place->second : known.emplace(oid, find(oid, contents)).first->second;
}

}  // namespace

KeptColumns kept_columns(const EngineScan* scan, int columns) {
  KeptColumns kept;
  boundary::entry([&] {
    std::vector<Oid> tables;
    ListCell* cell;
    foreach (cell, scan->leaf_tables) tables.push_back(lfirst_oid(cell));
    if (tables.empty()) tables.push_back(scan->table);
    for (const Oid table : tables) {
      const Found& found = found_now(table);
      // Those that other queries read are likely to be those that this one does.
      kept.bytes += found.columns > columns ? found.bytes * columns / found.columns : found.bytes;
      if (table == tables.front()) kept.device = found.device;
    }
  });
  return kept;
}

}  // namespace strom::pg::planner
