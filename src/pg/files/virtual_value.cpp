// See virtual_value.hpp.
#include "pg/files/virtual_value.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/files/field_index.hpp"

namespace strom::pg::files {

namespace {

using Value = std::optional<std::string>;

Value of_path(const std::string& key, const TableOptions& options, const FileEntry& entry) {
  if (key == kPathName) return entry.path;
  if (key == kFileName) return entry.path.substr(entry.path.rfind('/') + 1);
  if (options.pattern.has_value()) {
    const auto& keys = options.pattern->keys();
    for (size_t i = 0; i < keys.size(); ++i)
      if (keys[i].name == key) return entry.values[i];
  }
  return folder_value(entry.path, key);
}

Value find(const columnar::KeyValues& metadata, std::string_view key) {
  for (const auto& [name, value] : metadata)
    if (name == key) return value;
  return std::nullopt;
}

// Finds KEY in the schema's metadata, else FIELD.KEY in a field's.
Value of_metadata(const std::string& key, const columnar::Schema& schema) {
  if (Value value = find(schema.metadata, key)) return value;
  for (size_t dot = key.rfind('.'); dot != std::string::npos && dot > 0; dot = key.rfind('.', dot - 1)) {
    const int field = find_field(schema, key.substr(0, dot));
    if (field < 0) continue;
    if (Value value = find(schema.fields[field].metadata, std::string_view(key).substr(dot + 1))) return value;
  }
  return std::nullopt;
}

std::vector<Value> elements(const std::string& list) {
  std::vector<Value> result;
  for (size_t begin = 0;;) {
    const size_t comma = list.find(',', begin);
    result.emplace_back(server_text(list.substr(begin, comma - begin)));
    if (comma == std::string::npos) break;
    begin = comma + 1;
  }
  if (result.size() == 1) result.emplace_back();  // record batches after the first are NULL, not the same value
  return result;
}

// Converts a text of the options to the encoding of files.
std::string file_text(const std::string& text) {
  return boundary::guard([&text] { return pg_server_to_any(text.c_str(), static_cast<int>(text.size()), PG_UTF8); });
}

}  // namespace

std::string server_text(const std::string& utf8) {
  return boundary::guard([&utf8] { return pg_any_to_server(utf8.c_str(), static_cast<int>(utf8.size()), PG_UTF8); });
}

std::vector<Value> virtual_values(const ColumnSource& from, const TableOptions& options, const FileEntry& entry,
                                  const format::arrow::FileReader& file) {
  if (from.kind == ColumnSource::Kind::kPath) return {of_path(from.name, options, entry)};
  const Value value = of_metadata(file_text(from.name), file.schema());
  if (!value.has_value()) return {std::nullopt};
  if (from.kind == ColumnSource::Kind::kMetadataSplit) return elements(*value);
  return {server_text(*value)};
}

}  // namespace strom::pg::files
