// Numbers of headers and of capture files, at any address. Private to src/format/packets.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace strom::format::packets {

static_assert(std::endian::native == std::endian::little);

template <class T>
T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

constexpr uint8_t swapped(uint8_t value) { return value; }
constexpr uint16_t swapped(uint16_t value) { return __builtin_bswap16(value); }
constexpr uint32_t swapped(uint32_t value) { return __builtin_bswap32(value); }
constexpr uint64_t swapped(uint64_t value) { return __builtin_bswap64(value); }

/// A number in network byte order: the highest byte first.
template <class T>
T load_big(const uint8_t* at) {
  return swapped(load<T>(at));
}
inline uint16_t big16(const uint8_t* at) { return load_big<uint16_t>(at); }
inline uint32_t big32(const uint8_t* at) { return load_big<uint32_t>(at); }

}  // namespace strom::format::packets
