// See schema_text.hpp.
#include "tsv2arrow/schema_text.hpp"

#include <cstdio>
#include <string_view>

#include "dump/settings.hpp"

namespace strom::tsv2arrow {

namespace {

using columnar::Kind;
using columnar::NestedField;
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
  Kind kind;
  int32_t bits;
  TimeUnit unit = TimeUnit::kMicro;
};

constexpr PlainType kTypes[] = {
    {"bool", Kind::kBool, 0},
    {"int8", Kind::kInt, 8},
    {"int16", Kind::kInt, 16},
    {"int", Kind::kInt, 32},
    {"int32", Kind::kInt, 32},
    {"int64", Kind::kInt, 64},
    {"uint8", Kind::kUInt, 8},
    {"uint16", Kind::kUInt, 16},
    {"uint", Kind::kUInt, 32},
    {"uint32", Kind::kUInt, 32},
    {"uint64", Kind::kUInt, 64},
    {"float4", Kind::kFloat, 32},
    {"float32", Kind::kFloat, 32},
    {"float", Kind::kFloat, 64},
    {"float8", Kind::kFloat, 64},
    {"float64", Kind::kFloat, 64},
    {"date", Kind::kDate, 32},
    {"date-sec", Kind::kDate, 32},
    {"date-ms", Kind::kDate, 64},
    {"time", Kind::kTime, 64},
    {"time-sec", Kind::kTime, 32, TimeUnit::kSecond},
    {"time-ms", Kind::kTime, 32, TimeUnit::kMilli},
    {"time-us", Kind::kTime, 64},
    {"time-ns", Kind::kTime, 64, TimeUnit::kNano},
    {"timestamp", Kind::kTimestamp, 0},
    {"timestamp-sec", Kind::kTimestamp, 0, TimeUnit::kSecond},
    {"timestamp-ms", Kind::kTimestamp, 0, TimeUnit::kMilli},
    {"timestamp-us", Kind::kTimestamp, 0},
    {"timestamp-ns", Kind::kTimestamp, 0, TimeUnit::kNano},
    {"timestamptz", Kind::kTimestamp, -1},
    {"utf8", Kind::kUtf8, 0},
    {"text", Kind::kUtf8, 0},
    {"binary", Kind::kBinary, 0},
};

Status set_type(const std::string& type, NestedField& field) {
  for (const PlainType& plain : kTypes) {
    if (type != plain.name) continue;
    field.kind = plain.kind;
    field.bits = plain.bits;
    field.unit = plain.unit;
    if (plain.bits < 0) field.timezone = "UTC";
    return Status::ok();
  }
  constexpr int kMost = 76, kMost128 = 38;
  int precision = 0, scale = 0, used = 0;
  for (const auto& [form, bits] : {std::pair("decimal(%d,%d)%n", 0), std::pair("decimal128(%d,%d)%n", 128),
                                   std::pair("decimal256(%d,%d)%n", 256)}) {
    used = 0;
    // NOLINTNEXTLINE(clang-diagnostic-format-nonliteral)
    if (sscanf(type.c_str(), form, &precision, &scale, &used) != 2 || static_cast<size_t>(used) != type.size())
      continue;
    field.kind = Kind::kDecimal;
    field.bits = bits != 0 ? bits : precision <= kMost128 ? 128 : 256;
    field.precision = precision;
    field.scale = scale;
    if (precision < 1 || precision > (field.bits == 128 ? kMost128 : kMost) || scale < 0 || scale > precision)
      return usage_error("\"" + type + "\" has no possible precision and scale");
    return Status::ok();
  }
  return usage_error("\"" + type +
                     "\" is no type; types are bool, int8 to int64, uint8 to uint64, float32, float64, "
                     "decimal(P,S), date, time, timestamp, timestamptz, text, binary");
}

Status set_extra(const std::string& extra, NestedField& field) {
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

Result<std::vector<NestedField>> parse_schema(const std::string& text) {
  std::vector<NestedField> fields;
  for (const std::string& part : parts_of(text, ',')) {
    const std::vector<std::string> pieces = parts_of(part, ':');
    if (pieces.size() < 2 || pieces[0].empty()) return usage_error("\"" + part + "\" in the schema is not NAME:TYPE");
    NestedField& field = fields.emplace_back();
    field.name = unquoted(pieces[0]);
    STROM_TRY(set_type(pieces[1], field));
    std::string extras;
    for (size_t i = 2; i < pieces.size(); ++i) extras += (i > 2 ? ":" : "") + pieces[i];
    if (extras.empty()) continue;
    for (const std::string& extra : parts_of(extras, ';')) STROM_TRY(set_extra(extra, field));
  }
  return fields;
}

}  // namespace strom::tsv2arrow
