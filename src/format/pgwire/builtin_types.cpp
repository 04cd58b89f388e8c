// See builtin_types.hpp.
#include "format/pgwire/builtin_types.hpp"

#include <algorithm>

namespace strom::format::pgwire {

namespace {

using columnar::Field;
using columnar::Layout;

// PostgreSQL's built-in types have numbers that never change (pg_type.dat).
enum : uint32_t {
  kBool = 16,
  kBytea = 17,
  kName = 19,
  kInt8 = 20,
  kInt2 = 21,
  kInt4 = 23,
  kText = kTextType,
  kOid = 26,
  kTid = 27,
  kXid = 28,
  kCid = 29,
  kJson = 114,
  kCidr = 650,
  kFloat4 = 700,
  kFloat8 = 701,
  kMacaddr8 = 774,
  kMacaddr = 829,
  kInet = 869,
  kBpchar = 1042,
  kVarchar = 1043,
  kDate = 1082,
  kTime = 1083,
  kTimestamp = 1114,
  kTimestampTz = 1184,
  kInterval = 1186,
  kNumeric = 1700,
  kUuid = 2950,
  kPgLsn = 3220,
  kJsonb = 3802,
  kXid8 = 5069,
};

void set_numeric(int32_t modifier, const NumericChoice& choice, Field& field, WireColumn& wire) {
  constexpr int32_t kHeader = 4;  // of every modifier
  constexpr int32_t kMaxDecimal128 = 38, kMaxDecimal256 = 76;
  int32_t precision = 0, scale = 0;
  if (modifier >= kHeader) {
    precision = (modifier - kHeader) >> 16 & 0xFFFF;
    scale = (((modifier - kHeader) & 0x7FF) ^ 1024) - 1024;
  }
  NumericChoice::As as = NumericChoice::As::kDecimal;
  if (precision < 1 || precision > kMaxDecimal256) {
    as = choice.as;
    precision = choice.precision;
    scale = choice.scale;
  }
  switch (as) {
    case NumericChoice::As::kDecimal:
      wire.wire = Wire::kDecimal;
      field.layout = precision <= kMaxDecimal128 ? Layout::kDecimal128 : Layout::kDecimal256;
      field.precision = precision;
      field.scale = scale;
      break;
    case NumericChoice::As::kText:
      wire.wire = Wire::kNumericText;
      field.layout = Layout::kUtf8;
      break;
    case NumericChoice::As::kReal:
      wire.wire = Wire::kNumericReal;
      wire.may_round = choice.may_round;
      field.layout = Layout::kFloat64;
      break;
  }
}

/// The width of types that are bytes of a fixed width; 0 for others.
int32_t bytes_of(uint32_t type) {
  switch (type) {
    case kUuid: return 16;
    case kTid:  // the block, then the item, each with its highest byte first
    case kMacaddr: return 6;
    case kMacaddr8: return 8;
    default: return 0;
  }
}

}  // namespace

bool set_builtin_type(uint32_t type, int32_t modifier, const NumericChoice& numeric, const std::string& timezone,
                      Field& field, WireColumn& wire) {
  const auto set = [&](Wire form, Layout layout) {
    wire.wire = form;
    field.layout = layout;
  };
  switch (type) {
    case kBool: set(Wire::kBool, Layout::kBool); break;
    case kInt2: set(Wire::kInt, Layout::kInt16); break;
    case kInt4: set(Wire::kInt, Layout::kInt32); break;
    case kInt8: set(Wire::kInt, Layout::kInt64); break;
    case kOid:
    case kXid:
    case kCid: set(Wire::kInt, Layout::kUInt32); break;
    case kXid8:
    case kPgLsn: set(Wire::kInt, Layout::kUInt64); break;
    case kFloat4: set(Wire::kInt, Layout::kFloat32); break;
    case kFloat8: set(Wire::kInt, Layout::kFloat64); break;
    case kNumeric: set_numeric(modifier, numeric, field, wire); break;
    case kText:
    case kVarchar:
    case kBpchar:
    case kName:
    case kJson: set(Wire::kText, Layout::kUtf8); break;
    case kJsonb: set(Wire::kJsonb, Layout::kUtf8); break;
    case kInet:
    case kCidr: set(Wire::kNetwork, Layout::kUtf8); break;
    case kBytea: set(Wire::kBytes, Layout::kBinary); break;
    case kDate: set(Wire::kDate, Layout::kDate32); break;
    case kTime: set(Wire::kTime, Layout::kTime64); break;
    case kTimestampTz: field.timezone = timezone; [[fallthrough]];
    case kTimestamp: set(Wire::kTimestamp, Layout::kTimestamp); break;
    case kInterval: set(Wire::kInterval, Layout::kIntervalMonthDayNano); break;
    default:
      if (bytes_of(type) == 0) return false;
      set(Wire::kFixed, Layout::kFixedBinary);
      field.byte_width = bytes_of(type);
  }
  return true;
}

std::string arrow_timezone(const std::string& setting) {
  const bool plain = std::all_of(setting.begin(), setting.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
           c == '-' || c == '+';
  });
  const bool is_name = plain && setting.find_first_of("abcdefghijklmnopqrstuvwxyz/") != std::string::npos;
  return is_name && setting != "localtime" ? setting : "UTC";
}

}  // namespace strom::format::pgwire
