// See columns.hpp.
#include "arrow_files/columns.hpp"

#include <numeric>
#include <string_view>

#include "base/nearest_name.hpp"
#include "columnar/layout.hpp"

namespace strom::tool {

using columnar::Field;
using format::arrow::FileReader;

namespace {

Status unknown_column(const FileReader& file, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Field& field : file.schema().fields) names.push_back(field.name);
  Status status(ErrorCode::kInvalidParameter, "file \"" + file.path() + "\" has no column \"" + name + "\"");
  const std::string_view nearest = base::nearest_name(name, names);
  if (nearest.empty()) return status;
  return std::move(status).with_hint("There is a column \"" + std::string(nearest) + "\".");
}

}  // namespace

Result<std::vector<int>> find_columns(const FileReader& file, const std::vector<std::string>& names) {
  const auto& fields = file.schema().fields;
  if (names.empty()) {
    std::vector<int> all(fields.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<int> found;
  for (const std::string& name : names) {
    size_t i = 0;
    while (i < fields.size() && fields[i].name != name) ++i;
    if (i == fields.size()) return unknown_column(file, name);
    found.push_back(static_cast<int>(i));
  }
  return found;
}

Result<int64_t> count_rows(const FileReader& file) {
  int64_t rows = 0;
  for (int batch = 0; batch < file.batch_count(); ++batch) {
    STROM_ASSIGN(const int64_t more, file.batch_rows(batch));
    rows += more;
  }
  return rows;
}

}  // namespace strom::tool
