// SQL functions that show and empty the cache in the GPU's memory, as declared in sql/gpu.sql.
#include <cstdio>

#include "pg/boundary/boundary.hpp"
#include "pg/compat/heap.hpp"
#include "pg/gpu/gpu_session.hpp"
#include "pg/sqlfn/ask_service.hpp"
#include "service/device_tasks.hpp"

namespace boundary = strom::pg::boundary;
namespace compat = strom::pg::compat;
namespace service = strom::service;
using strom::pg::sqlfn::ask_service;

namespace {

// May ereport.
void put_row(ReturnSetInfo* result, const service::CacheRow& row) {
  compat::FileId table{};
  Oid relation = InvalidOid;
  const bool is_join = row.label.starts_with('j');
  const char* label = row.label.c_str() + (is_join ? 1 : 0);
  const bool has_file = *label == 't', is_table = has_file || *label == 'r';
  if (has_file) {
    if (std::sscanf(label, "t%u %u %u", &table.tablespace, &table.database, &table.file) != 3 ||
        table.database != MyDatabaseId)
      return;
    relation = compat::table_of_file(table);
  } else if (is_table) {
    Oid database = InvalidOid;
    if (std::sscanf(label, "r%u %u", &database, &relation) != 2 || database != MyDatabaseId) return;
    if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation))) relation = InvalidOid;
  }
  if (is_table && !OidIsValid(relation)) return;  // dropped or rewritten meanwhile
  Datum values[] = {ObjectIdGetDatum(relation),
                    is_table ? Datum{0} : CStringGetTextDatum(label + 1),
                    CStringGetTextDatum(is_join ? "join tables" : "columns"),
                    Int32GetDatum(static_cast<int32_t>(row.columns)),
                    Int64GetDatum(static_cast<int64_t>(row.pieces)),
                    Int64GetDatum(static_cast<int64_t>(row.bytes)),
                    Int64GetDatum(static_cast<int64_t>(row.uses)),
                    Int64GetDatum(static_cast<int64_t>(row.pinned))};
  bool nulls[8] = {!is_table, is_table, false, is_join};
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

}  // namespace

/// pgstrom.gpu_cache_info() -> setof (relation, file, kind, columns, pieces, bytes, uses, pinned); no rows when there
/// is no service.
STROM_SQL_FUNCTION(strom_gpu_cache_info) {
  boundary::guard([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  auto connected = service::Client::connect(strom::pg::gpu::gpu_client_options());
  if (!connected.is_ok()) return Datum{0};
  service::AskCache question;
  for (;;) {
    const auto cache = ask_service<service::Cache>(connected.value().get(), question);
    if (cache.rows.empty()) return Datum{0};
    for (const service::CacheRow& row : cache.rows) boundary::guard([&row, result] { put_row(result, row); });
    question.after = cache.rows.back().label;
  }
}

/// pgstrom.gpu_cache_reset() -> bytes, of all devices; 0 when there is no service.
STROM_SQL_FUNCTION(strom_gpu_cache_reset) {
  service::ClientOptions options = strom::pg::gpu::gpu_client_options();
  service::Submit task;
  task.task = static_cast<uint16_t>(service::TaskKind::kForget);
  int64_t all = 0;
  uint32_t devices = 1;
  for (uint32_t device = 0; device < devices; ++device) {
    options.device = static_cast<int32_t>(device);
    const auto connected = service::Client::connect(options);
    if (!connected.is_ok()) return Int64GetDatum(all);
    devices = connected.value()->welcome().devices;
    const auto finished = ask_service<service::Finished>(connected.value().get(), task);
    std::string_view values = finished.values;
    uint64_t bytes = 0;
    boundary::throw_if_failed(service::take(&values, &bytes));
    all += static_cast<int64_t>(bytes);
  }
  return Int64GetDatum(all);
}
