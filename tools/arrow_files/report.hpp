// What is printed about one file. Used by arrow-info and by arrow2csv --meta.
#pragma once

#include <string>
#include <vector>

#include "arrow_files/columns.hpp"
#include "base/status.hpp"

namespace strom::tool {

struct ReportParts {
  bool batches = false, statistics = false, metadata = false;
};

/// For people.
Result<std::string> text_report(const format::arrow::FileReader& file, const ReportParts& parts);
/// Everything, as one JSON object and a line end.
Result<std::string> json_report(const format::arrow::FileReader& file);

/// What is wrong with the file's values, a line each; empty when all is well. Columns that cannot be read are left out.
Result<std::vector<std::string>> problems(const format::arrow::FileReader& file, int threads);

}  // namespace strom::tool
