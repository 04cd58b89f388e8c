// The SQL function that shows the GPU service's ledger, as declared in sql/gpu.sql.
#include "pg/boundary/boundary.hpp"
#include "pg/gpu/gpu_session.hpp"
#include "pg/sqlfn/ask_service.hpp"

namespace boundary = strom::pg::boundary;
namespace service = strom::service;

namespace {

// May ereport.
void put_session(ReturnSetInfo* result, const service::LedgerRow& row) {
  constexpr double kMicrosPerMilli = 1000;
  Datum values[] = {Int32GetDatum(row.process),
                    Int32GetDatum(row.priority),
                    Int32GetDatum(static_cast<int32_t>(row.queued)),
                    Int32GetDatum(static_cast<int32_t>(row.running)),
                    Int64GetDatum(static_cast<int64_t>(row.memory)),
                    Int64GetDatum(static_cast<int64_t>(row.memory_wanted)),
                    Int64GetDatum(static_cast<int64_t>(row.tasks_done)),
                    Float8GetDatum(static_cast<double>(row.busy_us) / kMicrosPerMilli),
                    CStringGetTextDatum(row.name.c_str()),
                    Int32GetDatum(static_cast<int32_t>(row.device))};
  bool nulls[10] = {};
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

}  // namespace

/// pgstrom.gpu_sessions() -> setof (pid, priority, queued, running, memory, memory_wanted, tasks, busy_ms, name,
/// device); no rows when there is no service.
STROM_SQL_FUNCTION(strom_gpu_sessions) {
  boundary::guard([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  auto connected = service::Client::connect(strom::pg::gpu::gpu_client_options());
  if (!connected.is_ok()) return Datum{0};
  const uint32_t own = connected.value()->welcome().session;
  uint32_t after = 0;
  for (;;) {
    const auto ledger =
        strom::pg::sqlfn::ask_service<service::Ledger>(connected.value().get(), service::AskLedger{after});
    if (ledger.rows.empty()) return Datum{0};
    for (const service::LedgerRow& row : ledger.rows) {
      after = row.session;
      if (row.session != own) boundary::guard([&row, result] { put_session(result, row); });
    }
  }
}
