// INSERT, COPY FROM and TRUNCATE on writable Arrow tables.
#include "pg/boundary/boundary.hpp"
#include "pg/boundary/new_row.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/fdw_arrow/callbacks.hpp"
#include "pg/files/options.hpp"
#include "pg/files/pending.hpp"

namespace catalog = strom::pg::catalog;
namespace boundary = strom::pg::boundary;
namespace files = strom::pg::files;
using boundary::entry;

namespace {

struct Writability {
  bool is_writable = false, has_one_file = false;
};

/// May ereport.
Writability writability(Oid relid) {
  return entry([relid] {
    const catalog::ForeignTable table = catalog::load_foreign_table(relid, {});
    const bool is_writable = boundary::value_or_throw(files::parse_table_options(table.options)).writable;
    bool has_one_file = false;
    for (const catalog::Option& option : table.options) has_one_file = has_one_file || option.name == "file";
    return Writability{is_writable, has_one_file};
  });
}

// May ereport.
void refuse_insert(const char* name, bool has_one_file) {
  const char* hint = "Only tables with the option \"file\" can be made writable.";
  if (has_one_file)
    hint = psprintf("The table becomes writable by ALTER FOREIGN TABLE %s OPTIONS (ADD writable 'true').",
                    quote_identifier(name));
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("foreign table \"%s\" does not allow inserts", name), errhint("%s", hint)));
}

/// ResultRelInfo::ri_FdwState: plain data.
struct Modify {
  files::PendingWrite* write;
  CommandId command;
};

/// In the query's memory context.
Modify* begin_rows(const ModifyTableState* state, const ResultRelInfo* target) {
  const Oid relid = RelationGetRelid(target->ri_RelationDesc);
  auto* modify = static_cast<Modify*>(MemoryContextAllocZero(state->ps.state->es_query_cxt, sizeof(Modify)));
  // COPY has no plan, and its state has no command number.
  modify->command = state->ps.plan != nullptr ? state->ps.state->es_output_cid : GetCurrentCommandId(true);
  modify->write = entry([relid] { return files::begin_write(relid); });
  return modify;
}

}  // namespace

// COPY and routing to partitions call this while they hold the lock for inserting; without the error here they would
// refuse without a hint. Queries about what may be done with a table hold a weaker lock.
int strom_arrow_updatable(Relation relation) {
  const Writability now = writability(RelationGetRelid(relation));
  if (!now.is_writable && CheckRelationLockedByMe(relation, RowExclusiveLock, false))
    refuse_insert(RelationGetRelationName(relation), now.has_one_file);
  return now.is_writable ? 1 << CMD_INSERT : 0;
}

// Raises the executor's later error with a hint. A role without the privilege gets the executor's own error. May
// ereport.
List* strom_arrow_plan_modify(PlannerInfo* root, ModifyTable* plan, Index rti, int) {
  const Oid relid = planner_rt_fetch(rti, root)->relid;
  const bool inserts = plan->operation == CMD_INSERT, updates = plan->operation == CMD_UPDATE;
  const AclMode right = inserts ? ACL_INSERT : updates ? ACL_UPDATE : ACL_DELETE;
  if (pg_class_aclcheck(relid, GetUserId(), right) != ACLCHECK_OK) return NIL;
  const char* name = get_rel_name(relid);
  if (inserts) {
    const Writability now = writability(relid);
    if (!now.is_writable) refuse_insert(name, now.has_one_file);
  } else {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    updates ? errmsg("cannot update foreign table \"%s\"", name)
                            : errmsg("cannot delete from foreign table \"%s\"", name),
                    errhint("Rows of writable Arrow tables can be inserted, and removed all at once by TRUNCATE.")));
  }
  return NIL;
}

void strom_arrow_begin_modify(ModifyTableState* state, ResultRelInfo* target, List*, int, int eflags) {
  if (eflags & EXEC_FLAG_EXPLAIN_ONLY) return;
  target->ri_FdwState = begin_rows(state, target);
}

void strom_arrow_begin_insert(ModifyTableState* state, ResultRelInfo* target) {
  target->ri_FdwState = begin_rows(state, target);
}

TupleTableSlot* strom_arrow_insert(EState* estate, ResultRelInfo* target, TupleTableSlot* slot, TupleTableSlot*) {
  const auto* modify = static_cast<const Modify*>(target->ri_FdwState);
  boundary::check_policies(estate, target, slot, WCO_RLS_INSERT_CHECK);
  boundary::check_constraints(estate, target, slot, false);
  entry([=] { files::write_row(modify->write, slot, modify->command); });
  // The executor has made a slot that forms tuples; it is not needed here.
  if (target->ri_newTupleSlot != nullptr && target->ri_projectNew == nullptr &&
      !TTS_IS_VIRTUAL(target->ri_newTupleSlot))
    target->ri_newTupleSlot = ExecInitExtraTupleSlot(estate, slot->tts_tupleDescriptor, &TTSOpsVirtual);
  return slot;
}

void strom_arrow_truncate(List* relations, DropBehavior, bool) {
  ListCell* cell;
  foreach (cell, relations) {
    const Oid relid = RelationGetRelid(static_cast<Relation>(lfirst(cell)));
    entry([relid] { files::truncate_table(relid); });
  }
}

STROM_SQL_FUNCTION(strom_arrow_fdw_truncate) {
  const Oid relid = PG_GETARG_OID(0);
  const char* name = boundary::guard([relid] {
    const char* schema = get_namespace_name(get_rel_namespace(relid));
    const char* relation = get_rel_name(relid);
    if (relation == nullptr) ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("there is no such table")));
    return quote_qualified_identifier(schema, relation);
  });
  // Runs the statement, so that its locks, privileges and triggers apply.
  boundary::guard([name] {
    if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
    if (SPI_execute(psprintf("TRUNCATE %s", name), false, 0) != SPI_OK_UTILITY) elog(ERROR, "TRUNCATE failed");
    SPI_finish();
  });
  PG_RETURN_VOID();
}
