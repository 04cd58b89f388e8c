// MessagePack, https://github.com/msgpack/msgpack/blob/master/spec.md: reads values one after another from untrusted
// bytes. Used by messages.cpp and record_columns.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strom::format::forward {

struct Value {
  enum class Kind : uint8_t { kNil, kBool, kInt, kUInt, kFloat, kText, kBytes, kArray, kMap, kExtension };
  Kind kind = Kind::kNil;
  int8_t extension = 0;  // its type
  bool truth = false;
  int64_t integer = 0;     // kInt; kUInt: the bits of a number beyond int64_t
  double number = 0;       // kFloat
  uint32_t count = 0;      // elements of kArray, pairs of kMap; they follow
  std::string_view bytes;  // kText, kBytes, kExtension

  /// How many of the next values are inside of this one.
  uint64_t values_inside() const { return kind == Kind::kArray ? count : kind == Kind::kMap ? uint64_t{2} * count : 0; }
};

enum class Step : uint8_t { kDone, kIncomplete, kInvalid };

class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  /// Reads a value. Elements of arrays and maps are separate values. kIncomplete: the bytes end before the value does.
  /// Members of `value` that its kind does not use are unchanged, except that `count` becomes 0.
  Step next(Value* value) {
    if (rest_.empty()) return Step::kIncomplete;
    const auto code = static_cast<uint8_t>(rest_[0]);
    value->count = 0;
    // Short texts and small numbers are the most frequent values.
    constexpr uint8_t kLastNumber = 0x7f, kFirstText = 0xa0, kSizeBits = 0x1f;
    if (code <= kLastNumber) {
      value->kind = Value::Kind::kInt;
      value->integer = code;
      rest_.remove_prefix(1);
      return Step::kDone;
    }
    if (const size_t size = code & kSizeBits; (code & ~kSizeBits) == kFirstText && size < rest_.size()) {
      value->kind = Value::Kind::kText;
      value->bytes = {rest_.data() + 1, size};
      rest_.remove_prefix(1 + size);
      return Step::kDone;
    }
    return take(value);
  }
  /// Skips a value with everything inside.
  Step skip();
  std::string_view rest() const { return rest_; }

 private:
  struct Form;
  static const uint8_t kFirstForm, kLastForm;
  static const Form kForms[];
  Step take(Value* value);
  bool take_bits(size_t size, uint64_t* bits);
  Step take_short(uint8_t code, Value* value);
  Step take_number(const Form& form, Value* value);
  Step take_sized(const Form& form, Value* value);
  Step take_bytes(uint64_t size, Value* value);

  std::string_view rest_;
};

/// The shortest text that reads back as the same number.
std::string shortest_text(double number);

/// Appends the next value as JSON. Invalid UTF-8 is replaced, extensions become null. False when the value is
/// incomplete, nested deeper than 64 values, or has a nested key.
bool append_json(MessageReader& reader, std::string* json);

}  // namespace strom::format::forward
