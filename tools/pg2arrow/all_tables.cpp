// See all_tables.hpp.
#include "pg2arrow/all_tables.hpp"

#include <fmt/format.h>

#include "dump/table_folder.hpp"

namespace strom::pg2arrow {

namespace {

struct Table {
  std::string schema, name, reference;  // reference: quoted for SQL
  bool is_partitioned = false;
};

Result<std::vector<Table>> tables_of(Connection& connection) {
  STROM_ASSIGN(
      const auto rows,
      connection.query(
          "SELECT n.nspname, c.relname, pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),"
          " c.relkind = 'p' FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
          " WHERE c.relkind IN ('r', 'm', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'"
          " AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'"
          " AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass"
          "  AND d.objid = c.oid AND d.deptype = 'e') ORDER BY 1, 2"));
  std::vector<Table> tables;
  tables.reserve(rows.size());
  for (const Row& row : rows) {
    tables.push_back({row[0].value_or(""), row[1].value_or(""), row[2].value_or(""), row[3].value_or("f") == "t"});
  }
  return tables;
}

}  // namespace

Result<DumpResult> dump_all_tables(Connection& connection, const Settings& settings, tool::Progress& progress) {
  STROM_ASSIGN(const std::vector<Table> tables, tables_of(connection));
  std::vector<tool::SourceTable> sources;
  sources.reserve(tables.size());
  for (const Table& table : tables) {
    sources.push_back({table.schema + "." + table.name, table.reference, table.reference, table.schema});
  }
  return tool::dump_tables(settings, sources, [&](size_t index, const std::string& path) {
    const Table& table = tables[index];
    Settings one = settings;
    // Rows of inheritance children have files of their own; those of partitions do not.
    one.command = fmt::format("SELECT * FROM {}{}{}", table.is_partitioned ? "" : "ONLY ", table.reference,
                              settings.workers > 1 ? " WHERE $(CTID_RANGE)" : "");
    one.ctid_target = table.reference;
    one.output.path = path;
    return dump(connection, one, progress);
  });
}

}  // namespace strom::pg2arrow
