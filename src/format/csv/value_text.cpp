// See value_text.hpp.
#include "format/csv/value_text.hpp"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/half.hpp"
#include "base/hex.hpp"
#include "base/uint256.hpp"
#include "columnar/layout.hpp"
#include "columnar/load.hpp"
#include "columnar/nested_view.hpp"
#include "format/csv/column_plan.hpp"
#include "format/csv/datetime_text.hpp"
#include "format/csv/number_text.hpp"
#include "format/csv/text_form.hpp"

namespace strom::format::csv {

using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;
using columnar::load;
using columnar::TimeUnit;

namespace {

/// Calls put(out), which writes at most `room` bytes.
template <class Put>
void append_put(std::string& out, int64_t room, Put put) {
  const size_t before = out.size();
  out.resize(before + static_cast<size_t>(room + kSlack));
  char* const begin = out.data() + before;
  out.resize(before + static_cast<size_t>(put(begin) - begin));
}

constexpr int64_t kNumberRoom = 64;

template <class T>
void append_integer(std::string& out, T value) {
  append_put(out, kNumberRoom, [=](char* to) {
    if constexpr (std::is_unsigned_v<T>) return put_uint64(to, value);
    return put_int64(to, value);
  });
}

template <class T>
void append_float(std::string& out, T value) {
  append_put(out, kFloatRoom, [=](char* to) { return put_float(to, value); });
}

/// `digits` with the decimal point moved by `scale`.
void append_scaled(std::string& out, std::string digits, bool negative, int scale) {
  if (scale < 0 && digits != "0") digits.append(static_cast<size_t>(-scale), '0');
  if (scale > 0) {
    const auto behind = static_cast<size_t>(scale);
    if (digits.size() <= behind) digits.insert(0, behind + 1 - digits.size(), '0');
    digits.insert(digits.size() - behind, 1, '.');
  }
  const bool is_zero = digits.find_first_not_of("0.") == std::string::npos;
  out += (negative && !is_zero ? "-" : "") + digits;
}

/// A number in two's complement of `size` bytes, the lowest byte first.
void append_decimal(std::string& out, const char* bytes, int size, int scale) {
  bool negative = false;
  char digits[96];
  const char* end = base::UInt256::magnitude(bytes, static_cast<size_t>(size), &negative).put_digits(digits);
  append_scaled(out, std::string(static_cast<const char*>(digits), end), negative, scale);
}

void append_two_digits(std::string& out, uint64_t value) {
  if (value < 10) out += '0';
  append_integer(out, value);
}

constexpr int64_t kNanosPerSecond = 1'000'000'000;

/// `nanos`: at least 0; may be a day or more.
void append_clock(std::string& out, __int128 nanos) {
  const auto seconds = static_cast<uint64_t>(nanos / kNanosPerSecond);
  append_two_digits(out, seconds / 3600);
  out += ':';
  append_two_digits(out, seconds / 60 % 60);
  out += ':';
  append_two_digits(out, seconds % 60);
  append_put(out, 16, [=](char* to) { return put_fraction<9>(to, static_cast<uint32_t>(nanos % kNanosPerSecond)); });
}

/// An interval in PostgreSQL's own style, with all digits of the second.
void append_interval(std::string& out, int64_t months, int64_t days, __int128 nanos) {
  bool is_first = true, is_before = false;
  const auto part = [&](int64_t value, const char* name) {
    if (value == 0) return;
    if (!is_first) out += ' ';
    if (is_before && value > 0) out += '+';
    append_integer(out, value);
    out += ' ';
    out += name;
    if (value != 1) out += 's';
    is_first = false;
    is_before = value < 0;
  };
  part(months / 12, "year");
  part(months % 12, "mon");
  part(days, "day");
  if (!is_first && nanos == 0) return;
  if (!is_first) out += ' ';
  if (nanos < 0)
    out += '-';
  else if (is_before)
    out += '+';
  append_clock(out, nanos < 0 ? -nanos : nanos);
}

__int128 nanos_of(int64_t value, TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSecond: return __int128{value} * kNanosPerSecond;
    case TimeUnit::kMilli: return __int128{value} * 1'000'000;
    case TimeUnit::kMicro: return __int128{value} * 1'000;
    case TimeUnit::kNano: return value;
  }
  return 0;
}

void append_time(std::string& out, int64_t value, TimeUnit unit) {
  const __int128 nanos = nanos_of(value, unit);
  if (nanos < 0) out += '-';  // is not a time of day
  append_clock(out, nanos < 0 ? -nanos : nanos);
}

void append_timestamp(std::string& out, const Field& field, int64_t value, bool is_json) {
  const std::string_view zone = field.timezone.empty() ? "" : is_json ? "+00:00" : "+00";
  const auto size = static_cast<int64_t>(zone.size());
  append_put(out, kTimestampRoom, [&](char* to) {
    const char separator = is_json ? 'T' : ' ';
    switch (field.unit) {
      case TimeUnit::kSecond: return put_timestamp<0>(to, value, separator, zone.data(), size);
      case TimeUnit::kMilli: return put_timestamp<3>(to, value, separator, zone.data(), size);
      case TimeUnit::kMicro: return put_timestamp<6>(to, value, separator, zone.data(), size);
      case TimeUnit::kNano: return put_timestamp<9>(to, value, separator, zone.data(), size);
    }
    return to;
  });
}

void append_string(std::string& out, const char* text, int64_t size) {
  const JsonForm form;
  append_put(out, JsonForm::room(size) + 2, [&](char* to) { return form.put_special(to, text, size); });
}

void append_binary(std::string& out, const char* bytes, int64_t size) {
  out += "\\x";
  base::append_hex(&out, bytes, static_cast<size_t>(size));
}

/// The column and row of a value that is reached through run ends, dictionaries and unions.
struct Found {
  const Field* field;
  const ColumnView* view;
  int64_t row;
  ValueState state = ValueState::kWritten;
};

Found find_value(const Field& field, const ColumnView& view, int64_t row) {
  Found found{&field, &view, row};
  for (;;) {
    const Layout layout = found.view->layout;
    if (layout == Layout::kNull || !columnar::is_valid(*found.view, found.row)) {
      found.state = ValueState::kNull;
      return found;
    }
    const bool has_parts = layout == Layout::kDictionary && found.view->dictionary == nullptr;
    if (!has_parts && layout != Layout::kRunEndEncoded && !columnar::is_union(layout)) return found;
    int child = 0;
    if (!columnar::value_row(*found.view, found.field->type_ids, found.row, &child, &found.row)) {
      found.state = ValueState::kCorrupt;
      return found;
    }
    found.view = &found.view->children[child];
    if (!has_parts) found.field = &found.field->children[static_cast<size_t>(child)];
  }
}

/// True when JSON writes the values without quotes.
bool is_plain_json(Layout layout) {
  switch (columnar::values_of(layout)) {
    case columnar::Values::kBool:
    case columnar::Values::kSigned:
    case columnar::Values::kUnsigned:
    case columnar::Values::kReal:
    case columnar::Values::kDecimal: return true;
    default: return false;
  }
}

void append_bytes(const Field& field, const char* bytes, int64_t size, std::string& out) {
  const BinaryKind kind = binary_kind(field, true);
  if (kind == BinaryKind::kHex || field.layout != Layout::kFixedBinary) return append_binary(out, bytes, size);
  append_put(out, kNumberRoom + 3 * size,
             [&](char* to) { return put_binary(to, kind, reinterpret_cast<const uint8_t*>(bytes), size); });
}

/// A log position (pg_lsn) has two halves with a slash between them.
void append_uint64(std::string& out, const Field& field, uint64_t number) {
  if (pg_type_name(field) != "pg_lsn") return append_integer(out, number);
  char text[24];
  const int size =
      std::snprintf(text, sizeof text, "%X/%X", static_cast<unsigned>(number >> 32), static_cast<unsigned>(number));
  out.append(text, static_cast<size_t>(size));
}

ValueState append_flat(const Field& field, const ColumnView& view, int64_t row, bool is_json, std::string& out) {
  const auto* bits = static_cast<const uint8_t*>(view.values);
  const char* text = nullptr;
  int64_t size = 0;
  if (columnar::text_at(view, row, &text, &size)) {
    if (columnar::is_text(field.layout) && is_json) {
      append_string(out, text, size);
    } else if (columnar::is_text(field.layout)) {
      out.append(text, static_cast<size_t>(size));
    } else {
      append_bytes(field, text, size, out);
    }
    return ValueState::kWritten;
  }
  switch (field.layout) {
    case Layout::kBool: {
      const bool value = (bits[row >> 3] >> (row & 7)) & 1;
      out += is_json ? (value ? "true" : "false") : value ? "t" : "f";
      break;
    }
    case Layout::kInt8: append_integer(out, int64_t{load<int8_t>(view.values, row)}); break;
    case Layout::kInt16: append_integer(out, int64_t{load<int16_t>(view.values, row)}); break;
    case Layout::kInt32: append_integer(out, int64_t{load<int32_t>(view.values, row)}); break;
    case Layout::kInt64: append_integer(out, load<int64_t>(view.values, row)); break;
    case Layout::kUInt8: append_integer(out, uint64_t{load<uint8_t>(view.values, row)}); break;
    case Layout::kUInt16: append_integer(out, uint64_t{load<uint16_t>(view.values, row)}); break;
    case Layout::kUInt32: append_integer(out, uint64_t{load<uint32_t>(view.values, row)}); break;
    case Layout::kUInt64: append_uint64(out, field, load<uint64_t>(view.values, row)); break;
    case Layout::kFloat16: append_float(out, base::half_to_float(load<uint16_t>(view.values, row))); break;
    case Layout::kFloat32: append_float(out, load<float>(view.values, row)); break;
    case Layout::kFloat64: append_float(out, load<double>(view.values, row)); break;
    case Layout::kDecimal32:
    case Layout::kDecimal64:
    case Layout::kDecimal128:
    case Layout::kDecimal256: {
      const auto width = static_cast<int>(columnar::value_width(field.layout, 0));
      append_decimal(out, static_cast<const char*>(view.values) + row * width, width, field.scale);
      break;
    }
    case Layout::kDate32:
      append_put(out, kDateRoom, [&](char* to) { return put_date(to, load<int32_t>(view.values, row)); });
      break;
    case Layout::kDate64:
      append_put(out, kDateRoom, [&](char* to) { return put_date_of_millis(to, load<int64_t>(view.values, row)); });
      break;
    case Layout::kTimestamp: append_timestamp(out, field, load<int64_t>(view.values, row), is_json); break;
    case Layout::kTime32: append_time(out, load<int32_t>(view.values, row), field.unit); break;
    case Layout::kTime64: append_time(out, load<int64_t>(view.values, row), field.unit); break;
    case Layout::kDuration: append_interval(out, 0, 0, nanos_of(load<int64_t>(view.values, row), field.unit)); break;
    case Layout::kIntervalMonths: append_interval(out, load<int32_t>(view.values, row), 0, 0); break;
    case Layout::kIntervalDayTime:
      append_interval(out, 0, load<int32_t>(view.values, 2 * row),
                      nanos_of(load<int32_t>(view.values, 2 * row + 1), TimeUnit::kMilli));
      break;
    case Layout::kIntervalMonthDayNano:
      append_interval(out, load<int32_t>(view.values, 4 * row), load<int32_t>(view.values, 4 * row + 1),
                      nanos_of(load<int64_t>(view.values, 2 * row + 1), TimeUnit::kNano));
      break;
    default: return ValueState::kCorrupt;  // texts whose offsets lead outside
  }
  return ValueState::kWritten;
}

ValueState append_list(const Found& found, std::string& out) {
  columnar::ChildRows rows;
  if (!columnar::list_rows(*found.view, found.row, &rows)) return ValueState::kCorrupt;
  out += '[';
  for (int64_t i = 0; i < rows.count; ++i) {
    if (i > 0) out += ", ";
    if (append_json(found.field->children[0], *rows.child, rows.begin + i, out) == ValueState::kCorrupt)
      return ValueState::kCorrupt;
  }
  out += ']';
  return ValueState::kWritten;
}

ValueState append_struct(const Found& found, std::string& out) {
  out += '{';
  for (int i = 0; i < found.view->child_count; ++i) {
    const Field& field = found.field->children[static_cast<size_t>(i)];
    if (i > 0) out += ", ";
    append_string(out, field.name.data(), static_cast<int64_t>(field.name.size()));
    out += ": ";
    if (append_json(field, found.view->children[i], found.row, out) == ValueState::kCorrupt)
      return ValueState::kCorrupt;
  }
  out += '}';
  return ValueState::kWritten;
}

ValueState append_map(const Found& found, std::string& out) {
  columnar::ChildRows rows;
  if (!columnar::list_rows(*found.view, found.row, &rows) || rows.child->child_count < 2) return ValueState::kCorrupt;
  const Field& key = found.field->children[0].children[0];
  const Field& value = found.field->children[0].children[1];
  const ColumnView *keys = &rows.child->children[0], *values = &rows.child->children[1];
  const Field* key_values = &key;
  while (key_values->layout == Layout::kRunEndEncoded) key_values = &key_values->children[1];
  const bool is_object = columnar::is_text(key_values->layout);
  out += is_object ? '{' : '[';
  for (int64_t row = rows.begin; row < rows.begin + rows.count; ++row) {
    if (row > rows.begin) out += ", ";
    if (!is_object) out += "{\"key\": ";
    if (append_json(key, *keys, row, out) == ValueState::kCorrupt) return ValueState::kCorrupt;
    out += is_object ? ": " : ", \"value\": ";
    if (append_json(value, *values, row, out) == ValueState::kCorrupt) return ValueState::kCorrupt;
    if (!is_object) out += '}';
  }
  out += is_object ? '}' : ']';
  return ValueState::kWritten;
}

ValueState append_found(const Found& found, std::string& out) {
  const Layout layout = found.view->layout;
  if (columnar::is_list(layout)) return append_list(found, out);
  if (layout == Layout::kStruct) return append_struct(found, out);
  if (layout == Layout::kMap) return append_map(found, out);
  if (columnar::is_text(found.field->layout)) return append_flat(*found.field, *found.view, found.row, true, out);
  std::string text;
  const ValueState state = append_flat(*found.field, *found.view, found.row, true, text);
  if (is_plain_json(found.field->layout) && text.find_first_of("Ny/") == std::string::npos)
    out += text;
  else  // also NaN, Infinity and log positions
    append_string(out, text.data(), static_cast<int64_t>(text.size()));
  return state;
}

}  // namespace

ValueState append_value(const Field& field, const ColumnView& view, int64_t row, std::string& out) {
  const Found found = find_value(field, view, row);
  if (found.state != ValueState::kWritten) return found.state;
  if (columnar::is_nested(found.view->layout)) return append_found(found, out);
  return append_flat(*found.field, *found.view, found.row, false, out);
}

ValueState append_array(const Field& field, const ColumnView& view, int64_t row, std::string& out) {
  const Found found = find_value(field, view, row);
  if (found.state != ValueState::kWritten) return found.state;
  columnar::ChildRows rows;
  if (!columnar::list_rows(*found.view, found.row, &rows)) return ValueState::kCorrupt;
  const Field& element = found.field->children[0];
  std::string text;
  out += '{';
  for (int64_t i = 0; i < rows.count; ++i) {
    if (i > 0) out += ',';
    text.clear();
    const ValueState state = append_value(element, *rows.child, rows.begin + i, text);
    if (state == ValueState::kCorrupt) return state;
    if (state == ValueState::kNull) {
      out += "NULL";
      continue;
    }
    out += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  out += '}';
  return ValueState::kWritten;
}

ValueState append_json(const Field& field, const ColumnView& view, int64_t row, std::string& out) {
  const Found found = find_value(field, view, row);
  if (found.state == ValueState::kNull) out += "null";
  return found.state == ValueState::kWritten ? append_found(found, out) : found.state;
}

}  // namespace strom::format::csv
