// IMPORT FOREIGN SCHEMA. The "remote schema" is the name of the new table; its columns are those of the files.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "format/arrow/read/fixed_text.hpp"
#include "format/arrow/read/reader_cache.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/fdw_arrow/callbacks.hpp"
#include "pg/files/field_index.hpp"
#include "pg/fdw_arrow/import.hpp"
#include "pg/files/virtual_value.hpp"

namespace strom::pg::fdw_arrow {

using namespace files;

using boundary::guard;
using boundary::throw_if_failed;
using columnar::Field;
using format::arrow::FileReader;

std::string quote_name(const std::string& name) {
  return guard([&name] { return quote_identifier(name.c_str()); });
}

namespace {

constexpr const char* kSystemColumns[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};

std::string quote_text(const std::string& text) {
  return guard([&text] { return quote_literal_cstr(text.c_str()); });
}

std::string clipped(const std::string& name, int room) {
  return name.substr(0, pg_mbcliplen(name.c_str(), static_cast<int>(name.size()), room));
}

/// Makes unique names for columns.
class ColumnNames {
 public:
  /// The field's name, shortened and numbered where needed.
  std::string add(const std::string& field_name) {
    const std::string base = field_name.empty() ? "column" : field_name;
    std::string name = clipped(base, NAMEDATALEN - 1);
    for (int* n = &next_[name]; !taken_.insert(name).second;) {
      const std::string ending = "_" + std::to_string(++*n);
      name = clipped(base, NAMEDATALEN - 1 - static_cast<int>(ending.size())) + ending;
    }
    return name;
  }

 private:
  std::set<std::string> taken_{std::begin(kSystemColumns), std::end(kSystemColumns)};
  std::map<std::string, int> next_;  // the last number tried for each name
};

using Files = std::vector<std::shared_ptr<const FileReader>>;

Files open_files(const std::vector<FileEntry>& entries, const std::string& dir) {
  if (entries.empty())
    throw_if_failed(Status(ErrorCode::kFileNotFound,
                           dir.empty() ? std::string("no file matches the pattern")
                                       : "directory \"" + dir + "\" has no Arrow file to take columns from"));
  Files files;
  for (const FileEntry& entry : entries) {
    boundary::check_for_interrupts();
    files.push_back(boundary::value_or_throw(format::arrow::open_cached(entry.path)));
  }
  return files;
}

/// A column of the new table.
struct ImportedColumn {
  std::string field;  // in the form that FieldIndex::find() expects
  codec::SqlType type;
  bool nullable;
  size_t file;         // the first file that has it
  const Field* first;  // the field in that file
};

// True if a column of type `wider` can read all `fields`, which are the fields of all files so far.
bool all_fit(const std::vector<const Field*>& fields, codec::SqlType wider) {
  return std::all_of(fields.begin(), fields.end(),
                     [&](const Field* field) { return codec::fit(*field, wider) != codec::Fit::kNone; });
}

/// Collects the fields of all files, in the order of their first occurrence.
class Columns {
 public:
  Columns(const Files& files, bool missing_is_null, codec::NamedTypes named_types)
      : files_(files), missing_is_null_(missing_is_null), named_types_(named_types) {
    for (size_t file = 0; file < files.size(); ++file) {
      boundary::check_for_interrupts();
      add_file(file);
    }
  }

  std::vector<ImportedColumn> take() {
    for (ImportedColumn& column : columns_)
      if (column.type.oid == BYTEAOID && format::arrow::may_be_fixed_text(*column.first)) find_text(&column);
    return std::move(columns_);
  }

 private:
  void add_file(size_t file) {
    const columnar::Schema& schema = files_[file]->schema();
    const FieldIndex index(schema);
    std::vector<bool> known(schema.fields.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      const int found = index.find(columns_[i].field);
      if (found < 0)
        missing(columns_[i].field, file, columns_[i].file, &columns_[i]);
      else
        merge(schema.fields[static_cast<size_t>(found)], file, i);
      if (found >= 0) known[static_cast<size_t>(found)] = true;
    }
    for (size_t i = 0; i < schema.fields.size(); ++i)
      if (!known[i]) add_column(index, static_cast<int>(i), file);
  }

  void missing(const std::string& field, size_t without, size_t with, ImportedColumn* column) const {
    if (!missing_is_null_)
      throw_if_failed(Status(ErrorCode::kTypeMismatch,
                             "field \"" + field + "\" was not found in file \"" + files_[without]->path() + "\"")
                          .with_detail("File \"" + files_[with]->path() + "\" has it.")
                          .with_hint("With the table's option missing_columns 'null' it is NULL there."));
    if (column != nullptr) column->nullable = true;
  }

  void add_column(const FieldIndex& index, int position, size_t file) {
    const Field& field = files_[file]->schema().fields[static_cast<size_t>(position)];
    const std::optional<std::string> name = index.name_of(position);
    if (!name.has_value())
      throw_if_failed(
          Status(ErrorCode::kUnsupported, "several fields called \"" + field.name + "\" cannot be told apart"));
    if (file > 0) missing(*name, 0, file, nullptr);
    if (const std::string feature = codec::unsupported_feature(field); !feature.empty())
      throw_if_failed(Status(ErrorCode::kUnsupported, "field \"" + field.name + "\" of file \"" + files_[file]->path() +
                                                          "\" cannot be read: " + feature + " is not supported"));
    columns_.push_back({*name, type_of(field), field.nullable || file > 0, file, &field});
    fields_.push_back({&field});
    tell_of_type(columns_.back());
  }

  codec::SqlType type_of(const Field& field) const { return codec::sql_type_of(field, named_types_); }

  // Reports a type that the file names but that is not used.
  void tell_of_type(const ImportedColumn& column) const {
    const codec::SqlType named = codec::sql_type_of(*column.first, codec::NamedTypes::kAny);
    if (named.oid == column.type.oid) return tell_of_geometry(column);
    const std::string name = server_text(column.field), path = files_[column.file]->path();
    const std::string wanted = codec::type_name(named), taken = codec::type_name(column.type);
    guard([&] {
      ereport(NOTICE, (errmsg("field \"%s\" is imported as %s, not as %s", name.c_str(), taken.c_str(), wanted.c_str()),
                       errdetail("File \"%s\" names a type that belongs neither to PostgreSQL nor to an extension.",
                                 path.c_str()),
                       errhint("If you trust the owner of the type, import with the option named_types 'any'.")));
    });
  }

  // Reports that PostGIS is missing.
  void tell_of_geometry(const ImportedColumn& column) const {
    if (!format::geoarrow::geometry_field(*column.first)) return;
    if (guard([] { return OidIsValid(get_extension_oid("postgis", true)); })) return;
    const std::string name = server_text(column.field), taken = codec::type_name(column.type);
    guard([&] {
      ereport(NOTICE, (errmsg("field \"%s\" holds geometries and is imported as %s", name.c_str(), taken.c_str()),
                       errdetail("The extension postgis is not there.")));
    });
  }

  // If two types differ only in width, the column gets the wider one.
  void merge(const Field& found, size_t file, size_t index) {
    ImportedColumn& column = columns_[index];
    if (codec::fit(found, column.type) == codec::Fit::kNone) {
      const codec::SqlType wider = type_of(found);
      if (!OidIsValid(wider.oid) || wider.oid == BPCHAROID || !all_fit(fields_[index], wider))
        throw_if_failed(Status(ErrorCode::kTypeMismatch, "field \"" + column.field + "\" of file \"" +
                                                             files_[file]->path() + "\" has type " +
                                                             columnar::type_text(found))
                            .with_detail("In file \"" + files_[column.file]->path() + "\" its type is " +
                                         columnar::type_text(*column.first) + "."));
      column.type = wider;
    }
    column.nullable = column.nullable || found.nullable;
    if (type_of(found).oid != type_of(*fields_[index].back()).oid) fields_[index].push_back(&found);
  }

  // Fixed-size bytes with one width in all files become char(n) if the values looked at are text.
  void find_text(ImportedColumn* column) const {
    constexpr size_t kMostFiles = 100;
    format::arrow::FixedTextSample sample;
    const size_t step = std::max<size_t>(1, files_.size() / kMostFiles);
    for (size_t file = 0; file < files_.size(); ++file) {
      const columnar::Schema& schema = files_[file]->schema();
      const int found = FieldIndex(schema).find(column->field);
      if (found < 0) continue;
      const Field& field = schema.fields[static_cast<size_t>(found)];
      if (!format::arrow::may_be_fixed_text(field) || field.byte_width != column->first->byte_width) return;
      if (file % step != 0 || sample.has_other()) continue;
      boundary::check_for_interrupts();
      throw_if_failed(format::arrow::sample_fixed_text(*files_[file], found, &sample));
    }
    if (sample.is_text()) column->type = {BPCHAROID, column->first->byte_width + VARHDRSZ};
  }

  const Files& files_;
  const bool missing_is_null_;
  const codec::NamedTypes named_types_;
  std::vector<ImportedColumn> columns_;
  std::vector<std::vector<const Field*>> fields_;  // for each column its fields of different types
};

// True if all present values of `key` are numbers.
bool are_numbers(const std::vector<FileEntry>& entries, const std::string& key) {
  constexpr size_t kMostDigits = 18;
  return std::all_of(entries.begin(), entries.end(), [&](const FileEntry& entry) {
    const auto value = folder_value(entry.path, key);
    return !value.has_value() || (!value->empty() && value->size() <= kMostDigits &&
                                  value->find_first_not_of("0123456789") == std::string::npos);
  });
}

// Adds columns for the keys in the files' names.
void add_virtual_columns(const TableOptions& options, const std::vector<FileEntry>& entries,
                         std::vector<TableColumn>* columns, ColumnNames* names) {
  if (!options.pattern.has_value()) return;
  const auto add = [&](const std::string& key, bool is_number) {
    guard([&key] { pg_verifymbstr(key.c_str(), static_cast<int>(key.size()), false); });
    columns->push_back({names->add(key), {static_cast<Oid>(is_number ? INT8OID : TEXTOID), -1}, "virtual", key, true});
  };
  std::set<std::string> known;
  for (const auto& key : options.pattern->keys()) {
    add(key.name, key.is_number);
    known.insert(key.name);
  }
  if (!options.pattern->has_folders()) return;
  for (const FileEntry& entry : entries)
    for (const std::string& key : folder_keys(std::string_view(entry.path).substr(options.dir.size())))
      if (known.insert(key).second) add(key, are_numbers(entries, key));
}

}  // namespace

void require_declarable(const TableOptions& options, size_t columns) {
  if (columns <= MaxHeapAttributeNumber) return;
  const bool is_one_file = options.files.size() == 1 && options.dir.empty();
  throw_if_failed(Status(ErrorCode::kTooManyColumns, "the table would have " + std::to_string(columns) + " columns")
                      .with_detail("IMPORT FOREIGN SCHEMA makes tables of at most " +
                                   std::to_string(MaxHeapAttributeNumber) + " columns.")
                      .with_hint("pgstrom.arrow_fdw_import_file(relname, file, schema) makes tables of more columns" +
                                 std::string(is_one_file ? "." : ", each over one file.")));
}

std::vector<TableColumn> import_columns(const TableOptions& options, codec::NamedTypes named_types) {
  const std::vector<FileEntry> entries = boundary::value_or_throw(list_files(options));
  const Files files = open_files(entries, options.dir);
  std::vector<TableColumn> columns;
  ColumnNames names;
  for (const ImportedColumn& column : Columns(files, options.missing_is_null, named_types).take()) {
    const std::string wanted = server_text(column.field);
    TableColumn made{names.add(server_text(column.first->name)), column.type, "", "", column.nullable};
    if (made.name != wanted) made.option = "field", made.value = wanted;
    columns.push_back(std::move(made));
  }
  add_virtual_columns(options, entries, &columns, &names);
  return columns;
}

std::string create_statement(const std::string& table, const std::string& server, std::span<const TableColumn> columns,
                             const std::vector<catalog::Option>& options) {
  std::string sql = "CREATE FOREIGN TABLE " + table + " (";
  for (const TableColumn& column : columns) {
    sql += (&column == columns.data() ? "" : ", ") + quote_name(column.name) + " " + codec::type_name(column.type);
    if (!column.option.empty()) sql += " OPTIONS (" + column.option + " " + quote_text(column.value) + ")";
    if (!column.nullable) sql += " NOT NULL";
  }
  sql += ") SERVER " + quote_name(server) + " OPTIONS (";
  for (size_t i = 0; i < options.size(); ++i)
    sql += (i == 0 ? "" : ", ") + quote_name(options[i].name) + " " + quote_text(options[i].value);
  return sql + ")";
}

}  // namespace strom::pg::fdw_arrow

// May ereport.
List* strom_arrow_import(ImportForeignSchemaStmt* stmt, Oid server_oid) {
  if (stmt->list_type != FDW_IMPORT_SCHEMA_ALL)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("arrow_fdw does not support LIMIT TO and EXCEPT"),
                    errhint("The name after IMPORT FOREIGN SCHEMA is that of the one table to be made.")));
  return strom::pg::boundary::entry([&] {
    namespace fdw = strom::pg::fdw_arrow;
    namespace files = strom::pg::files;
    auto options = strom::pg::catalog::read_options(stmt->options);
    const auto importing = strom::pg::boundary::value_or_throw(files::take_import_options(&options));
    const auto parsed = strom::pg::boundary::value_or_throw(files::parse_table_options(options));
    files::require_file_privilege();
    const std::vector<fdw::TableColumn> columns = fdw::import_columns(parsed, importing.named_types);
    fdw::require_declarable(parsed, columns.size());
    const std::string sql =
        fdw::create_statement(fdw::quote_name(stmt->remote_schema), stmt->server_name, columns, options);
    return strom::pg::boundary::guard([&sql] { return list_make1(pstrdup(sql.c_str())); });
  });
}
