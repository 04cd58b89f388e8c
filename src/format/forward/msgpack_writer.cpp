#include "format/forward/msgpack_writer.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "format/forward/valid_text.hpp"

namespace strom::format::forward {
namespace {

constexpr int kByte = 8;

/// Big-endian.
template <class T>
void put_bits(T value, std::string* out) {
  for (int shift = static_cast<int>(sizeof(T)) * kByte - kByte; shift >= 0; shift -= kByte)
    *out += static_cast<char>(value >> shift & 0xFF);
}

/// Writes a byte that tells the size of the count, and the count. `one` -1: there is no form with a count of one byte.
void put_count(uint32_t count, int one, char two, std::string* out) {
  if (count <= UINT8_MAX && one >= 0) {
    *out += static_cast<char>(one);
    put_bits(static_cast<uint8_t>(count), out);
  } else if (count <= UINT16_MAX) {
    *out += two;
    put_bits(static_cast<uint16_t>(count), out);
  } else {
    *out += static_cast<char>(two + 1);
    put_bits(count, out);
  }
}

}  // namespace

void put_nil(std::string* out) { *out += '\xc0'; }
void put_bool(bool value, std::string* out) { *out += value ? '\xc3' : '\xc2'; }

void put_int(int64_t value, std::string* out) {
  constexpr int64_t kMostShort = 0x7F;
  if (value >= 0 && value <= kMostShort) {
    *out += static_cast<char>(value);
    return;
  }
  *out += '\xd3';
  put_bits(static_cast<uint64_t>(value), out);
}

void put_uint(uint64_t value, std::string* out) {
  *out += '\xcf';
  put_bits(value, out);
}

void put_float(double value, std::string* out) {
  *out += '\xcb';
  put_bits(std::bit_cast<uint64_t>(value), out);
}

void put_text(std::string_view text, std::string* out) {
  if (!is_valid_text(text)) return put_text(valid_text(text), out);
  constexpr size_t kShort = 32;
  constexpr int kText8 = 0xd9;
  if (text.size() < kShort)
    *out += static_cast<char>(0xa0 | text.size());
  else
    put_count(static_cast<uint32_t>(text.size()), kText8, '\xda', out);
  *out += text;
}

void put_map(uint32_t count, std::string* out) {
  constexpr uint32_t kShort = 16;
  if (count < kShort)
    *out += static_cast<char>(0x80 | count);
  else
    put_count(count, -1, '\xde', out);
}

void put_array(uint32_t count, std::string* out) {
  constexpr uint32_t kShort = 16;
  if (count < kShort)
    *out += static_cast<char>(0x90 | count);
  else
    put_count(count, -1, '\xdc', out);
}

void put_event(int64_t time_ns, std::string* out) {
  constexpr int64_t kNano = 1000000000;
  time_ns = std::clamp<int64_t>(time_ns, 0, int64_t{UINT32_MAX} * kNano);
  put_array(2, out);
  *out += "\xd7";
  *out += '\0';
  put_bits(static_cast<uint32_t>(time_ns / kNano), out);
  put_bits(static_cast<uint32_t>(time_ns % kNano), out);
}

}  // namespace strom::format::forward
