#include "format/forward/record_columns.hpp"

#include <algorithm>
#include <limits>

#include "format/csv/append_value.hpp"

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

/// The values that most records have, without a text in between; false: by their text, or not at all.
bool append_directly(const Value& value, ColumnBuilder& column) {
  const Layout layout = column.field().layout;
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
  if (!choice.fields.empty()) {
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

RecordColumns::RecordColumns(const RecordChoice& choice) : choice_(choice), values_(choice.fields.size()) {
  for (size_t i = 0; i < choice.fields.size(); ++i) names_.emplace(choice.fields[i].name, i);
}

/// Records have their keys in the order of the one before, mostly.
size_t RecordColumns::find(std::string_view key, size_t place) {
  if (place < order_.size() && order_[place] != kNone && choice_.fields[order_[place]].name == key)
    return order_[place];
  const auto found = names_.find(std::string(key));
  const size_t index = found == names_.end() ? kNone : found->second;
  if (place < order_.size())
    order_[place] = index;
  else if (place == order_.size())
    order_.push_back(index);
  return index;
}

Status RecordColumns::read(std::string_view record, RecordCounts* counts) {
  std::fill(values_.begin(), values_.end(), std::string_view());
  MessageReader reader(record);
  Value map, key;
  Status damaged(ErrorCode::kProtocolViolation, "a record that is damaged");
  if (reader.next(&map) != Step::kDone || map.kind != Kind::kMap) return damaged;
  for (uint32_t i = 0; i < map.count; ++i) {
    if (reader.next(&key) != Step::kDone) return damaged;
    for (uint64_t inside = key.values_inside(); inside > 0; --inside)
      if (reader.skip() != Step::kDone) return damaged;
    const std::string_view before = reader.rest();
    if (reader.skip() != Step::kDone) return damaged;
    const size_t index = key.kind == Kind::kText || key.kind == Kind::kBytes ? find(key.bytes, i) : kNone;
    if (index == kNone)
      ++counts->extra;
    else
      values_[index] = before.substr(0, before.size() - reader.rest().size());
  }
  return Status::ok();
}

Status RecordColumns::append_value(size_t index, ColumnBuilder& column, RecordCounts* counts) {
  const Field& field = column.field();
  Value value;
  MessageReader reader(values_[index]);
  if (values_[index].empty() || reader.next(&value) != Step::kDone || value.kind == Kind::kNil) {
    if (field.nullable) return column.append_null(), Status::ok();
    return {ErrorCode::kTypeMismatch, "a record without a value for column \"" + field.name + "\", which is not_null"};
  }
  if (append_directly(value, column)) return Status::ok();
  text_.clear();
  if (value.kind == Kind::kArray || value.kind == Kind::kMap) {
    MessageReader whole(values_[index]);
    if (columnar::is_text(field.layout)) append_json(whole, &text_);
  } else {
    scalar_text(value, &text_);
  }
  const bool has_text = value.kind != Kind::kExtension && !(text_.empty() && value.count > 0);
  const csv::Appended appended = has_text ? csv::append_value(text_, column) : csv::Appended::kMalformed;
  if (appended == csv::Appended::kDone) return Status::ok();
  if (appended == csv::Appended::kFull) return {ErrorCode::kOverBudget, "a record batch is full"};
  if (choice_.wrong_is_error || !field.nullable)
    return {ErrorCode::kTypeMismatch,
            "a value that is no " + columnar::type_text(field) + " for column \"" + field.name + "\""};
  ++counts->wrong;
  column.append_null();
  return Status::ok();
}

Status RecordColumns::append(std::string_view tag, const Event& event, std::vector<ColumnBuilder>& columns,
                             RecordCounts* counts) {
  const int64_t rows = columns[0].length();
  RecordCounts seen;
  const auto append_row = [&]() -> Status {
    constexpr int64_t kNanoPerMicro = 1000;
    size_t at = 0;
    Status full(ErrorCode::kOverBudget, "a record batch is full");
    if (!choice_.time_column.empty()) columns[at++].append(event.time_ns / kNanoPerMicro);
    if (!choice_.tag_column.empty() && !columns[at++].append_bytes(tag.data(), static_cast<int64_t>(tag.size())))
      return full;
    if (choice_.fields.empty()) {
      text_.clear();
      MessageReader reader(event.record);
      if (!append_json(reader, &text_))
        return {ErrorCode::kTypeMismatch, "a record that is nested too deeply, or in its keys"};
      return columns[at].append_bytes(text_.data(), static_cast<int64_t>(text_.size())) ? Status::ok() : full;
    }
    STROM_TRY(read(event.record, &seen));
    for (size_t i = 0; i < choice_.fields.size(); ++i) STROM_TRY(append_value(i, columns[at + i], &seen));
    return Status::ok();
  };
  Status status = append_row();
  if (!status.is_ok()) {
    for (ColumnBuilder& column : columns)
      if (column.length() > rows) column.truncate(rows);
    return status;
  }
  ++counts->rows;
  counts->wrong += seen.wrong;
  counts->extra += seen.extra;
  return Status::ok();
}

}  // namespace strom::format::forward
