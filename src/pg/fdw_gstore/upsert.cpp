// pgstrom.store_upsert(): PostgreSQL has no ON CONFLICT DO UPDATE for foreign tables. Runs an UPDATE by the key, or an
// INSERT, through SPI, so that the triggers, constraints, privileges and row security policies of these statements
// apply. The functions here may ereport.
#include "pg/boundary/boundary.hpp"
#include "pg/fdw_gstore/named_table.hpp"
#include "pg/store/memory.hpp"
#include "pg/store/server_headers.hpp"

namespace boundary = strom::pg::boundary;
namespace store = strom::pg::store;

namespace {

/// The prepared statements for one table and row type.
struct Statements {
  struct {
    Oid relation, row_type;
  } key;
  char* update_text;
  char* insert_text;
  SPIPlanPtr update, insert;
};

HTAB* known_statements() {
  static HTAB* table = nullptr;
  if (table != nullptr) return table;
  HASHCTL control{};
  control.keysize = sizeof(Statements::key);
  control.entrysize = sizeof(Statements);
  constexpr long kExpected = 8;
  table = hash_create("statements of store_upsert", kExpected, &control, HASH_ELEM | HASH_BLOBS);
  return table;
}

bool is_written(const FormData_pg_attribute* attribute) {
  return !attribute->attisdropped && attribute->attgenerated == '\0';
}

/// The expression for the column of that name of the row, which is parameter $1. An error if there is no such column.
const char* field_of(TupleDesc row, const char* name) {
  for (int i = 0; i < row->natts; ++i) {
    const FormData_pg_attribute* attribute = TupleDescAttr(row, i);
    if (!attribute->attisdropped && strcmp(NameStr(attribute->attname), name) == 0)
      return psprintf("($1).%s", quote_identifier(name));
  }
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN), errmsg("the row has no column \"%s\"", name)));
  return nullptr;
}

/// Prepares the statements again if names have changed. In the caller's SPI connection.
Statements* statements_for(Relation relation, Oid row_type, TupleDesc row, const char* key_name) {
  const char* table =
      quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)), RelationGetRelationName(relation));
  StringInfoData update, columns, values;
  initStringInfo(&update);
  initStringInfo(&columns);
  initStringInfo(&values);
  appendStringInfo(&update, "UPDATE %s SET ", table);
  const int empty = update.len;
  const TupleDesc own = RelationGetDescr(relation);
  for (int i = 0; i < own->natts; ++i) {
    const FormData_pg_attribute* attribute = TupleDescAttr(own, i);
    if (!is_written(attribute)) continue;
    const char* name = NameStr(attribute->attname);
    const char* field = field_of(row, name);
    appendStringInfo(&columns, "%s%s", columns.len == 0 ? "" : ", ", quote_identifier(name));
    appendStringInfo(&values, "%s%s", values.len == 0 ? "" : ", ", field);
    if (strcmp(name, key_name) == 0) continue;
    appendStringInfo(&update, "%s%s = %s", update.len == empty ? "" : ", ", quote_identifier(name), field);
  }
  const char* key = quote_identifier(key_name);
  if (update.len == empty) appendStringInfo(&update, "%s = %s", key, field_of(row, key_name));
  appendStringInfo(&update, " WHERE %s = %s", key, field_of(row, key_name));
  const char* insert =
      psprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING", table, columns.data, values.data);

  Statements wanted{};
  wanted.key = {RelationGetRelid(relation), row_type};
  bool found;
  auto* known = static_cast<Statements*>(hash_search(known_statements(), &wanted.key, HASH_ENTER, &found));
  if (found && known->insert != nullptr && strcmp(known->update_text, update.data) == 0 &&
      strcmp(known->insert_text, insert) == 0)
    return known;
  if (!found) {
    known->update = known->insert = nullptr;
    known->update_text = known->insert_text = nullptr;
  }
  for (SPIPlanPtr* plan : {&known->update, &known->insert}) {
    if (*plan != nullptr) SPI_freeplan(*plan);
    *plan = nullptr;
    const char* text = plan == &known->update ? update.data : insert;
    SPIPlanPtr made = SPI_prepare(text, 1, &row_type);
    if (made == nullptr || SPI_keepplan(made) != 0) elog(ERROR, "could not prepare \"%s\"", text);
    *plan = made;
  }
  known->update_text = MemoryContextStrdup(TopMemoryContext, update.data);
  known->insert_text = MemoryContextStrdup(TopMemoryContext, insert);
  return known;
}

/// The column of the table's key. An error if there is none that a row can be given.
const FormData_pg_attribute* key_of(const store::Table* table, Relation relation) {
  if (table->key() < 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
                    errmsg("store table \"%s\" has no primary key", RelationGetRelationName(relation))));
  const FormData_pg_attribute* key = TupleDescAttr(RelationGetDescr(relation), table->key_column().attnum - 1);
  if (key->attgenerated != '\0')
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("the primary key \"%s\" of store table \"%s\" is a generated column", NameStr(key->attname),
                           RelationGetRelationName(relation)),
                    errhint("Use INSERT and UPDATE.")));
  return key;
}

bool changes_a_row(SPIPlanPtr plan, Datum row, int wanted) {
  const int result = SPI_execute_plan(plan, &row, nullptr, false, 0);
  if (result != wanted) elog(ERROR, "a statement of store_upsert failed: %s", SPI_result_code_string(result));
  return SPI_processed != 0;
}

bool upsert(Oid relid, Datum row, Oid row_type) {
  if (row_type == RECORDOID || !type_is_rowtype(row_type))
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("store_upsert needs a row of a named type"),
                    errhint("Cast the row to the table's type, as in ROW(…)::name_of_the_table.")));
  Relation relation = strom::pg::fdw_gstore::open_named_table(relid, RowExclusiveLock);
  const store::Table* table = store::open_table(relation);
  const char* key_name = pstrdup(NameStr(key_of(table, relation)->attname));
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  TupleDesc description = lookup_rowtype_tupdesc_domain(row_type, -1, false);
  const Statements* statements = statements_for(relation, row_type, description, key_name);
  ReleaseTupleDesc(description);
  // Another session may insert or delete the row between the two statements. A trigger may prevent the change each
  // time.
  const TriggerDesc* triggers = relation->trigdesc;
  const bool may_be_kept_away =
      triggers != nullptr && (triggers->trig_insert_before_row || triggers->trig_update_before_row);
  bool is_new = false;
  while (!changes_a_row(statements->update, row, SPI_OK_UPDATE)) {
    is_new = changes_a_row(statements->insert, row, SPI_OK_INSERT);
    if (is_new || may_be_kept_away) break;
    CHECK_FOR_INTERRUPTS();
  }
  SPI_finish();
  table_close(relation, NoLock);
  return is_new;
}

}  // namespace

/// pgstrom.store_upsert(regclass, anyelement) -> whether the row is new
STROM_SQL_FUNCTION(strom_store_upsert) {
  return BoolGetDatum(boundary::guard([fcinfo] {
    const Oid row_type = get_fn_expr_argtype(fcinfo->flinfo, 1);
    return upsert(PG_GETARG_OID(0), PG_GETARG_DATUM(1), row_type);
  }));
}
