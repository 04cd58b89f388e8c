// See field_index.hpp.
#include "pg/files/field_index.hpp"

#include <algorithm>
#include <charconv>

namespace strom::pg::files {

namespace {

/// Splits "name#2": returns 2, and `before` gets "name". Returns 0 when `name` is not of this form.
int ordinal_of(std::string_view name, std::string_view* before) {
  const size_t mark = name.rfind('#');
  if (mark == std::string_view::npos) return 0;
  int ordinal = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + mark + 1, end, ordinal);
  if (parsed.ec != std::errc() || parsed.ptr != end || ordinal < 1) return 0;
  *before = name.substr(0, mark);
  return ordinal;
}

// The n-th field called `name`, counting from 1, or -1.
int nth_field(const columnar::Schema& schema, std::string_view name, int n) {
  for (size_t i = 0; i < schema.fields.size(); ++i)
    if (schema.fields[i].name == name && --n == 0) return static_cast<int>(i);
  return -1;
}

}  // namespace

FieldIndex::FieldIndex(const columnar::Schema& schema) : schema_(schema) {
  by_name_.reserve(schema.fields.size());
  for (size_t i = 0; i < schema.fields.size(); ++i) by_name_[schema.fields[i].name].push_back(static_cast<int>(i));
}

int FieldIndex::find(std::string_view name) const {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second.front();
  std::string_view before;
  const int ordinal = ordinal_of(name, &before);
  const auto found = ordinal > 0 ? by_name_.find(before) : by_name_.end();
  if (found == by_name_.end() || static_cast<size_t>(ordinal) > found->second.size()) return -1;
  return found->second[static_cast<size_t>(ordinal) - 1];
}

std::optional<std::string> FieldIndex::name_of(int index) const {
  const std::string& name = schema_.fields[static_cast<size_t>(index)].name;
  const std::vector<int>& same = by_name_.find(name)->second;
  const auto ordinal = std::lower_bound(same.begin(), same.end(), index) - same.begin() + 1;
  std::string found = ordinal == 1 ? name : name + "#" + std::to_string(ordinal);
  if (find(found) != index) return std::nullopt;
  return found;
}

int find_field(const columnar::Schema& schema, std::string_view name) {
  if (const int field = nth_field(schema, name, 1); field >= 0) return field;
  std::string_view before;
  const int ordinal = ordinal_of(name, &before);
  return ordinal > 0 ? nth_field(schema, before, ordinal) : -1;
}

}  // namespace strom::pg::files
