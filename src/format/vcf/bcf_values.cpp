#include "format/vcf/bcf_values.hpp"

#include <charconv>
#include <cstring>

namespace strom::format::vcf {

namespace {

constexpr int32_t kMissing8 = INT8_MIN, kMissing16 = INT16_MIN, kMissing32 = INT32_MIN;  // the vector's end is one more
constexpr uint32_t kMissingFloat = 0x7F800001, kEndFloat = 0x7F800002;
constexpr char kMissingChar = 7;

template <class T>
T load(const char* bytes, uint32_t index) {
  T value;
  std::memcpy(&value, bytes + size_t{index} * sizeof(T), sizeof(T));
  return value;
}

int32_t integer_at(const BinaryValues& values, uint32_t index) {
  switch (values.type) {
    case BinaryValues::kInt8: return load<int8_t>(values.bytes, index);
    case BinaryValues::kInt16: return load<int16_t>(values.bytes, index);
    default: return load<int32_t>(values.bytes, index);
  }
}

int32_t missing_of(uint8_t type) {
  return type == BinaryValues::kInt8 ? kMissing8 : type == BinaryValues::kInt16 ? kMissing16 : kMissing32;
}

template <class T>
void append_number(T number, std::string* text) {
  constexpr size_t kLongest = 32;
  char digits[kLongest];
  text->append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

uint32_t BinaryValues::length() const {
  for (uint32_t i = 0; i < count; ++i) {
    const bool is_end = is_integer()     ? integer_at(*this, i) == missing_of(type) + 1
                        : type == kFloat ? load<uint32_t>(bytes, i) == kEndFloat
                                         : bytes[i] == '\0';
    if (is_end) return i;
  }
  return count;
}

bool BinaryValues::integer(uint32_t index, int32_t* value) const {
  *value = integer_at(*this, index);
  return *value != missing_of(type);
}

bool BinaryValues::real(uint32_t index, float* value) const {
  *value = load<float>(bytes, index);
  return load<uint32_t>(bytes, index) != kMissingFloat;
}

bool BinaryValues::is_missing(uint32_t index) const {
  if (is_integer()) return integer_at(*this, index) == missing_of(type);
  if (type == kFloat) return load<uint32_t>(bytes, index) == kMissingFloat;
  return bytes[index] == kMissingChar;
}

bool BinaryReader::take_type(BinaryValues* values) {
  uint8_t code = 0;
  if (!take(&code)) return false;
  constexpr uint8_t kTypeBits = 0x0F, kLongCount = 15;
  values->type = code & kTypeBits;
  values->count = code >> 4;
  const bool is_type = values->type <= BinaryValues::kInt32 || values->type == BinaryValues::kFloat ||
                       values->type == BinaryValues::kChar;
  if (!is_type) return false;
  if (values->type == BinaryValues::kNothing) return values->count = 0, true;
  if (values->count < kLongCount) return true;
  int32_t count = 0;
  if (!take_key(&count) || count < 0) return false;
  values->count = static_cast<uint32_t>(count);
  return true;
}

bool BinaryReader::take_values(BinaryValues* values, uint64_t times) {
  // 2^31 values of 4 bytes of 2^24 samples: no overflow.
  const uint64_t size = values->count * BinaryValues::width(values->type) * times;
  std::string_view bytes;
  if (!take_bytes(size, &bytes)) return false;
  values->bytes = bytes.data();
  return true;
}

bool BinaryReader::take_key(int32_t* key) {
  uint8_t code = 0;
  if (!take(&code)) return false;
  BinaryValues value;
  value.type = code & 0x0F;
  value.count = code >> 4;
  return value.count == 1 && value.is_integer() && take_values(&value, 1) && value.integer(0, key);
}

void append_text(const BinaryValues& values, std::string* text) {
  const uint32_t length = values.length();
  if (values.type == BinaryValues::kChar) {
    if (length == 0) text->push_back('.');
    for (uint32_t i = 0; i < length; ++i) text->push_back(values.is_missing(i) ? '.' : values.bytes[i]);
    return;
  }
  if (length == 0) text->push_back('.');
  for (uint32_t i = 0; i < length; ++i) {
    if (i > 0) text->push_back(',');
    int32_t integer = 0;
    float real = 0;
    if (values.is_missing(i))
      text->push_back('.');
    else if (values.is_integer())
      values.integer(i, &integer), append_number(integer, text);
    else
      values.real(i, &real), append_number(real, text);
  }
}

void append_genotype(const BinaryValues& values, std::string* text) {
  const uint32_t length = values.is_integer() ? values.length() : 0;
  if (length == 0) text->push_back('.');
  for (uint32_t i = 0; i < length; ++i) {
    int32_t code = 0;
    const bool is_known = values.integer(i, &code) && (code >> 1) > 0;
    if (i > 0) text->push_back((code & 1) != 0 ? '|' : '/');
    if (is_known)
      append_number((code >> 1) - 1, text);
    else
      text->push_back('.');
  }
}

}  // namespace strom::format::vcf
