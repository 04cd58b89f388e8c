#include "format/forward/found_columns.hpp"

#include <algorithm>

#include "columnar/utf8.hpp"

namespace strom::format::forward {

using columnar::Field;
using columnar::Layout;
using Kind = Value::Kind;

namespace {

constexpr size_t kLongestKey = 200;
constexpr int32_t kBigDigits = 20;  // of the largest unsigned number
const std::pair<std::string, std::string> kJsonType{"pg_type", "pg_catalog.jsonb"};

FoundType type_of(const Value& value) {
  switch (value.kind) {
    case Kind::kBool: return FoundType::kBool;
    case Kind::kInt: return FoundType::kInt;
    case Kind::kUInt: return FoundType::kBigInt;
    case Kind::kFloat: return FoundType::kReal;
    case Kind::kArray:
    case Kind::kMap: return FoundType::kJson;
    default: return FoundType::kText;
  }
}

bool is_number(FoundType type) {
  return type == FoundType::kInt || type == FoundType::kBigInt || type == FoundType::kReal;
}

FoundType together(FoundType a, FoundType b) {
  if (a == b) return a;
  return is_number(a) && is_number(b) ? std::max(a, b) : FoundType::kText;
}

bool is_json(const Field& field) {
  return field.layout == Layout::kUtf8 &&
         std::find(field.metadata.begin(), field.metadata.end(), kJsonType) != field.metadata.end();
}

Field field_of(std::string name, FoundType type) {
  Field field;
  field.name = std::move(name);
  switch (type) {
    case FoundType::kBool: field.layout = Layout::kBool; break;
    case FoundType::kInt: field.layout = Layout::kInt64; break;
    case FoundType::kBigInt:
      field.layout = Layout::kDecimal128;
      field.precision = kBigDigits;
      break;
    case FoundType::kReal: field.layout = Layout::kFloat64; break;
    case FoundType::kJson: field.metadata.push_back(kJsonType); [[fallthrough]];
    case FoundType::kText: field.layout = Layout::kUtf8; break;
  }
  return field;
}

bool type_of(const Field& field, FoundType* type) {
  if (!field.nullable || field.dictionary) return false;
  for (const FoundType each : {FoundType::kBool, FoundType::kInt, FoundType::kBigInt, FoundType::kReal}) {
    if (!same_type(field, field_of("", each))) continue;
    *type = each;
    return true;
  }
  *type = is_json(field) ? FoundType::kJson : FoundType::kText;
  return field.layout == Layout::kUtf8;
}

}  // namespace

bool fits_found(const Value& value, const Field& field) {
  if (is_nothing(value)) return true;
  const bool is_whole = value.kind == Kind::kInt || value.kind == Kind::kUInt;
  switch (field.layout) {
    case Layout::kBool: return value.kind == Kind::kBool;
    case Layout::kInt64: return value.kind == Kind::kInt;
    case Layout::kDecimal128: return is_whole;
    case Layout::kFloat64: return is_whole || value.kind == Kind::kFloat;
    default: return !is_json(field) || value.kind == Kind::kArray || value.kind == Kind::kMap;
  }
}

/// True for the name of one of our own columns, perhaps with underscores after it.
bool FoundColumns::is_like_own(std::string_view key) const {
  while (key.ends_with('_') && key != time_column_ && key != tag_column_) key.remove_suffix(1);
  return !key.empty() && (key == time_column_ || key == tag_column_);
}

std::string FoundColumns::name_of(const std::string& key) const { return is_like_own(key) ? key + "_" : key; }

void FoundColumns::observe_value(std::string_view key, FoundType type, Change* change) {
  const auto found = index_.find(std::string(key));
  if (found != index_.end()) {
    FoundType& known = columns_[found->second].type;
    const FoundType wider = together(known, type);
    if (wider != known) *change = Change::kOther;
    known = wider;
    return;
  }
  if (columns_.size() >= kMostColumns || key.empty() || key.size() > kLongestKey || !columnar::is_utf8(key) ||
      key.find('\0') != std::string_view::npos)
    return;
  index_.emplace(key, columns_.size());
  columns_.push_back({std::string(key), type});
  if (*change == Change::kNone) *change = Change::kMore;
}

FoundColumns::Change FoundColumns::observe(const Message& message) {
  Change change = Change::kNone;
  MessageReader reader(message.events());
  while (!reader.rest().empty()) {
    int64_t time_ns = 0;
    Value map, key, value;
    if (message.begin_event(reader, &time_ns) != nullptr) return change;
    if (reader.next(&map) != Step::kDone || map.kind != Kind::kMap) return change;
    for (uint32_t i = 0; i < map.count; ++i) {
      if (reader.next(&key) != Step::kDone) return change;
      for (uint64_t inside = key.values_inside(); inside > 0; --inside)
        if (reader.skip() != Step::kDone) return change;
      MessageReader look = reader;
      if (look.next(&value) != Step::kDone || reader.skip() != Step::kDone) return change;
      if ((key.kind == Kind::kText || key.kind == Kind::kBytes) && !is_nothing(value))
        observe_value(key.bytes, type_of(value), &change);
    }
  }
  return change;
}

bool FoundColumns::start(const std::vector<Field>& fields) {
  columns_.clear();
  index_.clear();
  const size_t own = (time_column_.empty() ? 0U : 1U) + (tag_column_.empty() ? 0U : 1U);
  for (size_t i = own; i < fields.size(); ++i) {
    Column column{fields[i].name, FoundType::kText};
    if (is_like_own(column.key)) column.key.pop_back();
    const bool is_known = type_of(fields[i], &column.type) && name_of(column.key) == fields[i].name &&
                          index_.emplace(column.key, columns_.size()).second;
    if (!is_known) {
      columns_.clear();
      index_.clear();
      return false;
    }
    columns_.push_back(std::move(column));
  }
  return true;
}

std::vector<Field> FoundColumns::fields() const {
  std::vector<Field> fields;
  fields.reserve(columns_.size());
  for (const Column& column : columns_) fields.push_back(field_of(name_of(column.key), column.type));
  return fields;
}

std::vector<std::string> FoundColumns::keys() const {
  std::vector<std::string> keys;
  keys.reserve(columns_.size());
  for (const Column& column : columns_) keys.push_back(column.key);
  return keys;
}

}  // namespace strom::format::forward
