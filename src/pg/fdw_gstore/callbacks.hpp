// The functions that PostgreSQL calls for store tables, grouped by the file that defines them. handler.cpp registers
// them. All of them may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

extern "C" {

// plan.cpp
void strom_gstore_rel_size(PlannerInfo* root, RelOptInfo* baserel, Oid relid);
void strom_gstore_paths(PlannerInfo* root, RelOptInfo* baserel, Oid relid);
ForeignScan* strom_gstore_plan(PlannerInfo* root, RelOptInfo* baserel, Oid relid, ForeignPath* best_path, List* tlist,
                               List* scan_clauses, Plan* outer_plan);
List* strom_gstore_reparameterize(PlannerInfo* root, List* fdw_private, RelOptInfo* child);

// scan.cpp
void strom_gstore_begin(ForeignScanState* node, int eflags);
TupleTableSlot* strom_gstore_iterate(ForeignScanState* node);
void strom_gstore_rescan(ForeignScanState* node);
void strom_gstore_end(ForeignScanState* node);
void strom_gstore_explain(ForeignScanState* node, ExplainState* es);

// modify.cpp
int strom_gstore_updatable(Relation relation);
void strom_gstore_add_targets(PlannerInfo* root, Index rti, RangeTblEntry* target, Relation relation);
List* strom_gstore_plan_modify(PlannerInfo* root, ModifyTable* plan, Index rti, int subplan);
void strom_gstore_begin_modify(ModifyTableState* state, ResultRelInfo* target, List* fdw_private, int subplan,
                               int eflags);
void strom_gstore_begin_insert(ModifyTableState* state, ResultRelInfo* target);
TupleTableSlot* strom_gstore_insert(EState* estate, ResultRelInfo* target, TupleTableSlot* slot,
                                    TupleTableSlot* plan_slot);
int strom_gstore_batch_size(ResultRelInfo* target);
TupleTableSlot** strom_gstore_insert_batch(EState* estate, ResultRelInfo* target, TupleTableSlot** slots,
                                           TupleTableSlot** plan_slots, int* count);
TupleTableSlot* strom_gstore_update(EState* estate, ResultRelInfo* target, TupleTableSlot* slot,
                                    TupleTableSlot* plan_slot);
TupleTableSlot* strom_gstore_delete(EState* estate, ResultRelInfo* target, TupleTableSlot* slot,
                                    TupleTableSlot* plan_slot);
void strom_gstore_truncate(List* relations, DropBehavior behavior, bool restart_sequences);

// direct_modify.cpp
bool strom_gstore_plan_direct(PlannerInfo* root, ModifyTable* plan, Index rti, int subplan);
void strom_gstore_begin_direct(ForeignScanState* node, int eflags);
TupleTableSlot* strom_gstore_iterate_direct(ForeignScanState* node);

// row_marks.cpp
RowMarkType strom_gstore_row_mark(RangeTblEntry* entry, LockClauseStrength strength);
void strom_gstore_lock_row(EState* estate, ExecRowMark* mark, Datum row, TupleTableSlot* slot, bool* is_newer);

// analyze.cpp
bool strom_gstore_analyze(Relation relation, AcquireSampleRowsFunc* func, BlockNumber* totalpages);

}  // extern "C"
