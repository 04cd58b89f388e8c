// Writes docs/user/functions.md from the tables of types, functions and aggregates, or with --check FILE tells whether
// FILE is that page.
//   functions_page > docs/user/functions.md
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "generated_page.hpp"
#include "registry/aggregates.hpp"
#include "registry/functions.hpp"
#include "registry/types.hpp"

namespace {

using strom::registry::AggregateInfo;
using strom::registry::FunctionGroup;
using strom::registry::FunctionInfo;
using strom::registry::TypeId;

const char kHead[] = R"(# Functions of the engine

Each function that the engine computes, by its name in `pg_proc`. An operator is listed by the function behind it:
`\do+` in psql shows which that is. [queries.md](queries.md#expressions-and-functions) says the same in words, with the
limits that apply. This page is made by `test/tools/functions_page.cpp` from the tables in `src/registry`.
)";

const char* const kGroupNames[] = {
#define STROM_FUNCTION_GROUP(name) #name,
#include "registry/function_groups.def"
#undef STROM_FUNCTION_GROUP
};

std::string code(const std::string& text) { return "`" + text + "`"; }

std::string type_name(TypeId type) { return strom::registry::type_info(type).pg_name; }

std::string signature(const FunctionInfo& row) {
  std::string types;
  for (int i = 0; i < row.nargs; ++i) types += (i > 0 ? ", " : "") + type_name(row.args[i]);
  return "(" + types + ")";
}

/// Values by names, which stand in the order in which they came.
class Table {
 public:
  void add(const std::string& name, const std::string& value) {
    std::string& values = rows_.at(row_of(name)).second;
    if ((", " + values + ",").find(", " + code(value) + ",") != std::string::npos) return;
    values += (values.empty() ? "" : ", ") + code(value);
  }
  bool is_empty() const { return rows_.empty(); }
  std::string text(const std::string& left, const std::string& right) const {
    std::string text = "\n| " + left + " | " + right + " |\n|---|---|\n";
    for (const auto& [name, values] : rows_)
      for (const std::string& line : lines_of(values)) text += "| " + code(name) + " | " + line + " |\n";
    return text;
  }

 private:
  /// Long values go on in another row of the same name.
  static std::vector<std::string> lines_of(const std::string& values) {
    constexpr size_t kWidth = 200;
    std::vector<std::string> lines;
    size_t begin = 0;
    while (values.size() - begin > kWidth) {
      const size_t comma = values.rfind(", `", begin + kWidth);
      lines.push_back(values.substr(begin, comma - begin));
      begin = comma + 2;
    }
    lines.push_back(values.substr(begin));
    return lines;
  }

  size_t row_of(const std::string& name) {
    const auto [found, is_new] = places_.try_emplace(name, rows_.size());
    if (is_new) rows_.emplace_back(name, "");
    return found->second;
  }

  std::vector<std::pair<std::string, std::string>> rows_;
  std::map<std::string, size_t> places_;
};

/// The names of the engine's own, which are parts of functions, have a blank.
bool is_of_postgresql(const char* name) { return std::strchr(name, ' ') == nullptr; }

std::string types_section() {
  constexpr size_t kWidth = 120;
  std::string text = "\n## Types\n\n", line;
  for (int i = 0; i < strom::registry::kTypeCount; ++i) {
    const auto& type = strom::registry::kTypes[i];
    if (type.id == TypeId::kDecimal) continue;  // the row of numeric without a scale
    const std::string word = code(type.pg_name) + (i + 1 < strom::registry::kTypeCount ? "," : ".");
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return text + line + "\n";
}

std::string functions_sections() {
  std::string text;
  for (size_t group = 0; group < std::size(kGroupNames); ++group) {
    Table functions, fields;
    for (const FunctionInfo& row : strom::registry::kFunctions) {
      const auto place = strom::registry::kFunctionPlaces[static_cast<size_t>(row.id)];
      if (place.group != static_cast<FunctionGroup>(group) || !is_of_postgresql(row.pg_name)) continue;
      if (row.field == nullptr)
        functions.add(row.pg_name, signature(row));
      else
        fields.add(std::string(row.pg_name) + signature(row), row.field);
    }
    if (functions.is_empty() && fields.is_empty()) continue;
    text += std::string("\n## Group ") + kGroupNames[group] + "\n";
    if (!functions.is_empty()) text += functions.text("function", "arguments");
    if (!fields.is_empty()) text += fields.text("function", "fields");
  }
  return text;
}

std::string lowered_section() {
  Table table;
#define STROM_LOWERING(...)
#define STROM_LOWERED(function, member, ...) table.add(function, #member);
#include "registry/lowered.def"
#undef STROM_LOWERING
#undef STROM_LOWERED
  return "\n## Made of others\n\nThe planner makes these of the functions above, or looks at their arguments first.\n" +
         table.text("function", "by");
}

std::string zoned_section() {
  Table table;
#define STROM_ZONED(pg_name, local_name, arguments, traits) table.add(pg_name, local_name);
#include "registry/zoned.def"
#undef STROM_ZONED
  return "\n## In the session's time zone\n\nOf `timestamptz`, by the function for local times.\n" +
         table.text("function", "by");
}

std::string aggregates_section() {
  Table table;
  for (const AggregateInfo& row : strom::registry::kAggregates) {
    const bool of_any = row.id == strom::registry::AggregateId::kCountAny;
    const std::string type = of_any ? "any" : type_name(row.arg);
    table.add(row.pg_name, row.nargs == 0 ? "(*)" : row.nargs == 1 ? "(" + type + ")" : "(" + type + ", " + type + ")");
  }
  return "\n## Aggregates\n" + table.text("aggregate", "arguments");
}

std::string functions_page() {
  return kHead + types_section() + functions_sections() + lowered_section() + zoned_section() + aggregates_section();
}

}  // namespace

int main(int argc, char** argv) { return generated_page(argc, argv, "functions_page", functions_page()); }
