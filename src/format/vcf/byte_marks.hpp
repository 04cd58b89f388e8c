// Finds characters in 64 bytes, for readers of text. Results are bits, the first byte's lowest. Private to
// src/format/vcf.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace strom::format::vcf {

inline constexpr int kMarkBytes = 64;

#if defined(__x86_64__)

/// The bytes that are `c`.
inline uint64_t marks_of(const char* bytes, char c) {
  const __m128i wanted = _mm_set1_epi8(c);
  uint64_t marks = 0;
  for (int i = 0; i < kMarkBytes; i += static_cast<int>(sizeof(__m128i))) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    marks |= uint64_t{static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(part, wanted)))} << i;
  }
  return marks;
}

/// True when some byte is not ASCII.
inline bool has_high_bytes(const char* bytes) {
  __m128i all = _mm_setzero_si128();
  for (int i = 0; i < kMarkBytes; i += static_cast<int>(sizeof(__m128i)))
    all = _mm_or_si128(all, _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i)));
  return _mm_movemask_epi8(all) != 0;
}

#else

inline uint64_t marks_of(const char* bytes, char c) {
  constexpr uint64_t kOnes = 0x0101010101010101, kLow = 0x7F7F7F7F7F7F7F7F;
  uint64_t marks = 0;
  for (int i = 0; i < kMarkBytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + i, sizeof(word));
    const uint64_t other = word ^ kOnes * static_cast<uint8_t>(c);
    const uint64_t same = ~(((other & kLow) + kLow) | other | kLow);  // 0x80 in each byte that is `c`
    marks |= ((same >> 7) * 0x0102040810204080 >> 56) << i;
  }
  return marks;
}

inline bool has_high_bytes(const char* bytes) {
  uint8_t all = 0;
  for (int i = 0; i < kMarkBytes; ++i) all |= static_cast<uint8_t>(bytes[i]);
  return all >= 0x80;
}

#endif

}  // namespace strom::format::vcf
