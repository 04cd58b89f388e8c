// See column_plan.hpp.
#include "format/csv/column_plan.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "base/hex.hpp"
#include "columnar/layout.hpp"
#include "format/csv/datetime_text.hpp"
#include "format/csv/number_text.hpp"
#include "format/csv/text_form.hpp"

namespace strom::format::csv {

using columnar::Field;
using columnar::Layout;

namespace {

bool is_extension(const Field& field, std::string_view name) {
  for (const auto& [key, value] : field.metadata)
    if (key == "ARROW:extension:name") return value == name;
  return false;
}

char* put_hex(char* out, const uint8_t* bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out = base::put_hex(out, bytes[i]);
  return out;
}

/// `count` bytes as a number, the first byte highest.
char* put_number(char* out, const uint8_t* bytes, int64_t count) {
  uint64_t number = 0;
  for (int64_t i = 0; i < count; ++i) number = number << 8 | bytes[i];
  return put_uint64(out, number);
}

/// Most bytes of a value that is not text; 0 for text.
int64_t value_room(const Field& field, BinaryKind binary) {
  switch (field.layout) {
    case Layout::kBool:
    case Layout::kInt8:
    case Layout::kUInt8:
    case Layout::kInt16:
    case Layout::kUInt16:
    case Layout::kInt32:
    case Layout::kUInt32:
    case Layout::kInt64: return 24;
    case Layout::kFloat32:
    case Layout::kFloat64: return kFloatRoom;
    case Layout::kDecimal32:
    case Layout::kDecimal64:
    case Layout::kDecimal128: return decimal_room(field.scale);
    case Layout::kDate32:
    case Layout::kDate64: return kDateRoom;
    case Layout::kTimestamp: return kTimestampRoom;
    case Layout::kFixedBinary:
      if (binary == BinaryKind::kText) return 0;
      return std::max<int64_t>(INET6_ADDRSTRLEN, 3 + 3 * int64_t{field.byte_width});
    default: return 0;
  }
  return 0;
}

const Field& value_field(const Field& field) {
  return field.layout == Layout::kRunEndEncoded ? value_field(field.children[1]) : field;
}

bool is_flat_list(const Field& field) {
  const Field& list = value_field(field);
  return columnar::is_list(list.layout) && !columnar::is_nested(value_field(list.children[0]).layout);
}

}  // namespace

std::string_view pg_type_name(const Field& field) {
  for (const auto& [key, value] : field.metadata) {
    if (key != "pg_type") continue;
    std::string_view name = value;
    name = name.substr(0, name.find('@'));
    return name.substr(name.rfind('.') + 1);
  }
  return {};
}

BinaryKind binary_kind(const Field& field, bool binary_hex) {
  const std::string_view type = pg_type_name(field);
  const int32_t width = field.byte_width;
  const bool is_uuid = type == "uuid" || is_extension(field, "arrow.uuid");
  if (is_uuid && width == 16) return BinaryKind::kUuid;
  if ((type == "macaddr" && width == 6) || (type == "macaddr8" && width == 8)) return BinaryKind::kMac;
  if (type == "tid" && width == 6) return BinaryKind::kTid;
  if ((type == "inet" || type == "cidr") && (width == 4 || width == 16)) return BinaryKind::kAddress;
  return type == "bytea" || binary_hex ? BinaryKind::kHex : BinaryKind::kText;
}

char* put_binary(char* out, BinaryKind kind, const uint8_t* bytes, int64_t width) {
  switch (kind) {
    case BinaryKind::kText: break;  // not written here
    case BinaryKind::kHex: return put_hex(put_bytes(out, "\\x", 2), bytes, width);
    case BinaryKind::kUuid:
      for (int64_t from = 0, size = 4; from < 16; from += size, size = from < 10 ? 2 : 6) {
        if (from > 0) *out++ = '-';
        out = put_hex(out, bytes + from, size);
      }
      return out;
    case BinaryKind::kMac:
      for (int64_t i = 0; i < width; ++i) {
        if (i > 0) *out++ = ':';
        out = put_hex(out, bytes + i, 1);
      }
      return out;
    case BinaryKind::kTid:
      *out++ = '(';
      out = put_number(out, bytes, 4);
      *out++ = ',';
      out = put_number(out, bytes + 4, 2);
      *out++ = ')';
      return out;
    case BinaryKind::kAddress:
      if (inet_ntop(width == 4 ? AF_INET : AF_INET6, bytes, out, INET6_ADDRSTRLEN) == nullptr) return out;
      return out + std::strlen(out);
  }
  return out;
}

void set_before(Frame& frame, std::string text) {
  frame.before_size = static_cast<int64_t>(text.size());
  text.resize((text.size() + 15) / 16 * 16);
  frame.before = std::move(text);
}

void set_behind(Frame& frame, std::string_view text) {
  frame.behind_size = static_cast<int64_t>(text.size());
  std::memcpy(&frame.behind, text.data(), text.size());
}

Result<std::vector<Column>> plan_columns(const std::vector<Field>& fields, const TextOptions& options) {
  std::vector<Column> columns;
  for (const Field& field : fields) {
    if (!field.unsupported.empty())
      return Status(ErrorCode::kUnsupported, "column \"" + field.name + "\" uses " + field.unsupported);
    Column& column = columns.emplace_back();
    column.field = field;
    column.frame.null_text = options.style == Style::kJsonLines ? "null" : options.null_text;
    if (field.layout == Layout::kFixedBinary) column.binary = binary_kind(field, options.binary_hex);
    column.is_rendered = !columnar::has_engine_loader(field.layout) || columnar::is_binary(field.layout) ||
                         (field.dictionary && field.layout == Layout::kBool) ||
                         column.binary == BinaryKind::kTid;  // its comma may need quotes
    column.is_array = options.arrays && is_flat_list(field);
    column.room = column.is_rendered ? 0 : value_room(field, column.binary);
    column.is_text = column.room == 0;
  }
  return columns;
}

}  // namespace strom::format::csv
