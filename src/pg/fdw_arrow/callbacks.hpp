// The functions that PostgreSQL calls for Arrow foreign tables, grouped by the file that defines them. handler.cpp
// registers them. All of them may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

extern "C" {

// plan.cpp
void strom_arrow_rel_size(PlannerInfo* root, RelOptInfo* baserel, Oid relid);
void strom_arrow_paths(PlannerInfo* root, RelOptInfo* baserel, Oid relid);
ForeignScan* strom_arrow_plan(PlannerInfo* root, RelOptInfo* baserel, Oid relid, ForeignPath* best_path, List* tlist,
                              List* scan_clauses, Plan* outer_plan);
bool strom_arrow_parallel_safe(PlannerInfo* root, RelOptInfo* rel, RangeTblEntry* rte);

// scan.cpp
void strom_arrow_begin(ForeignScanState* node, int eflags);
TupleTableSlot* strom_arrow_iterate(ForeignScanState* node);
void strom_arrow_rescan(ForeignScanState* node);
void strom_arrow_end(ForeignScanState* node);
void strom_arrow_shutdown(ForeignScanState* node);
void strom_arrow_explain(ForeignScanState* node, ExplainState* es);
Size strom_arrow_estimate_dsm(ForeignScanState* node, ParallelContext* pcxt);
void strom_arrow_initialize_dsm(ForeignScanState* node, ParallelContext* pcxt, void* coordinate);
void strom_arrow_reinitialize_dsm(ForeignScanState* node, ParallelContext* pcxt, void* coordinate);
void strom_arrow_initialize_worker(ForeignScanState* node, shm_toc* toc, void* coordinate);

// modify.cpp
int strom_arrow_updatable(Relation relation);
List* strom_arrow_plan_modify(PlannerInfo* root, ModifyTable* plan, Index rti, int subplan);
void strom_arrow_begin_modify(ModifyTableState* state, ResultRelInfo* target, List* fdw_private, int subplan,
                              int eflags);
void strom_arrow_begin_insert(ModifyTableState* state, ResultRelInfo* target);
TupleTableSlot* strom_arrow_insert(EState* estate, ResultRelInfo* target, TupleTableSlot* slot,
                                   TupleTableSlot* plan_slot);
void strom_arrow_truncate(List* relations, DropBehavior behavior, bool restart_sequences);

// direct_insert.cpp
bool strom_arrow_plan_direct(PlannerInfo* root, ModifyTable* plan, Index rti, int subplan);
void strom_arrow_begin_direct(ForeignScanState* node, int eflags);
TupleTableSlot* strom_arrow_iterate_direct(ForeignScanState* node);
void strom_arrow_end_direct(ForeignScanState* node);

// analyze.cpp
bool strom_arrow_analyze(Relation relation, AcquireSampleRowsFunc* func, BlockNumber* totalpages);

// import.cpp
List* strom_arrow_import(ImportForeignSchemaStmt* stmt, Oid server_oid);

}  // extern "C"
