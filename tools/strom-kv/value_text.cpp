#include "strom-kv/value_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/hex.hpp"
#include "cli/progress.hpp"
#include "format/csv/datetime_text.hpp"

namespace strom::kv_tool {

namespace {

// OIDs of pg_type.dat.
enum : uint32_t {
  kBool = 16,
  kBytea = 17,
  kChar = 18,
  kName = 19,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = 25,
  kOid = 26,
  kJson = 114,
  kFloat4 = 700,
  kFloat8 = 701,
  kBpchar = 1042,
  kVarchar = 1043,
  kDate = 1082,
  kTime = 1083,
  kTimestamp = 1114,
  kTimestamptz = 1184,
  kUuid = 2950
};

template <class T>
T read(const stromkv_field& field) {
  T value{};
  std::memcpy(&value, field.data, std::min(sizeof(value), field.bytes));
  return value;
}

std::string hex(const stromkv_field& field) {
  std::string text = "\\x";
  base::append_hex(&text, field.data, field.bytes);
  return text;
}

std::string_view view(const stromkv_field& field) { return {static_cast<const char*>(field.data), field.bytes}; }

std::string number(double value, const std::string& shortest) {
  return std::isfinite(value) ? shortest
                              : tool::json_text(std::isnan(value) ? "NaN"
                                                : value < 0       ? "-Infinity"
                                                                  : "Infinity");
}

constexpr int64_t kSecond = 1'000'000, kDay = 86400 * kSecond;

constexpr int64_t kEpochDays = 10957;  // 2000-01-01, from which the server counts

std::string date_text(int64_t days) {
  char text[format::csv::kDateRoom];
  return {text, format::csv::put_date(text, days + kEpochDays)};
}

std::string time_text(int64_t us) {
  std::string text =
      fmt::format("{:02}:{:02}:{:02}", us / (3600 * kSecond), us / (60 * kSecond) % 60, us / kSecond % 60);
  if (us % kSecond == 0) return text;
  text += fmt::format(".{:06}", us % kSecond);
  while (text.back() == '0') text.pop_back();
  return text;
}

std::string timestamp_text(int64_t us, std::string_view zone) {
  if (us == INT64_MAX) return "infinity";
  if (us == INT64_MIN) return "-infinity";
  int64_t since_1970 = 0;
  // Of the last thirty years that the server knows.
  if (__builtin_add_overflow(us, kEpochDays * kDay, &since_1970))
    return fmt::format("{} us since 2000-01-01{}", us, zone);
  char text[format::csv::kTimestampRoom];
  constexpr int kMicroseconds = 6;
  return {text, format::csv::put_timestamp<kMicroseconds>(text, since_1970, ' ', zone.data(),
                                                          static_cast<int64_t>(zone.size()))};
}

std::string uuid_text(const stromkv_field& field) {
  std::string text = hex(field).substr(2);
  for (const size_t at : {20, 16, 12, 8})
    if (text.size() > at) text.insert(at, 1, '-');
  return text;
}

template <class T>
Result<std::string> integer_key(const std::string& text, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < least || value > most)
    return Status(ErrorCode::kInvalidParameter, "\"" + text + "\" is no value of the key's type");
  const T stored = static_cast<T>(value);
  return std::string(reinterpret_cast<const char*>(&stored), sizeof(stored));
}

Result<std::string> hex_key(const std::string& text, const char* type) {
  const auto wrong = [&] {
    return Status(ErrorCode::kInvalidParameter, "a key of type " + std::string(type) +
                                                    " is given by its bytes, as \\x and hexadecimal digits, not \"" +
                                                    text + "\"");
  };
  if (!text.starts_with("\\x") || text.size() % 2 != 0) return wrong();
  std::string bytes;
  for (size_t i = 2; i < text.size(); i += 2) {
    unsigned value = 0;
    const auto parsed = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + i + 2) return wrong();
    bytes += static_cast<char>(value);
  }
  return bytes;
}

Result<std::string> uuid_key(const std::string& text) {
  std::string digits = "\\x";
  for (const char c : text)
    if (c != '-' && c != '{' && c != '}') digits += c;
  STROM_ASSIGN(std::string bytes, hex_key(digits, "uuid"));
  if (bytes.size() != 16) return Status(ErrorCode::kInvalidParameter, "\"" + text + "\" is no uuid");
  return bytes;
}

bool is_text(const stromkv_column& column) {
  constexpr std::array<uint32_t, 5> kTexts{kText, kVarchar, kBpchar, kName, kJson};
  return std::find(kTexts.begin(), kTexts.end(), column.type_id) != kTexts.end();
}

/// A text as JSON.
Result<std::string> json_of_text(const stromkv_column& column, const stromkv_field& field, const TextCodec& codec) {
  const std::string_view bytes = view(field);
  const size_t length = column.type_id == kName ? bytes.find('\0') : bytes.size();  // a name is padded
  STROM_ASSIGN(std::string text, codec.to_utf8(bytes.substr(0, length)));
  if (column.type_id != kJson) return tool::json_text(text);
  // A row is one line. Strings inside JSON have no line breaks.
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

/// Another value as JSON.
std::string json_value(const stromkv_column& column, const stromkv_field& field) {
  if (field.data == nullptr) return "null";
  switch (column.type_id) {
    case kBool: return read<uint8_t>(field) != 0 ? "true" : "false";
    case kInt2:
    case kInt4: return fmt::format("{}", read<int32_t>(field));
    case kInt8: return fmt::format("{}", read<int64_t>(field));
    case kOid: return fmt::format("{}", read<uint64_t>(field));
    case kFloat4: return number(read<float>(field), fmt::format("{}", read<float>(field)));
    case kFloat8: return number(read<double>(field), fmt::format("{}", read<double>(field)));
    case kDate: {
      const auto days = read<int32_t>(field);
      if (days == INT32_MAX || days == INT32_MIN) return days > 0 ? "\"infinity\"" : "\"-infinity\"";
      return tool::json_text(date_text(days));
    }
    case kTime: return tool::json_text(time_text(read<int64_t>(field)));
    case kTimestamp: return tool::json_text(timestamp_text(read<int64_t>(field), ""));
    case kTimestamptz: return tool::json_text(timestamp_text(read<int64_t>(field), "+00"));
    case kUuid: return tool::json_text(uuid_text(field));
    default: return tool::json_text(hex(field));
  }
}

}  // namespace

Result<std::string> key_bytes(const stromkv_column& column, const std::string& text, const TextCodec& codec) {
  switch (column.type_id) {
    case kInt2: return integer_key<int32_t>(text, INT16_MIN, INT16_MAX);
    case kInt4: return integer_key<int32_t>(text, INT32_MIN, INT32_MAX);
    case kInt8: return integer_key<int64_t>(text, INT64_MIN, INT64_MAX);
    case kOid: return integer_key<uint64_t>(text, 0, UINT32_MAX);
    case kText:
    case kVarchar: return codec.from_utf8(text);
    case kUuid: return uuid_key(text);
    default: return hex_key(text, column.type);
  }
}

Result<std::string> json_row(std::span<const stromkv_column* const> columns, std::span<const stromkv_field> fields,
                             const TextCodec& codec) {
  std::string text = "{";
  for (size_t i = 0; i < columns.size(); ++i) {
    STROM_ASSIGN(const std::string name, codec.to_utf8(columns[i]->name));
    text += (i == 0 ? "" : ", ") + tool::json_text(name) + ": ";
    if (fields[i].data != nullptr && is_text(*columns[i])) {
      STROM_ASSIGN(const std::string value, json_of_text(*columns[i], fields[i], codec));
      text += value;
    } else {
      text += json_value(*columns[i], fields[i]);
    }
  }
  return text + "}";
}

}  // namespace strom::kv_tool
