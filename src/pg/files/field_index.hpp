// Fields of a file by their names. Used where many columns are looked up; see find_field() for single ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "columnar/schema.hpp"

namespace strom::pg::files {

class FieldIndex {
 public:
  /// `schema` outlives this object.
  explicit FieldIndex(const columnar::Schema& schema);

  /// Index of the field called `name`, or -1. Where fields share a name, "name#2" is the second of them (unless a field
  /// is really called so) and "name" the first.
  int find(std::string_view name) const;

  /// The name that find() maps to field `index`; nullopt when there is none.
  std::optional<std::string> name_of(int index) const;

 private:
  const columnar::Schema& schema_;
  std::unordered_map<std::string_view, std::vector<int>> by_name_;
};

/// The same as FieldIndex(schema).find(name).
int find_field(const columnar::Schema& schema, std::string_view name);

}  // namespace strom::pg::files
