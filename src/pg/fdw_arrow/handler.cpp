// The SQL functions arrow_fdw_handler and arrow_fdw_validator.
#include "pg/boundary/boundary.hpp"
#include "pg/fdw_arrow/callbacks.hpp"
#include "pg/files/arrow_routine.hpp"
#include "pg/files/options.hpp"

namespace boundary = strom::pg::boundary;

STROM_SQL_FUNCTION(strom_arrow_fdw_handler) {
  auto* routine = boundary::guard([] { return makeNode(FdwRoutine); });
  routine->GetForeignRelSize = strom_arrow_rel_size;
  routine->GetForeignPaths = strom_arrow_paths;
  routine->GetForeignPlan = strom_arrow_plan;
  routine->IsForeignScanParallelSafe = strom_arrow_parallel_safe;
  routine->BeginForeignScan = strom_arrow_begin;
  routine->IterateForeignScan = strom_arrow_iterate;
  routine->ReScanForeignScan = strom_arrow_rescan;
  routine->EndForeignScan = strom_arrow_end;
  routine->ShutdownForeignScan = strom_arrow_shutdown;
  routine->ExplainForeignScan = strom_arrow_explain;
  routine->EstimateDSMForeignScan = strom_arrow_estimate_dsm;
  routine->InitializeDSMForeignScan = strom_arrow_initialize_dsm;
  routine->ReInitializeDSMForeignScan = strom_arrow_reinitialize_dsm;
  routine->InitializeWorkerForeignScan = strom_arrow_initialize_worker;
  routine->AnalyzeForeignTable = strom_arrow_analyze;
  routine->ImportForeignSchema = strom_arrow_import;
  routine->IsForeignRelUpdatable = strom_arrow_updatable;
  routine->PlanForeignModify = strom_arrow_plan_modify;
  routine->BeginForeignModify = strom_arrow_begin_modify;
  routine->ExecForeignInsert = strom_arrow_insert;
  routine->BeginForeignInsert = strom_arrow_begin_insert;
  routine->PlanDirectModify = strom_arrow_plan_direct;
  routine->BeginDirectModify = strom_arrow_begin_direct;
  routine->IterateDirectModify = strom_arrow_iterate_direct;
  routine->EndDirectModify = strom_arrow_end_direct;
  routine->ExecForeignTruncate = strom_arrow_truncate;
  strom::pg::files::set_arrow_routine(*routine);
  PG_RETURN_POINTER(routine);
}

STROM_SQL_FUNCTION(strom_arrow_fdw_validator) {
  List* options = boundary::guard([fcinfo] { return untransformRelOptions(PG_GETARG_DATUM(0)); });
  strom::pg::files::validate_options(strom::pg::catalog::read_options(options), PG_GETARG_OID(1));
  PG_RETURN_VOID();
}
