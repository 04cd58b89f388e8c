// SQL functions about queries in the engine: pgstrom.stat_progress() and pgstrom.stat_queries(), see
// sql/statistics.sql. They show as much about other roles' queries as pg_stat_activity does.
#include "pg/boundary/boundary.hpp"
#include "pg/compat/backend_status.hpp"
#include "pg/node/progress.hpp"
#include "pg/node/query_statistics.hpp"
#include "pg/sqlfn/findings_output.hpp"

namespace boundary = strom::pg::boundary;
namespace compat = strom::pg::compat;
namespace node = strom::pg::node;

namespace {

// The functions below may ereport.

constexpr const char kHidden[] = "<insufficient privilege>";

bool may_see(Oid role) {
  return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) || has_privs_of_role(GetUserId(), role);
}

/// Collects the values of one row in their order.
template <int N>
struct Row {
  Datum values[N] = {};
  bool nulls[N];
  int count = 0;

  Row() { MemSet(nulls, true, sizeof(nulls)); }
  void add(Datum value) {
    nulls[count] = false;
    values[count++] = value;
  }
  void add_null() { ++count; }
  void put(ReturnSetInfo* result) { tuplestore_putvalues(result->setResult, result->setDesc, values, nulls); }
};

// The remaining time of a step in microseconds, at its speed so far; negative if its size is unknown.
int64_t time_left(const node::ToldProgress& told) {
  const node::ProgressState& state = told.state;
  if (state.chunks <= 0 || state.chunks_done <= 0 || state.chunks_done > state.chunks) return -1;
  const int64_t passed = GetCurrentTimestamp() - told.step_started;
  return static_cast<int64_t>(static_cast<double>(passed) * static_cast<double>(state.chunks - state.chunks_done) /
                              static_cast<double>(state.chunks_done));
}

Datum interval_of(int64_t microseconds) {
  auto* interval = static_cast<Interval*>(palloc0(sizeof(Interval)));
  interval->time = microseconds;
  return IntervalPGetDatum(interval);
}

void put_progress(ReturnSetInfo* result, const PgBackendStatus* backend, const node::ToldProgress& told) {
  const node::ProgressState& state = told.state;
  Row<15> row;
  row.add(Int32GetDatum(backend->st_procpid));
  row.add(ObjectIdGetDatum(backend->st_databaseid));
  row.add(ObjectIdGetDatum(backend->st_userid));
  if (may_see(backend->st_userid)) {
    const auto add_if = [&row](bool is_known, Datum value) { is_known ? row.add(value) : row.add_null(); };
    add_if(OidIsValid(state.table), ObjectIdGetDatum(state.table));
    row.add(CStringGetTextDatum(node::phase_name(state.phase)));
    row.add(Int32GetDatum(state.step));
    row.add(Int32GetDatum(state.steps));
    row.add(Int64GetDatum(state.chunks_done));
    add_if(state.chunks > 0, Int64GetDatum(state.chunks));
    row.add(Int64GetDatum(state.rows));
    row.add(Int64GetDatum(state.bytes_done));
    add_if(state.bytes > 0, Int64GetDatum(state.bytes));
    row.add(TimestampTzGetDatum(told.started));
    const int64_t left = time_left(told);
    add_if(left >= 0, interval_of(left));
    row.add(CStringGetTextDatum(pgstat_clip_activity(backend->st_activity_raw)));
  } else {
    row.count = 14;
    row.add(CStringGetTextDatum(kHidden));
  }
  row.put(result);
}

// May throw.
void require_statistics() {
  if (node::has_query_statistics()) return;
  const std::string hint = strom::pg::sqlfn::preload_statement();
  boundary::guard([&hint] {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("statistics of queries need the extension to be preloaded"), errhint("%s", hint.c_str())));
  });
}

void put_queries(ReturnSetInfo* result) {
  node::QueryWorks works;
  node::copy_query_works(&works);
  for (int i = 0; i < works.count; ++i) {
    const node::QueryWork& entry = works.entries[i];
    Row<17> row;
    row.add(ObjectIdGetDatum(entry.user));
    row.add(ObjectIdGetDatum(entry.database));
    if (may_see(entry.user)) {
      row.add(Int64GetDatum(static_cast<int64>(entry.query_id)));
      row.add(CStringGetTextDatum(pg_any_to_server(entry.text, static_cast<int>(strlen(entry.text)), entry.encoding)));
    } else {
      row.add_null();
      row.add(CStringGetTextDatum(kHidden));
    }
    row.add(Int64GetDatum(entry.executions));
    row.add(Float8GetDatum(entry.work.milliseconds));
    row.add(Float8GetDatum(entry.least_ms));
    row.add(Float8GetDatum(entry.most_ms));
    row.add(Float8GetDatum(entry.work.milliseconds / static_cast<double>(entry.executions)));
    row.add(Int64GetDatum(entry.work.rows_read));
    row.add(Int64GetDatum(entry.work.chunks_read));
    row.add(Int64GetDatum(entry.work.chunks_skipped));
    row.add(Int64GetDatum(entry.work.fallback_rows));
    row.add(Int64GetDatum(entry.work.device_rows));
    row.add(Int64GetDatum(entry.work.peak_memory));
    row.add(TimestampTzGetDatum(entry.last));
    row.add(TimestampTzGetDatum(works.reset));
    row.put(result);
  }
}

}  // namespace

/// pgstrom.stat_progress() -> setof (pid, ..., query)
STROM_SQL_FUNCTION(strom_stat_progress) {
  boundary::guard([fcinfo] {
    InitMaterializedSRF(fcinfo, 0);
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    for (int i = 0; i < pgstat_fetch_stat_numbackends(); ++i) {
      const PgBackendStatus* backend = compat::backend_status(i);
      node::ToldProgress told;
      if (backend != nullptr && node::read_progress(backend->st_procpid, backend->st_progress_param, &told))
        put_progress(result, backend, told);
    }
  });
  return Datum{0};
}

/// pgstrom.stat_queries() -> setof (userid, ..., stats_reset)
STROM_SQL_FUNCTION(strom_stat_queries) {
  require_statistics();
  boundary::guard([fcinfo] {
    InitMaterializedSRF(fcinfo, 0);
    put_queries(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo));
  });
  return Datum{0};
}

/// pgstrom.stat_queries_reset()
STROM_SQL_FUNCTION(strom_stat_queries_reset) {
  require_statistics();
  boundary::guard([] { node::reset_query_works(); });
  PG_RETURN_VOID();
}
