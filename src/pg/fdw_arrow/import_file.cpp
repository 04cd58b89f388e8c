// The SQL function arrow_fdw_import_file(): a foreign table over one file with any number of columns. PostgreSQL makes
// tables of up to 1600 columns. Further columns are added to its catalogs here, up to the limit of column numbers.
#include <string>

#include "pg/boundary/boundary.hpp"
#include "pg/fdw_arrow/import.hpp"

namespace boundary = strom::pg::boundary;
namespace catalog = strom::pg::catalog;
namespace fdw = strom::pg::fdw_arrow;
namespace files = strom::pg::files;
using boundary::guard;

namespace {

constexpr size_t kMostDeclared = MaxHeapAttributeNumber;
// Column numbers have 16 bits, and PostgreSQL's loops count one further.
constexpr size_t kMostColumns = 32000;

/// What add_columns() needs of a column: plain data.
struct NewColumn {
  const char* name;
  const char* field;  // column option, or nullptr
  Oid type;
  int32 typmod;
};

void run(const std::string& sql) {
  guard([&sql] {
    SPI_connect();
    if (SPI_execute(sql.c_str(), false, 0) != SPI_OK_UTILITY) elog(ERROR, "CREATE FOREIGN TABLE failed");
    SPI_finish();
  });
}

// The schema in which CREATE puts a table whose name is not qualified.
std::string creation_schema(const std::string& table) {
  return guard([&table] {
    return get_namespace_name(RangeVarGetCreationNamespace(makeRangeVar(nullptr, pstrdup(table.c_str()), -1)));
  });
}

// Functions below may ereport.

// Options in the form of the catalogs.
Datum option_array(const char* option, const char* value) {
  Datum item = CStringGetTextDatum(psprintf("%s=%s", option, value));
  return PointerGetDatum(construct_array(&item, 1, TEXTOID, -1, false, TYPALIGN_INT));
}

/// The row of pg_attribute for `column`: a copy of the first column's row with other values where they differ.
/// May ereport.
HeapTuple attribute_row(Relation attributes, HeapTuple like, const NewColumn& column, AttrNumber number) {
  Datum values[Natts_pg_attribute] = {};
  bool nulls[Natts_pg_attribute] = {}, replaces[Natts_pg_attribute] = {};
  HeapTuple type = SearchSysCache1(TYPEOID, ObjectIdGetDatum(column.type));
  if (!HeapTupleIsValid(type)) elog(ERROR, "cache lookup failed for type %u", column.type);
  const auto* form = reinterpret_cast<Form_pg_type>(GETSTRUCT(type));
  NameData name;
  namestrcpy(&name, column.name);
  const auto set = [&](AttrNumber attribute, Datum value) {
    values[attribute - 1] = value;
    replaces[attribute - 1] = true;
  };
  set(Anum_pg_attribute_attname, NameGetDatum(&name));
  set(Anum_pg_attribute_atttypid, ObjectIdGetDatum(column.type));
  set(Anum_pg_attribute_attlen, Int16GetDatum(form->typlen));
  set(Anum_pg_attribute_attnum, Int16GetDatum(number));
  set(Anum_pg_attribute_attndims, Int16GetDatum(IsTrueArrayType(form) ? 1 : 0));
  set(Anum_pg_attribute_atttypmod, Int32GetDatum(column.typmod));
  set(Anum_pg_attribute_attbyval, BoolGetDatum(form->typbyval));
  set(Anum_pg_attribute_attalign, CharGetDatum(form->typalign));
  set(Anum_pg_attribute_attstorage, CharGetDatum(form->typstorage));
  set(Anum_pg_attribute_attnotnull, BoolGetDatum(false));
  set(Anum_pg_attribute_attcollation, ObjectIdGetDatum(form->typcollation));
  set(Anum_pg_attribute_attfdwoptions, column.field != nullptr ? option_array("field", column.field) : Datum{0});
  nulls[Anum_pg_attribute_attfdwoptions - 1] = column.field == nullptr;
  ReleaseSysCache(type);
  return heap_modify_tuple(like, RelationGetDescr(attributes), values, nulls, replaces);
}

void add_dependencies(Oid relid, AttrNumber number, Oid type) {
  ObjectAddress column, other;
  ObjectAddressSubSet(column, RelationRelationId, relid, number);
  ObjectAddressSet(other, TypeRelationId, type);
  recordDependencyOn(&column, &other, DEPENDENCY_NORMAL);
  const Oid collation = get_typcollation(type);
  if (!OidIsValid(collation) || collation == DEFAULT_COLLATION_OID) return;
  ObjectAddressSet(other, CollationRelationId, collation);
  recordDependencyOn(&column, &other, DEPENDENCY_NORMAL);
}

/// Sets the table's number of columns to `count`, and drops its row type: PostgreSQL's code for rows cannot hold so
/// many columns, and does not check that everywhere. May ereport.
void finish_table(Oid relid, int count) {
  Relation classes = table_open(RelationRelationId, RowExclusiveLock);
  HeapTuple row = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(relid));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for relation %u", relid);
  auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
  ObjectAddress row_type;
  ObjectAddressSet(row_type, TypeRelationId, form->reltype);
  form->relnatts = static_cast<int16>(count);
  form->reltype = InvalidOid;
  CatalogTupleUpdate(classes, &row->t_self, row);
  heap_freetuple(row);
  table_close(classes, RowExclusiveLock);
  CommandCounterIncrement();
  deleteDependencyRecordsFor(TypeRelationId, row_type.objectId, false);
  CommandCounterIncrement();
  performDeletion(&row_type, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
}

/// Adds the columns. This command has made the table, so no other session knows it yet. May ereport.
void add_columns(const char* schema, const char* table, const NewColumn* columns, int count) {
  const Oid relid = RangeVarGetRelid(makeRangeVar(pstrdup(schema), pstrdup(table), -1), AccessExclusiveLock, false);
  Relation relation = table_open(relid, NoLock);
  const int before = RelationGetNumberOfAttributes(relation);
  table_close(relation, NoLock);
  Relation attributes = table_open(AttributeRelationId, RowExclusiveLock);
  CatalogIndexState indexes = CatalogOpenIndexes(attributes);
  HeapTuple like = SearchSysCacheCopy2(ATTNUM, ObjectIdGetDatum(relid), Int16GetDatum(1));
  if (!HeapTupleIsValid(like)) elog(ERROR, "table %u has no first column", relid);
  for (int i = 0; i < count; ++i) {
    CHECK_FOR_INTERRUPTS();
    const auto number = static_cast<AttrNumber>(before + i + 1);
    HeapTuple row = attribute_row(attributes, like, columns[i], number);
    CatalogTupleInsertWithInfo(attributes, row, indexes);
    add_dependencies(relid, number, columns[i].type);
    heap_freetuple(row);
  }
  CatalogCloseIndexes(indexes);
  table_close(attributes, RowExclusiveLock);
  finish_table(relid, before + count);
}

}  // namespace

/// pgstrom.arrow_fdw_import_file(relname text, file text, schema text, named_types text)
STROM_SQL_FUNCTION(strom_arrow_fdw_import_file) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
    boundary::throw_if_failed(
        strom::Status(strom::ErrorCode::kBadOption, "the table's name and the file are required"));
  const auto argument = [fcinfo](int n) { return guard([=] { return text_to_cstring(PG_GETARG_TEXT_PP(n)); }); };
  const std::string table = argument(0);
  const std::string schema = PG_ARGISNULL(2) ? creation_schema(table) : argument(2);
  const std::vector<catalog::Option> options{{"file", argument(1)}};
  const files::TableOptions parsed = boundary::value_or_throw(files::parse_table_options(options));
  files::require_file_privilege();

  const auto named_types = PG_ARGISNULL(3) ? strom::pg::codec::NamedTypes::kTrusted
                                           : boundary::value_or_throw(files::parse_named_types(argument(3)));
  std::vector<fdw::TableColumn> columns = fdw::import_columns(parsed, named_types);
  if (columns.size() > kMostColumns)
    boundary::throw_if_failed(
        strom::Status(strom::ErrorCode::kTooManyColumns,
                      "file \"" + parsed.files.front() + "\" has " + std::to_string(columns.size()) + " fields")
            .with_detail("Tables can have at most " + std::to_string(kMostColumns) + "."));
  const size_t declared = std::min(columns.size(), kMostDeclared);
  run(fdw::create_statement(fdw::quote_name(schema) + "." + fdw::quote_name(table), "arrow_fdw",
                            std::span(columns).first(declared), options));
  std::vector<NewColumn> further;
  for (size_t i = declared; i < columns.size(); ++i) {
    const fdw::TableColumn& column = columns[i];
    further.push_back({column.name.c_str(), column.option.empty() ? nullptr : column.value.c_str(), column.type.oid,
                       column.type.typmod});
  }
  if (!further.empty())
    guard([&] { add_columns(schema.c_str(), table.c_str(), further.data(), static_cast<int>(further.size())); });
  PG_RETURN_VOID();
}
