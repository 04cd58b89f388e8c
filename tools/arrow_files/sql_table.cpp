// See sql_table.hpp.
#include "arrow_files/sql_table.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "arrow_files/columns.hpp"
#include "arrow_files/named_type.hpp"
#include "format/arrow/read/fixed_text.hpp"

namespace strom::tool {

using columnar::Field;
using columnar::Layout;

namespace {

/// Names in comments: a line end would end the comment.
std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

constexpr size_t kLongestName = 63;  // bytes of an identifier

/// At most `room` bytes, and no half characters.
std::string clipped(const std::string& name, size_t room) {
  if (name.size() <= room) return name;
  while (room > 0 && (static_cast<unsigned char>(name[room]) & 0xC0) == 0x80) --room;
  return name.substr(0, room);
}

/// The column option that tells Arrow_Fdw which of the fields of this name is meant.
std::string field_option(const std::vector<Field>& fields, size_t index) {
  int ordinal = 1;
  for (size_t i = 0; i < index; ++i) ordinal += fields[i].name == fields[index].name;
  return ordinal == 1 ? fields[index].name : fields[index].name + "#" + std::to_string(ordinal);
}

std::string column_list(const std::vector<Field>& fields, const SqlTable& table) {
  const bool is_foreign = !table.foreign_file.empty();
  std::string list, comments;
  const std::vector<std::string> names = column_names(fields);
  for (size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    const std::string type = sql_type(field, table.named);
    if (type.empty()) {
      comments +=
          "  -- " + one_line(quote_identifier(field.name)) + ": " + value_type_text(field) + " cannot be read\n";
      continue;
    }
    list += std::string(list.empty() ? "" : ",\n") + "  " + quote_identifier(names[i]) + " " + type;
    if (is_foreign && names[i] != field_option(fields, i))
      list += " OPTIONS (field " + quote_literal(field_option(fields, i)) + ")";
    if (!field.nullable && table.has_constraints) list += " NOT NULL";
  }
  return list + (list.empty() ? "" : "\n") + comments;
}

}  // namespace

std::optional<std::string> metadata_type(const Field& field) {
  const std::optional<NamedType> named = named_type(field.metadata);
  if (!named || !named->is_builtin() || named->name.starts_with("_")) return std::nullopt;
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), named->name) != names.end();
  };
  bool is_right = false;
  switch (field.layout) {
    case Layout::kUtf8:
    case Layout::kLargeUtf8:
    case Layout::kUtf8View: is_right = true; break;
    case Layout::kUInt32: is_right = is_one_of({"oid", "xid", "cid"}); break;
    case Layout::kUInt64: is_right = is_one_of({"xid8", "pg_lsn"}); break;
    case Layout::kInt64: is_right = is_one_of({"money"}); break;
    case Layout::kFixedBinary:
      is_right = is_one_of({"uuid", "macaddr", "macaddr8", "inet", "cidr", "tid", "bytea"});
      break;
    default: break;
  }
  if (field.layout == Layout::kFixedBinary && named->name == "bpchar")
    return "char(" + std::to_string(field.byte_width) + ")";
  return is_right ? std::optional(named->sql()) : std::nullopt;
}

std::vector<std::string> column_names(const std::vector<Field>& fields) {
  std::vector<std::string> names;
  std::set<std::string> taken = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};
  for (const Field& field : fields) {
    const std::string base = field.name.empty() ? "column" : field.name;
    std::string name = clipped(base, kLongestName);
    for (int n = 1; !taken.insert(name).second; ++n) {
      const std::string ending = "_" + std::to_string(n);
      name = clipped(base, kLongestName - ending.size()) + ending;
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::string quote_table_name(const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return quote_identifier(name);
  return quote_identifier(name.substr(0, dot)) + "." + quote_identifier(name.substr(dot + 1));
}

std::string create_table(const std::vector<Field>& fields, const SqlTable& table) {
  std::string sql = table.foreign_file.empty() ? "CREATE TABLE " : "CREATE FOREIGN TABLE ";
  sql += table.reference.empty() ? quote_table_name(table.name) : table.reference;
  if (!table.partition_of.empty()) {  // its columns are those of the parent
    sql += " PARTITION OF " + quote_table_name(table.partition_of) + " " +
           (table.partition_bound.empty() ? "DEFAULT" : table.partition_bound);
  } else {
    sql += " (\n" + column_list(fields, table) + ")";
  }
  if (!table.foreign_file.empty()) sql += " SERVER arrow_fdw OPTIONS (file " + quote_literal(table.foreign_file) + ")";
  if (!table.tablespace.empty()) sql += " TABLESPACE " + quote_identifier(table.tablespace);
  return sql + ";\n";
}

Result<std::vector<Field>> with_binary_types(const format::arrow::FileReader& file) {
  std::vector<Field> fields = file.schema().fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].unsupported.empty() || !format::arrow::may_be_fixed_text(fields[i])) continue;
    format::arrow::FixedTextSample sample;
    STROM_TRY(format::arrow::sample_fixed_text(file, static_cast<int>(i), &sample));
    fields[i].metadata.emplace_back("pg_type", sample.is_text() ? "pg_catalog.bpchar" : "pg_catalog.bytea");
  }
  return fields;
}

}  // namespace strom::tool
