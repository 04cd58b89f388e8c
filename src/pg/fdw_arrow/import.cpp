// IMPORT FOREIGN SCHEMA: the "remote schema" is the name of the table to make, its columns are those of the files.
#include <set>
#include <string>

#include "format/arrow/reader_cache.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/fdw_arrow/callbacks.hpp"
#include "pg/fdw_arrow/options.hpp"
#include "pg/fdw_arrow/source.hpp"

namespace strom::pg::fdw_arrow {
namespace {

using boundary::guard;
using boundary::throw_if_failed;
using columnar::Field;
using format::arrow::FileReader;

constexpr const char* kSystemColumns[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};

std::string quote_name(const std::string& name) {
  return guard([&name] { return quote_identifier(name.c_str()); });
}

std::string quote_text(const std::string& text) {
  return guard([&text] { return quote_literal_cstr(text.c_str()); });
}

// The file's names are UTF-8.
std::string server_text(const std::string& utf8) {
  return guard([&utf8] { return pg_any_to_server(utf8.c_str(), static_cast<int>(utf8.size()), PG_UTF8); });
}

std::string clipped(const std::string& name, int room) {
  return name.substr(0, pg_mbcliplen(name.c_str(), static_cast<int>(name.size()), room));
}

// A name that fits into a column's and is not `taken` yet: the field's own, cut and numbered where needed.
std::string column_name(const std::string& field_name, std::set<std::string>* taken) {
  const std::string base = field_name.empty() ? "column" : field_name;
  std::string name = clipped(base, NAMEDATALEN - 1);
  for (int n = 1; !taken->insert(name).second; ++n) {
    const std::string ending = "_" + std::to_string(n);
    name = clipped(base, NAMEDATALEN - 1 - static_cast<int>(ending.size())) + ending;
  }
  return name;
}

// What the column option `field` has to say so that find_field() finds field `index`.
Result<std::string> field_option(const columnar::Schema& schema, int index) {
  const std::string& name = schema.fields[index].name;
  int ordinal = 1;
  for (int i = 0; i < index; ++i) ordinal += schema.fields[i].name == name;
  std::string option = ordinal == 1 ? name : name + "#" + std::to_string(ordinal);
  if (find_field(schema, option) == index) return option;
  return Status(ErrorCode::kUnsupported, "several fields called \"" + name + "\" cannot be told apart");
}

Status check_same_field(const Field& field, const std::string& option, const FileReader& first,
                        const FileReader& other) {
  const int index = find_field(other.schema(), option);
  if (index < 0)
    return Status(ErrorCode::kTypeMismatch, "field \"" + option + "\" was not found in file \"" + other.path() + "\"")
        .with_detail("File \"" + first.path() + "\" has it.");
  const Field& found = other.schema().fields[index];
  const codec::SqlType mapped = codec::sql_type_of(field);
  if (codec::fit(found, mapped) != codec::Fit::kNone) return Status::ok();
  return Status(ErrorCode::kTypeMismatch,
                "field \"" + option + "\" of file \"" + other.path() + "\" has type " + codec::arrow_type_name(found))
      .with_detail("In file \"" + first.path() + "\" its type is " + codec::arrow_type_name(field) + ".");
}

using Files = std::vector<std::shared_ptr<const FileReader>>;

Files open_files(const std::vector<std::string>& paths, const std::string& dir) {
  if (paths.empty())
    throw_if_failed(
        Status(ErrorCode::kFileNotFound, "directory \"" + dir + "\" has no Arrow file to take columns from"));
  Files files;
  for (const std::string& path : paths) {
    boundary::check_for_interrupts();
    files.push_back(boundary::value_or_throw(format::arrow::open_cached(path)));
  }
  return files;
}

// "name type [OPTIONS (field '...')] [NOT NULL]" for one field of the first file, which all others must have too.
std::string column_definition(const Files& files, int index, std::set<std::string>* taken) {
  const columnar::Schema& schema = files[0]->schema();
  const Field& field = schema.fields[index];
  if (const std::string feature = codec::unsupported_feature(field); !feature.empty())
    throw_if_failed(Status(ErrorCode::kUnsupported, "field \"" + field.name + "\" of file \"" + files[0]->path() +
                                                        "\" cannot be read: " + feature + " is not supported"));
  const std::string option = boundary::value_or_throw(field_option(schema, index));
  bool nullable = field.nullable;
  for (size_t i = 1; i < files.size(); ++i) {
    throw_if_failed(check_same_field(field, option, *files[0], *files[i]));
    nullable = nullable || files[i]->schema().fields[find_field(files[i]->schema(), option)].nullable;
  }
  const std::string name = column_name(server_text(field.name), taken);
  std::string definition = quote_name(name) + " " + codec::type_name(codec::sql_type_of(field));
  const std::string wanted = server_text(option);
  if (name != wanted) definition += " OPTIONS (field " + quote_text(wanted) + ")";
  if (!nullable) definition += " NOT NULL";
  return definition;
}

// A field that only a later file has would be lost silently.
void check_no_further_fields(const Files& files) {
  for (const auto& file : files) {
    if (file->schema().fields.size() <= files[0]->schema().fields.size()) continue;
    for (const Field& field : file->schema().fields)
      if (find_field(files[0]->schema(), field.name) < 0)
        throw_if_failed(Status(ErrorCode::kTypeMismatch,
                               "field \"" + field.name + "\" was not found in file \"" + files[0]->path() + "\"")
                            .with_detail("File \"" + file->path() + "\" has it."));
  }
}

std::string create_statement(const std::string& table, const std::string& server,
                             const std::vector<catalog::Option>& options) {
  const TableOptions parsed = boundary::value_or_throw(parse_table_options(options));
  require_file_privilege();
  const Files files = open_files(boundary::value_or_throw(list_files(parsed)), parsed.dir);
  std::string sql = "CREATE FOREIGN TABLE " + quote_name(table) + " (";
  std::set<std::string> taken(std::begin(kSystemColumns), std::end(kSystemColumns));
  for (size_t i = 0; i < files[0]->schema().fields.size(); ++i)
    sql += (i == 0 ? "" : ", ") + column_definition(files, static_cast<int>(i), &taken);
  check_no_further_fields(files);
  sql += ") SERVER " + quote_name(server) + " OPTIONS (";
  for (size_t i = 0; i < options.size(); ++i)
    sql += (i == 0 ? "" : ", ") + quote_name(options[i].name) + " " + quote_text(options[i].value);
  return sql + ")";
}

}  // namespace
}  // namespace strom::pg::fdw_arrow

List* strom_arrow_import(ImportForeignSchemaStmt* stmt, Oid server_oid) {
  if (stmt->list_type != FDW_IMPORT_SCHEMA_ALL)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("arrow_fdw does not support LIMIT TO and EXCEPT"),
                    errhint("The name after IMPORT FOREIGN SCHEMA is that of the one table to be made.")));
  return strom::pg::boundary::entry([&] {
    const auto options = strom::pg::catalog::read_options(stmt->options);
    const std::string sql = strom::pg::fdw_arrow::create_statement(stmt->remote_schema, stmt->server_name, options);
    return strom::pg::boundary::guard([&sql] { return list_make1(pstrdup(sql.c_str())); });
  });
}
