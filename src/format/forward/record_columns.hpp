// Appends records of events to columns: by the names of a schema, or whole as JSON. Used by fluent2arrow.
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
  std::vector<columnar::Field> fields;  // of records, by name; empty: `record` has them as JSON
  bool is_inferred = false;             // fields were found in the records (FoundColumns), perhaps none yet
  std::vector<std::string> keys;        // of fields, if they differ from the names
  std::string time_column, tag_column;  // of events; empty: none
  bool wrong_is_error = false;          // a value of another type is an error instead of NULL
};

struct RecordCounts {
  int64_t rows = 0, wrong = 0, extra = 0;  // values that became NULL, keys without a column
  int64_t left_out = 0;                    // events with a value that is an error
};

/// The columns that RecordColumns fills: time and tag, if they are chosen, then those of records.
std::vector<columnar::Field> record_fields(const RecordChoice& choice);

/// Called with the reason when an event is left out.
using LeftOut = std::function<void(const std::string& reason)>;

/// For one thread.
class RecordColumns {
 public:
  explicit RecordColumns(const RecordChoice& choice);

  /// Appends all events of a message, or none. Events with an erroneous value, or with a record that cannot be JSON,
  /// are left out. Errors: kProtocolViolation; kOverBudget when the batch is full. `may_grow`: kOutgrown when a key has
  /// no column, or a column cannot hold a value without loss.
  Status append(const Message& message, std::vector<columnar::ColumnBuilder>& columns, RecordCounts* counts,
                const LeftOut& left_out, bool may_grow = false);
  static constexpr ErrorCode kOutgrown = ErrorCode::kUnsupported;

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  using Columns = std::vector<columnar::ColumnBuilder>;
  size_t find(std::string_view key, size_t place) {
    // Keys mostly come in the order of the previous record.
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
  const size_t first_;             // first column of records
  std::vector<std::string> keys_;  // by column
  std::unordered_map<std::string, size_t> names_;
  bool may_grow_ = false;
  std::vector<size_t> order_;  // columns of the previous record's keys
  std::string tag_, text_;
};

}  // namespace strom::format::forward
