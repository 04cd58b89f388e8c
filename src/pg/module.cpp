// The loadable module pg_strom.so: its magic block and _PG_init. It is loaded by shared_preload_libraries, or by the
// first call of an extension's function in a session. The session's state is the same in both cases.
#include <new>
#include <string>

#include "base/thread_memory.hpp"
#include "format/parquet/module.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/fdw_gstore/statement_plans.hpp"
#include "pg/guc/guc.hpp"
#include "pg/node/node.hpp"
#include "pg/node/query_statistics.hpp"
#include "pg/planner/planner.hpp"
#include "pg/sqlfn/log_devices.hpp"
#include "pg/store/worker.hpp"
#include "pg/table/table_kind.hpp"
#include "pg/worker/gpu_service.hpp"

extern "C" {
PG_MODULE_MAGIC;
PGDLLEXPORT void _PG_init(void);  // NOLINT(readability-identifier-naming): PostgreSQL's name
}

namespace {

// Sets the path of the module for Parquet, which is opened later if needed (see format/parquet). False when out of
// memory.
bool set_parquet_module() noexcept {
  try {
    strom::format::parquet::set_module_path(std::string(pkglib_path) + "/pg_strom_parquet.so");
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

// May ereport.
void _PG_init(void) {  // NOLINT(readability-identifier-naming): PostgreSQL's name
  if (!strom::base::prepare_for_exceptions()) ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
  if (!set_parquet_module()) ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
  strom::pg::guc::define_all();
  strom::pg::node::register_methods();
  strom::pg::node::request_query_statistics();
  strom::pg::table::offer_add_kind();
  strom::pg::planner::install();
  strom::pg::fdw_gstore::install_statement_plans();
  strom::pg::worker::register_gpu_service();
  strom::pg::store::register_worker();
  if (process_shared_preload_libraries_in_progress) strom::pg::sqlfn::log_devices();
}
