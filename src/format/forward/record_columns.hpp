// Records of events into columns: by the names of a schema, or whole as JSON. Used by fluent2arrow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "format/forward/messages.hpp"

namespace strom::format::forward {

struct RecordChoice {
  std::vector<columnar::Field> fields;  // of records, by name; none: `record` has them as JSON
  std::string time_column, tag_column;  // of events; empty: none
  bool wrong_is_error = false;          // a value of another type is refused, rather than NULL
};

struct RecordCounts {
  int64_t rows = 0, wrong = 0, extra = 0;  // values that became NULL, keys without a column
};

/// The columns that RecordColumns fills: time and tag, when they are chosen, then those of records.
std::vector<columnar::Field> record_fields(const RecordChoice& choice);

/// One thread.
class RecordColumns {
 public:
  explicit RecordColumns(const RecordChoice& choice);

  /// A row. Errors: kTypeMismatch for a value that is refused, with the column, and for a record that can be no JSON;
  /// kOverBudget when the batch is full: then nothing is appended, as for all errors.
  Status append(std::string_view tag, const Event& event, std::vector<columnar::ColumnBuilder>& columns,
                RecordCounts* counts);

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  size_t find(std::string_view key, size_t place);
  Status read(std::string_view record, RecordCounts* counts);
  Status append_value(size_t index, columnar::ColumnBuilder& column, RecordCounts* counts);

  const RecordChoice& choice_;
  std::unordered_map<std::string, size_t> names_;
  std::vector<size_t> order_;             // columns of the keys of the record before
  std::vector<std::string_view> values_;  // of each column: a value's bytes; empty: missing
  std::string text_;
};

}  // namespace strom::format::forward
