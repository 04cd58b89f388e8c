// Records of events into columns: by the names of a schema, or whole as JSON. Used by fluent2arrow.
#pragma once

#include <cstdint>
#include <functional>
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
  bool is_inferred = false;             // fields are those that were found, perhaps none yet (FoundColumns)
  std::vector<std::string> keys;        // of fields, where they are not their names
  std::string time_column, tag_column;  // of events; empty: none
  bool wrong_is_error = false;          // a value of another type is refused, rather than NULL
};

struct RecordCounts {
  int64_t rows = 0, wrong = 0, extra = 0;  // values that became NULL, keys without a column
  int64_t left_out = 0;                    // events with a value that is refused
};

/// The columns that RecordColumns fills: time and tag, when they are chosen, then those of records.
std::vector<columnar::Field> record_fields(const RecordChoice& choice);

/// What becomes of an event that is left out: it is called with the reason.
using LeftOut = std::function<void(const std::string& reason)>;

/// One thread.
class RecordColumns {
 public:
  explicit RecordColumns(const RecordChoice& choice);

  /// The events of a message, all or none. Events with a value that is refused, or with a record that can be no JSON,
  /// are left out. Errors: kProtocolViolation; kOverBudget when the batch is full. `may_grow`: kOutgrown when there is
  /// a key without a column, or a value that its column can only have by losing something.
  Status append(const Message& message, std::vector<columnar::ColumnBuilder>& columns, RecordCounts* counts,
                const LeftOut& left_out, bool may_grow = false);
  static constexpr ErrorCode kOutgrown = ErrorCode::kUnsupported;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  using Columns = std::vector<columnar::ColumnBuilder>;
  size_t find(std::string_view key, size_t place) {
    // Records have their keys in the order of the one before, mostly.
    if (place < order_.size() && order_[place] != kNone && keys_[order_[place]] == key) return order_[place];
    return look_up(key, place);
  }
  size_t look_up(std::string_view key, size_t place);
  Status append_event(const Message& message, MessageReader& reader, Columns& columns, RecordCounts* counts);
  Status append_record(MessageReader& reader, int64_t row, Columns& columns, RecordCounts* counts);
  Status append_value(MessageReader& reader, columnar::ColumnBuilder& column, RecordCounts* counts);
  Status append_other(const Value& value, std::string_view bytes, columnar::ColumnBuilder& column,
                      RecordCounts* counts);
  Status append_whole(MessageReader& reader, columnar::ColumnBuilder& column);

  const RecordChoice& choice_;
  const size_t first_;             // column of records
  std::vector<std::string> keys_;  // by column
  std::unordered_map<std::string, size_t> names_;
  bool may_grow_ = false;
  std::vector<size_t> order_;  // columns of the keys of the record before
  std::string text_;
};

}  // namespace strom::format::forward
