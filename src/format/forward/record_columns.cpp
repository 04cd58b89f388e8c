#include "format/forward/record_columns.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include "format/csv/append_value.hpp"
#include "format/forward/found_columns.hpp"
#include "format/forward/valid_text.hpp"

namespace strom::format::forward {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using Kind = Value::Kind;

namespace {

/// Appends an integer where the layout can hold it.
template <class T>
bool append_integer(int64_t value, ColumnBuilder& column) {
  if (value < static_cast<int64_t>(std::numeric_limits<T>::min()) ||
      (sizeof(T) < sizeof(int64_t) && value > static_cast<int64_t>(std::numeric_limits<T>::max())))
    return false;
  column.append(static_cast<T>(value));
  return true;
}

/// True for a text of ASCII without NUL.
bool is_plain(std::string_view text) {
  constexpr uint64_t kHigh = 0x8080808080808080, kOnes = 0x0101010101010101;
  uint64_t all = 0, word = 0;
  size_t at = 0;
  // A byte of 0 borrows, which sets its highest bit.
  for (; at + sizeof(word) <= text.size(); at += sizeof(word)) {
    std::memcpy(&word, text.data() + at, sizeof(word));
    all |= word | (word - kOnes);
  }
  for (; at < text.size(); ++at) all |= static_cast<uint8_t>(text[at]) | (static_cast<uint64_t>(text[at] == 0) << 7);
  return (all & kHigh) == 0;
}

/// A fast way for the values of most records, without an intermediate text. False: the value needs its text, or does
/// not fit.
bool append_directly(const Value& value, ColumnBuilder& column) {
  const Layout layout = column.field().layout;
  if (value.kind == Kind::kText && layout == Layout::kUtf8 && is_plain(value.bytes))
    return column.append_bytes(value.bytes.data(), static_cast<int64_t>(value.bytes.size()));
  if (value.kind == Kind::kInt) {
    switch (layout) {
      case Layout::kInt8: return append_integer<int8_t>(value.integer, column);
      case Layout::kInt16: return append_integer<int16_t>(value.integer, column);
      case Layout::kInt32: return append_integer<int32_t>(value.integer, column);
      case Layout::kInt64: return append_integer<int64_t>(value.integer, column);
      default: return false;
    }
  }
  if (value.kind == Kind::kFloat && layout == Layout::kFloat64) return column.append(value.number), true;
  if (value.kind == Kind::kBool && layout == Layout::kBool) return column.append_bool(value.truth), true;
  return false;
}

/// The text of a value that is neither an array nor a map.
void scalar_text(const Value& value, std::string* text) {
  switch (value.kind) {
    case Kind::kBool: *text = value.truth ? "true" : "false"; return;
    case Kind::kInt: *text = std::to_string(value.integer); return;
    case Kind::kUInt: *text = std::to_string(static_cast<uint64_t>(value.integer)); return;
    case Kind::kFloat: *text = shortest_text(value.number); return;
    default: text->assign(value.bytes); return;
  }
}

Status damaged(const char* what = "a record that is none") {
  return {ErrorCode::kProtocolViolation, std::string("not a message of the Forward protocol: ") + what};
}

Status outgrown() { return {RecordColumns::kOutgrown, "records have more than their columns can have"}; }

Status full() { return {ErrorCode::kOverBudget, "a record batch is full"}; }

Status missing(const Field& field) {
  return {ErrorCode::kTypeMismatch, "a record without a value for column \"" + field.name + "\", which is not_null"};
}

bool is_next_nothing(MessageReader reader) {
  Value value;
  return reader.next(&value) == Step::kDone && is_nothing(value);
}

}  // namespace

std::vector<Field> record_fields(const RecordChoice& choice) {
  std::vector<Field> fields;
  if (!choice.time_column.empty()) {
    Field& field = fields.emplace_back();
    field.name = choice.time_column;
    field.layout = Layout::kTimestamp;
    field.unit = columnar::TimeUnit::kMicro;
    field.timezone = "UTC";
    field.nullable = false;
  }
  if (!choice.tag_column.empty()) {
    Field& field = fields.emplace_back();
    field.name = choice.tag_column;
    field.layout = Layout::kUtf8;
    field.nullable = false;
  }
  if (choice.is_inferred || !choice.fields.empty()) {
    fields.insert(fields.end(), choice.fields.begin(), choice.fields.end());
  } else {
    Field& field = fields.emplace_back();
    field.name = "record";
    field.layout = Layout::kUtf8;
    field.nullable = false;
    field.metadata.emplace_back("pg_type", "pg_catalog.jsonb");
  }
  return fields;
}

RecordColumns::RecordColumns(const RecordChoice& choice)
    : choice_(choice),
      first_((choice.time_column.empty() ? size_t{0} : 1) + (choice.tag_column.empty() ? size_t{0} : 1)) {
  for (size_t i = 0; i < choice.fields.size(); ++i) {
    keys_.push_back(choice.keys.empty() ? choice.fields[i].name : choice.keys[i]);
    names_.emplace(keys_.back(), i);
  }
}

size_t RecordColumns::look_up(std::string_view key, size_t place) {
  const auto found = names_.find(std::string(key));
  const size_t index = found == names_.end() ? kNone : found->second;
  if (place < order_.size())
    order_[place] = index;
  else if (place == order_.size())
    order_.push_back(index);
  return index;
}

/// The next value of `reader`, which is known to be there.
Status RecordColumns::append_value(MessageReader& reader, ColumnBuilder& column, RecordCounts* counts) {
  const MessageReader begin = reader;
  Value value;
  if (reader.next(&value) != Step::kDone) return damaged();
  if (append_directly(value, column)) return Status::ok();
  if (value.kind == Kind::kNil) {
    if (!column.field().nullable) return missing(column.field());
    column.append_null();
    return Status::ok();
  }
  if (may_grow_ && !fits_found(value, column.field())) return outgrown();
  if (value.values_inside() > 0) {
    reader = begin;
    if (reader.skip() != Step::kDone) return damaged();
  }
  return append_other(value, begin.rest().substr(0, begin.rest().size() - reader.rest().size()), column, counts);
}

Status RecordColumns::append_other(const Value& value, std::string_view bytes, ColumnBuilder& column,
                                   RecordCounts* counts) {
  const Field& field = column.field();
  text_.clear();
  if (value.kind == Kind::kArray || value.kind == Kind::kMap) {
    MessageReader whole(bytes);
    if (columnar::is_text(field.layout)) append_json(whole, &text_);
  } else {
    scalar_text(value, &text_);
    if (columnar::is_text(field.layout) && !is_valid_text(text_)) text_ = valid_text(text_);
  }
  const bool has_text = value.kind != Kind::kExtension && !(text_.empty() && value.count > 0);
  const csv::Appended appended = has_text ? csv::append_value(text_, column) : csv::Appended::kMalformed;
  if (appended == csv::Appended::kDone) return Status::ok();
  if (appended == csv::Appended::kFull) return full();
  if (choice_.wrong_is_error || !field.nullable)
    return {ErrorCode::kTypeMismatch,
            "a value that is no " + columnar::type_text(field) + " for column \"" + field.name + "\""};
  ++counts->wrong;
  column.append_null();
  return Status::ok();
}

/// Appends each key's value to its column as it comes.
Status RecordColumns::append_record(MessageReader& reader, int64_t row, Columns& columns, RecordCounts* counts) {
  Value map, key;
  if (reader.next(&map) != Step::kDone || map.kind != Kind::kMap) return damaged();
  Status refused;
  for (uint32_t i = 0; i < map.count; ++i) {
    if (reader.next(&key) != Step::kDone) return damaged();
    for (uint64_t inside = key.values_inside(); inside > 0; --inside)
      if (reader.skip() != Step::kDone) return damaged();
    const size_t index = key.kind == Kind::kText || key.kind == Kind::kBytes ? find(key.bytes, i) : kNone;
    if (index == kNone || !refused.is_ok()) {
      const bool has_no_place = index == kNone && !(choice_.is_inferred && is_next_nothing(reader));
      if (has_no_place && may_grow_) return outgrown();
      if (has_no_place) ++counts->extra;
      if (reader.skip() != Step::kDone) return damaged();
      continue;
    }
    ColumnBuilder& column = columns[first_ + index];
    if (column.length() > row) column.truncate(row);  // if a key comes twice, its last value counts
    Status status = append_value(reader, column, counts);
    if (status.is_ok()) continue;
    if (status.code() != ErrorCode::kTypeMismatch) return status;
    refused = std::move(status);
  }
  STROM_TRY(refused);
  for (size_t i = first_; i < columns.size(); ++i) {
    if (columns[i].length() > row) continue;
    if (!columns[i].field().nullable) return missing(columns[i].field());
    columns[i].append_null();
  }
  return Status::ok();
}

/// A record as JSON.
Status RecordColumns::append_whole(MessageReader& reader, ColumnBuilder& column) {
  MessageReader record = reader, look = reader;
  Value map;
  if (look.next(&map) != Step::kDone || map.kind != Kind::kMap || reader.skip() != Step::kDone) return damaged();
  text_.clear();
  if (!append_json(record, &text_))
    return {ErrorCode::kTypeMismatch, "a record that is nested too deeply, or in its keys"};
  return column.append_bytes(text_.data(), static_cast<int64_t>(text_.size())) ? Status::ok() : full();
}

Status RecordColumns::append_event(const Message& message, MessageReader& reader, Columns& columns,
                                   RecordCounts* counts) {
  constexpr int64_t kNanoPerMicro = 1000;
  const int64_t row = columns[0].length();
  int64_t time_ns = 0;
  if (const char* wrong = message.begin_event(reader, &time_ns); wrong != nullptr) return damaged(wrong);
  size_t at = 0;
  if (!choice_.time_column.empty()) columns[at++].append(time_ns / kNanoPerMicro);
  if (!choice_.tag_column.empty() && !columns[at++].append_bytes(tag_.data(), static_cast<int64_t>(tag_.size())))
    return full();
  const bool is_whole = choice_.fields.empty() && !choice_.is_inferred;
  return is_whole ? append_whole(reader, columns[at]) : append_record(reader, row, columns, counts);
}

Status RecordColumns::append(const Message& message, Columns& columns, RecordCounts* counts, const LeftOut& left_out,
                             bool may_grow) {
  may_grow_ = may_grow;
  tag_ = valid_text(message.tag());
  const int64_t before = columns[0].length();
  const auto cut_to = [&](int64_t rows) {
    for (ColumnBuilder& column : columns)
      if (column.length() > rows) column.truncate(rows);
  };
  RecordCounts seen;
  MessageReader reader(message.events());
  while (!reader.rest().empty()) {
    const int64_t row = columns[0].length();
    RecordCounts of_event;
    const Status status = append_event(message, reader, columns, &of_event);
    if (status.is_ok()) {
      seen.wrong += of_event.wrong;
      seen.extra += of_event.extra;
      continue;
    }
    const bool is_left_out = status.code() == ErrorCode::kTypeMismatch;
    cut_to(is_left_out ? row : before);
    if (!is_left_out) return status;
    left_out(status.message());
    ++seen.left_out;
  }
  counts->rows += columns[0].length() - before;
  counts->wrong += seen.wrong;
  counts->extra += seen.extra;
  counts->left_out += seen.left_out;
  return Status::ok();
}

}  // namespace strom::format::forward
