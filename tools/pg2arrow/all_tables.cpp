// See all_tables.hpp.
#include "pg2arrow/all_tables.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "base/os_error.hpp"
#include "format/arrow/nested_writer.hpp"

namespace strom::pg2arrow {

namespace {

using columnar::Kind;
using columnar::NestedField;

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
  for (const Row& row : rows) {
    tables.push_back({row[0].value_or(""), row[1].value_or(""), row[2].value_or(""), row[3].value_or("f") == "t"});
  }
  return tables;
}

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string literal(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

/// A folder separator in a name would be one in the path, too.
std::string file_name(const Table& table) {
  std::string out;
  for (const char c : table.schema + "." + table.name)
    out += c == '/' || c == '%' ? fmt::format("%{:02X}", c) : std::string(1, c);
  return out + ".arrow";
}

std::string sql_type(const NestedField& field) {
  if (field.dictionary >= 0) return "text";
  switch (field.kind) {
    case Kind::kBool: return "boolean";
    case Kind::kInt: return field.bits <= 16 ? "smallint" : field.bits == 32 ? "integer" : "bigint";
    case Kind::kUInt:
      return field.bits == 8    ? "smallint"
             : field.bits == 16 ? "integer"
             : field.bits == 32 ? "bigint"
                                : "numeric(20,0)";
    case Kind::kFloat: return field.bits == 32 ? "real" : "double precision";
    case Kind::kDecimal: return fmt::format("numeric({},{})", field.precision, field.scale);
    case Kind::kDate: return "date";
    case Kind::kTime: return "time";
    case Kind::kTimestamp: return field.timezone.empty() ? "timestamp" : "timestamptz";
    case Kind::kInterval: return "interval";
    case Kind::kBinary: return "bytea";
    case Kind::kUtf8: return "text";
    case Kind::kList: return sql_type(field.children.at(0)) + "[]";
    case Kind::kFixedBinary:
    case Kind::kStruct:
      for (const auto& [key, value] : field.metadata) {
        if (key == "pg_type") return value.substr(0, value.find('@'));
      }
      return field.kind == Kind::kStruct ? "jsonb" : "bytea";
    case Kind::kOther: break;
  }
  return "text";
}

Result<std::string> make_output_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    return base::os_error(errno, "could not create folder \"" + path + "\"");
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return base::os_error(errno, "could not find folder \"" + path + "\"");
  std::string folder = resolved;
  free(resolved);
  return folder;
}

}  // namespace

std::string create_table(const columnar::NestedSchema& schema, const std::string& name, const std::string& prefix) {
  std::string columns;
  for (const NestedField& field : schema.fields) {
    columns += fmt::format("{}\n  {} {}", columns.empty() ? "" : ",", quoted(field.name), sql_type(field));
  }
  return fmt::format("CREATE {}TABLE {} ({}\n)", prefix, name, columns);
}

Result<DumpResult> dump_all_tables(Connection& connection, const Settings& settings, tool::Progress& progress) {
  STROM_ASSIGN(const std::string folder, make_output_folder(settings.output.path));
  STROM_ASSIGN(const std::vector<Table> tables, tables_of(connection));
  DumpResult total{folder, 0, 0, 0};
  std::string script = "-- Foreign tables over the files that pg2arrow --all-tables has written.\n";
  for (const Table& table : tables) {
    Settings one = settings;
    // Rows of inheritance children have files of their own; those of partitions do not.
    one.command = fmt::format("SELECT * FROM {}{}{}", table.is_partitioned ? "" : "ONLY ", table.reference,
                              settings.workers > 1 ? " WHERE $(CTID_RANGE)" : "");
    one.ctid_target = table.reference;
    one.output.path = folder + "/" + file_name(table);
    Result<DumpResult> dumped = dump(connection, one, progress);
    if (!dumped.is_ok()) {
      const Status status = dumped.status();
      if (status.code() == ErrorCode::kCancelled) return status;
      return Status(status.code(), "table " + table.reference + ": " + status.message())
          .with_detail(status.detail())
          .with_hint(status.hint());
    }
    total.files += dumped.value().files;
    total.batches += dumped.value().batches;
    total.rows += dumped.value().rows;
    STROM_ASSIGN(const auto file, format::arrow::ExistingFile::open(one.output.path));
    script += create_table(file->schema, table.reference, "FOREIGN ") +
              fmt::format(" SERVER arrow_fdw OPTIONS (file {});\n", literal(one.output.path));
  }
  tool::OutputOptions output = settings.output;
  output.path = folder + "/create_tables.sql";
  STROM_ASSIGN(const auto sink, tool::open_output(output));
  STROM_TRY(sink->append({{script.data(), script.size()}}));
  STROM_TRY(sink->commit());
  return total;
}

}  // namespace strom::pg2arrow
