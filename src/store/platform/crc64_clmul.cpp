#include "store/platform/crc64_clmul.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#define STROM_CLMUL __attribute__((target("pclmul,sse4.1")))

namespace strom::store {

namespace {

/// x^exponent modulo the polynomial, reflected.
constexpr uint64_t power_of_x(int exponent) {
  uint64_t value = uint64_t{1} << 63;
  for (; exponent > 0; --exponent) value = (value & 1) != 0 ? (value >> 1) ^ kCrc64Polynomial : value >> 1;
  return value;
}

// To fold over a distance of D bits, the lower half is multiplied by x^(D+63) and the upper half by x^(D-1).
constexpr uint64_t kLow128 = power_of_x(191), kHigh128 = power_of_x(127);
constexpr uint64_t kLow512 = power_of_x(575), kHigh512 = power_of_x(511);
constexpr size_t kLane = 16, kFourLanes = 4 * kLane;

STROM_CLMUL __m128i load(const uint8_t* bytes) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)); }

STROM_CLMUL __m128i fold(__m128i value, __m128i by, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(value, by, 0x00), high = _mm_clmulepi64_si128(value, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

}  // namespace

bool can_fold_crc64() { return __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0; }

STROM_CLMUL size_t fold_crc64(uint64_t state, const uint8_t* bytes, size_t size, uint8_t rest[kFoldedBytes]) {
  const __m128i by_one = _mm_set_epi64x(static_cast<int64_t>(kHigh128), static_cast<int64_t>(kLow128));
  size_t done = kLane;
  __m128i value = _mm_xor_si128(load(bytes), _mm_set_epi64x(0, static_cast<int64_t>(state)));
  if (size >= 2 * kFourLanes) {
    const __m128i by_four = _mm_set_epi64x(static_cast<int64_t>(kHigh512), static_cast<int64_t>(kLow512));
    __m128i second = load(bytes + kLane), third = load(bytes + 2 * kLane), fourth = load(bytes + 3 * kLane);
    for (done = kFourLanes; done + kFourLanes <= size; done += kFourLanes) {
      value = fold(value, by_four, load(bytes + done));
      second = fold(second, by_four, load(bytes + done + kLane));
      third = fold(third, by_four, load(bytes + done + 2 * kLane));
      fourth = fold(fourth, by_four, load(bytes + done + 3 * kLane));
    }
    value = fold(fold(fold(value, by_one, second), by_one, third), by_one, fourth);
  }
  for (; done + kLane <= size; done += kLane) value = fold(value, by_one, load(bytes + done));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), value);
  return done;
}

}  // namespace strom::store

#else

namespace strom::store {

bool can_fold_crc64() { return false; }
size_t fold_crc64(uint64_t, const uint8_t*, size_t, uint8_t[kFoldedBytes]) { return 0; }

}  // namespace strom::store

#endif
