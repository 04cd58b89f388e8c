#include "format/forward/msgpack.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/hex.hpp"
#include "columnar/utf8.hpp"

namespace strom::format::forward {

using Kind = Value::Kind;

/// The meaning of a first byte from 0xc0 to 0xdf. `size` is the number's size in bytes, or the size of the length that
/// follows; where the value's size is fixed, that size.
struct MessageReader::Form {
  Kind kind;
  uint8_t size;
  bool is_fixed = false;
};

const uint8_t MessageReader::kFirstForm = 0xc0;
const uint8_t MessageReader::kLastForm = 0xdf;
const MessageReader::Form MessageReader::kForms[] = {{Kind::kNil, 0},
                                                     {Kind::kNil, 1},  // 0xc1 is no value
                                                     {Kind::kBool, 0},
                                                     {Kind::kBool, 1},
                                                     {Kind::kBytes, 1},
                                                     {Kind::kBytes, 2},
                                                     {Kind::kBytes, 4},
                                                     {Kind::kExtension, 1},
                                                     {Kind::kExtension, 2},
                                                     {Kind::kExtension, 4},
                                                     {Kind::kFloat, 4},
                                                     {Kind::kFloat, 8},
                                                     {Kind::kUInt, 1},
                                                     {Kind::kUInt, 2},
                                                     {Kind::kUInt, 4},
                                                     {Kind::kUInt, 8},
                                                     {Kind::kInt, 1},
                                                     {Kind::kInt, 2},
                                                     {Kind::kInt, 4},
                                                     {Kind::kInt, 8},
                                                     {Kind::kExtension, 1, true},
                                                     {Kind::kExtension, 2, true},
                                                     {Kind::kExtension, 4, true},
                                                     {Kind::kExtension, 8, true},
                                                     {Kind::kExtension, 16, true},
                                                     {Kind::kText, 1},
                                                     {Kind::kText, 2},
                                                     {Kind::kText, 4},
                                                     {Kind::kArray, 2},
                                                     {Kind::kArray, 4},
                                                     {Kind::kMap, 2},
                                                     {Kind::kMap, 4}};

Step MessageReader::take_bytes(uint64_t size, Value* value) {
  if (rest_.size() < size) return Step::kIncomplete;
  value->bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return Step::kDone;
}

/// Big-endian, of 1 to 8 bytes.
bool MessageReader::take_bits(size_t size, uint64_t* bits) {
  if (rest_.size() < size) return false;
  constexpr size_t kWord = sizeof(uint64_t);
  if (rest_.size() >= kWord) {
    uint64_t word = 0;
    std::memcpy(&word, rest_.data(), kWord);
    *bits = __builtin_bswap64(word) >> (8 * (kWord - size));
  } else {
    *bits = 0;
    for (size_t i = 0; i < size; ++i) *bits = *bits << 8 | static_cast<uint8_t>(rest_[i]);
  }
  rest_.remove_prefix(size);
  return true;
}

/// Values whose size, or number of elements, is in their first byte.
Step MessageReader::take_short(uint8_t code, Value* value) {
  if (code <= 0x7f || code >= 0xe0) {
    value->kind = Kind::kInt;
    value->integer = code <= 0x7f ? int64_t{code} : int64_t{code} - 256;
    return Step::kDone;
  }
  if (code >= 0xa0) {
    value->kind = Kind::kText;
    return take_bytes(code & 0x1f, value);
  }
  value->kind = code <= 0x8f ? Kind::kMap : Kind::kArray;
  value->count = code & 0x0f;
  return Step::kDone;
}

Step MessageReader::take_number(const Form& form, Value* value) {
  uint64_t bits = 0;
  if (!take_bits(form.size, &bits)) return Step::kIncomplete;
  value->kind = form.kind;
  if (form.kind == Kind::kFloat) {
    value->number =
        form.size == sizeof(float) ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
  } else if (form.kind == Kind::kInt) {
    const int unused = 64 - 8 * static_cast<int>(form.size);
    value->integer = static_cast<int64_t>(bits << unused) >> unused;
  } else {
    value->integer = static_cast<int64_t>(bits);
    if (value->integer >= 0) value->kind = Kind::kInt;
  }
  return Step::kDone;
}

/// Takes a size, and the value with that size.
Step MessageReader::take_sized(const Form& form, Value* value) {
  uint64_t size = form.size, type = 0;
  if (!form.is_fixed && !take_bits(form.size, &size)) return Step::kIncomplete;
  value->kind = form.kind;
  if (form.kind == Kind::kArray || form.kind == Kind::kMap) {
    value->count = static_cast<uint32_t>(size);
    return Step::kDone;
  }
  if (form.kind == Kind::kExtension) {
    if (!take_bits(1, &type)) return Step::kIncomplete;
    value->extension = static_cast<int8_t>(type);
  }
  return take_bytes(size, value);
}

Step MessageReader::take(Value* value) {
  const auto code = static_cast<uint8_t>(rest_[0]);
  rest_.remove_prefix(1);
  if (code < kFirstForm || code > kLastForm) return take_short(code, value);
  const Form& form = kForms[code - kFirstForm];
  switch (form.kind) {
    case Kind::kNil: value->kind = Kind::kNil; return form.size == 0 ? Step::kDone : Step::kInvalid;
    case Kind::kBool:
      value->kind = Kind::kBool;
      value->truth = form.size != 0;
      return Step::kDone;
    case Kind::kInt:
    case Kind::kUInt:
    case Kind::kFloat: return take_number(form, value);
    default: return take_sized(form, value);
  }
}

Step MessageReader::skip() {
  // Number of values still to come. It cannot overflow: each value takes at least a byte, or the bytes end.
  for (uint64_t left = 1; left > 0; --left) {
    Value value;
    if (const Step step = next(&value); step != Step::kDone) return step;
    left += value.values_inside();
  }
  return Step::kDone;
}

namespace {

constexpr int kDeepest = 64;

void append_text(std::string_view text, std::string* json) {
  json->push_back('"');
  const bool is_text = columnar::is_utf8(text);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"': *json += "\\\""; break;
      case '\\': *json += "\\\\"; break;
      case '\n': *json += "\\n"; break;
      case '\t': *json += "\\t"; break;
      case '\r': *json += "\\r"; break;
      default:
        if (byte == 0 || (byte >= 0x80 && !is_text))
          *json += "\\ufffd";
        else if (byte < 0x20)
          base::append_hex(&json->append("\\u00"), c);
        else
          json->push_back(c);
    }
  }
  json->push_back('"');
}

bool append_value(MessageReader& reader, int depth, std::string* json);

bool append_items(MessageReader& reader, const Value& value, int depth, std::string* json) {
  const bool is_map = value.kind == Kind::kMap;
  json->push_back(is_map ? '{' : '[');
  for (uint32_t i = 0; i < value.count; ++i) {
    if (i > 0) *json += ", ";
    if (is_map) {
      // A key must not be nested: each level would double the bytes that need quotes.
      std::string key;
      if (!append_value(reader, kDeepest, &key)) return false;
      if (key.starts_with('"'))
        *json += key;
      else
        append_text(key, json);
      *json += ": ";
    }
    if (!append_value(reader, depth + 1, json)) return false;
  }
  json->push_back(is_map ? '}' : ']');
  return true;
}

bool append_value(MessageReader& reader, int depth, std::string* json) {
  Value value;
  if (depth > kDeepest || reader.next(&value) != Step::kDone) return false;
  switch (value.kind) {
    case Kind::kNil:
    case Kind::kExtension: *json += "null"; return true;
    case Kind::kBool: *json += value.truth ? "true" : "false"; return true;
    case Kind::kInt: *json += std::to_string(value.integer); return true;
    case Kind::kUInt: *json += std::to_string(static_cast<uint64_t>(value.integer)); return true;
    case Kind::kFloat:
      if (std::isfinite(value.number))
        *json += shortest_text(value.number);
      else
        append_text(shortest_text(value.number), json);
      return true;
    case Kind::kText:
    case Kind::kBytes: append_text(value.bytes, json); return true;
    case Kind::kArray:
    case Kind::kMap: return append_items(reader, value, depth, json);
  }
  return false;
}

}  // namespace

std::string shortest_text(double number) {
  constexpr size_t kLongest = 32;
  char text[kLongest];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

bool append_json(MessageReader& reader, std::string* json) { return append_value(reader, 0, json); }

}  // namespace strom::format::forward
