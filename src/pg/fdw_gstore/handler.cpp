// The SQL functions gstore_fdw_handler and gstore_fdw_validator.
#include "pg/boundary/boundary.hpp"
#include "pg/fdw_gstore/callbacks.hpp"
#include "pg/store/options.hpp"
#include "pg/store/routine.hpp"

namespace boundary = strom::pg::boundary;

STROM_SQL_FUNCTION(strom_gstore_fdw_handler) {
  auto* routine = boundary::guard([] { return makeNode(FdwRoutine); });
  routine->GetForeignRelSize = strom_gstore_rel_size;
  routine->GetForeignPaths = strom_gstore_paths;
  routine->GetForeignPlan = strom_gstore_plan;
  routine->ReparameterizeForeignPathByChild = strom_gstore_reparameterize;
  routine->BeginForeignScan = strom_gstore_begin;
  routine->IterateForeignScan = strom_gstore_iterate;
  routine->ReScanForeignScan = strom_gstore_rescan;
  routine->EndForeignScan = strom_gstore_end;
  routine->ExplainForeignScan = strom_gstore_explain;
  routine->AnalyzeForeignTable = strom_gstore_analyze;
  routine->IsForeignRelUpdatable = strom_gstore_updatable;
  routine->AddForeignUpdateTargets = strom_gstore_add_targets;
  routine->PlanForeignModify = strom_gstore_plan_modify;
  routine->BeginForeignModify = strom_gstore_begin_modify;
  routine->ExecForeignInsert = strom_gstore_insert;
  routine->GetForeignModifyBatchSize = strom_gstore_batch_size;
  routine->ExecForeignBatchInsert = strom_gstore_insert_batch;
  routine->BeginForeignInsert = strom_gstore_begin_insert;
  routine->ExecForeignUpdate = strom_gstore_update;
  routine->ExecForeignDelete = strom_gstore_delete;
  routine->PlanDirectModify = strom_gstore_plan_direct;
  routine->BeginDirectModify = strom_gstore_begin_direct;
  routine->IterateDirectModify = strom_gstore_iterate_direct;
  routine->EndDirectModify = strom_gstore_end;
  routine->ExplainDirectModify = strom_gstore_explain;
  routine->ExecForeignTruncate = strom_gstore_truncate;
  routine->GetForeignRowMarkType = strom_gstore_row_mark;
  routine->RefetchForeignRow = strom_gstore_lock_row;
  strom::pg::store::set_routine(*routine);
  PG_RETURN_POINTER(routine);
}

STROM_SQL_FUNCTION(strom_gstore_fdw_validator) {
  List* options = boundary::guard([fcinfo] { return untransformRelOptions(PG_GETARG_DATUM(0)); });
  strom::pg::store::validate_options(strom::pg::catalog::read_options(options), PG_GETARG_OID(1));
  PG_RETURN_VOID();
}
