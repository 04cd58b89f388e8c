// See schema_text.hpp.
#include "dump/schema_text.hpp"

#include <cstdio>
#include <string_view>

#include "dump/settings.hpp"

namespace strom::tool {

namespace {

using columnar::Field;
using columnar::Layout;
using columnar::TimeUnit;
using tool::usage_error;

/// Parts between separators that are in neither quotes nor brackets.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted) depth += (c == '(') - (c == ')');
    if (c == separator && depth == 0 && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// A name in double quotes may have any characters; two quotes in it are one.
std::string unquoted(const std::string& text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  std::string out;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    out += text[i];
    if (text[i] == '"' && text[i + 1] == '"') ++i;
  }
  return out;
}

struct PlainType {
  const char* name;
  Layout layout;
  TimeUnit unit = TimeUnit::kMicro;
  bool has_zone = false;
};

constexpr PlainType kTypes[] = {
    {"bool", Layout::kBool},
    {"int8", Layout::kInt8},
    {"int16", Layout::kInt16},
    {"int", Layout::kInt32},
    {"int32", Layout::kInt32},
    {"int64", Layout::kInt64},
    {"uint8", Layout::kUInt8},
    {"uint16", Layout::kUInt16},
    {"uint", Layout::kUInt32},
    {"uint32", Layout::kUInt32},
    {"uint64", Layout::kUInt64},
    {"float4", Layout::kFloat32},
    {"float32", Layout::kFloat32},
    {"float", Layout::kFloat64},
    {"float8", Layout::kFloat64},
    {"float64", Layout::kFloat64},
    {"date", Layout::kDate32},
    {"date-sec", Layout::kDate32},
    {"date-ms", Layout::kDate64},
    {"time", Layout::kTime64},
    {"time-sec", Layout::kTime32, TimeUnit::kSecond},
    {"time-ms", Layout::kTime32, TimeUnit::kMilli},
    {"time-us", Layout::kTime64},
    {"time-ns", Layout::kTime64, TimeUnit::kNano},
    {"timestamp", Layout::kTimestamp},
    {"timestamp-sec", Layout::kTimestamp, TimeUnit::kSecond},
    {"timestamp-ms", Layout::kTimestamp, TimeUnit::kMilli},
    {"timestamp-us", Layout::kTimestamp},
    {"timestamp-ns", Layout::kTimestamp, TimeUnit::kNano},
    {"timestamptz", Layout::kTimestamp, TimeUnit::kMicro, true},
    {"utf8", Layout::kUtf8},
    {"text", Layout::kUtf8},
    {"binary", Layout::kBinary},
};

Status set_type(const std::string& type, Field& field) {
  for (const PlainType& plain : kTypes) {
    if (type != plain.name) continue;
    field.layout = plain.layout;
    field.unit = plain.unit;
    if (plain.has_zone) field.timezone = "UTC";
    return Status::ok();
  }
  constexpr int kMost128 = 38;
  int precision = 0, scale = 0, used = 0;
  for (const auto& [form, bits] : {std::pair("decimal(%d,%d)%n", 0), std::pair("decimal128(%d,%d)%n", 128),
                                   std::pair("decimal256(%d,%d)%n", 256)}) {
    used = 0;
    // NOLINTNEXTLINE(clang-diagnostic-format-nonliteral)
    if (sscanf(type.c_str(), form, &precision, &scale, &used) != 2 || static_cast<size_t>(used) != type.size())
      continue;
    const bool is_wide = bits == 256 || (bits == 0 && precision > kMost128);
    field.layout = is_wide ? Layout::kDecimal256 : Layout::kDecimal128;
    field.precision = precision;
    field.scale = scale;
    if (precision < 1 || precision > columnar::max_precision(field.layout) || scale < 0 || scale > precision)
      return usage_error("\"" + type + "\" has no possible precision and scale");
    return Status::ok();
  }
  return usage_error("\"" + type +
                     "\" is no type; types are bool, int8 to int64, uint8 to uint64, float32, float64, "
                     "decimal(P,S), date, time, timestamp, timestamptz, text, binary");
}

Status set_extra(const std::string& extra, Field& field) {
  const size_t equals = extra.find('=');
  if (extra == "not_null" || extra == "nullable") {
    field.nullable = extra == "nullable";
  } else if (equals != std::string::npos && equals > 0) {
    field.metadata.emplace_back(extra.substr(0, equals), extra.substr(equals + 1));
  } else {
    return usage_error("\"" + extra + "\" is none of not_null, nullable, KEY=VALUE");
  }
  return Status::ok();
}

}  // namespace

Result<std::vector<Field>> parse_schema(const std::string& text) {
  std::vector<Field> fields;
  for (const std::string& part : parts_of(text, ',')) {
    const std::vector<std::string> pieces = parts_of(part, ':');
    if (pieces.size() < 2 || pieces[0].empty()) return usage_error("\"" + part + "\" in the schema is not NAME:TYPE");
    Field& field = fields.emplace_back();
    field.name = unquoted(pieces[0]);
    STROM_TRY(set_type(pieces[1], field));
    std::string extras;
    for (size_t i = 2; i < pieces.size(); ++i) extras += (i > 2 ? ":" : "") + pieces[i];
    if (extras.empty()) continue;
    for (const std::string& extra : parts_of(extras, ';')) STROM_TRY(set_extra(extra, field));
  }
  return fields;
}

}  // namespace strom::tool
