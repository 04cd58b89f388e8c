// Implementation of the EXPLAIN lines.
#include "pg/files/explain.hpp"

#include <cstring>

#include "pg/boundary/boundary.hpp"
#include "pg/compat/explain.hpp"
#include "pg/explain/lines.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::files {

using boundary::guard;

namespace {

constexpr int kShownAtEachEnd = 2;
constexpr int kShortenFrom = 6;

void explain_referenced(const Source& source, ExplainState* es) {
  List* names = NIL;
  for (const SourceColumn& column : source.columns())
    names = guard([&names, &column] { return lappend(names, pstrdup(column.name.c_str())); });
  if (names != NIL) guard([names, es] { ExplainPropertyList("referenced", names, es); });
}

int64_t referenced_bytes(const Source& source, int file) {
  int64_t total = 0;
  for (size_t column = 0; column < source.columns().size(); ++column)
    total += boundary::value_or_throw(source.column_bytes(file, static_cast<int>(column)));
  return total;
}

void explain_file(const Source& source, int file, ExplainState* es) {
  const format::arrow::FileReader& reader = *source.files()[file];
  const std::string label = "file" + std::to_string(file);
  std::string path = reader.path();
  const bool is_arrow = std::strcmp(reader.format(), "arrow") == 0;
  if (guc::pg_strom::regression_test_mode) {
    path.erase(0, path.rfind('/') + 1);
    if (!is_arrow) path += std::string(" (") + reader.format() + ")";
    guard([&] { ExplainPropertyText(label.c_str(), path.c_str(), es); });
    return;
  }
  const int64_t read = referenced_bytes(source, file), size = reader.identity().size;
  if (es->format == EXPLAIN_FORMAT_TEXT) {
    path += std::string(" (") + (is_arrow ? "" : std::string(reader.format()) + ", ") +
            "read: " + explain::format_bytes(read) + ", size: " + explain::format_bytes(size) + ")";
    guard([&] { ExplainPropertyText(label.c_str(), path.c_str(), es); });
    return;
  }
  const std::string read_label = label + "-read", size_label = label + "-size", format_label = label + "-format";
  guard([&] {
    ExplainPropertyText(label.c_str(), path.c_str(), es);
    if (!is_arrow) ExplainPropertyText(format_label.c_str(), reader.format(), es);
    ExplainPropertyInteger(read_label.c_str(), "B", read, es);
    ExplainPropertyInteger(size_label.c_str(), "B", size, es);
  });
}

void explain_gap(ExplainState* es) {
  if (es->format != EXPLAIN_FORMAT_TEXT) return;
  guard([es] {
    appendStringInfoSpaces(es->str, es->indent * 2);
    appendStringInfoString(es->str, ":\n");
  });
}

}  // namespace

void explain_source(const Source& source, ExplainState* es) {
  explain_referenced(source, es);
  const int count = static_cast<int>(source.files().size());
  const bool shorten = count >= kShortenFrom && !guc::pg_strom::explain_developer_mode;
  for (int file = 0; file < count; ++file) {
    if (shorten && file == kShownAtEachEnd) {
      explain_gap(es);
      file = count - kShownAtEachEnd;
    }
    explain_file(source, file, es);
  }
}

}  // namespace strom::pg::files
