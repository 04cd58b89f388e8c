// The loops of text_window.hpp: one text after another, or eight at a time where the processor has AVX-512. The library
// is compiled for every processor, so the choice is made at run time.
#include "format/arrow/statistics/text_window.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace strom::format::arrow {

namespace {

template <class Offset>
int64_t first_outside_by_one(const TextWindow& window, const char* bytes, const Offset* offsets, int64_t begin,
                             int64_t end) {
  uint64_t key;
  for (int64_t row = begin; row < end; ++row) {
    const auto size = static_cast<uint64_t>(offsets[row + 1] - offsets[row]);
    if (window.side_of(bytes + offsets[row], size, &key) != TextWindow::Side::kInside) return row;
  }
  return end;
}

#if defined(__x86_64__)

#define STROM_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
constexpr int64_t kLanes = 8;

STROM_AVX512 __m512i load_offsets(const int32_t* offsets) {
  return _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets)));
}
STROM_AVX512 __m512i load_offsets(const int64_t* offsets) { return _mm512_loadu_si512(offsets); }

STROM_AVX512 __m512i gather(const char* bytes, __m512i offsets) {
  return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), 0xFF, offsets, bytes, 1);
}

STROM_AVX512 __m512i all(uint64_t value) { return _mm512_set1_epi64(static_cast<int64_t>(value)); }

STROM_AVX512 __m512i reversed_bytes(__m512i words) {
  const __m512i order = _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  return _mm512_shuffle_epi8(words, order);
}

template <class Offset>
STROM_AVX512 int64_t first_outside_by_eight(const TextWindow& window, const char* bytes, const Offset* offsets,
                                            int64_t begin, int64_t end) {
  constexpr uint64_t kBits = 64;
  const __m512i word = all(TextWindow::kWord), skip = all(window.skip);
  int64_t row = begin;
  for (; row + kLanes <= end; row += kLanes) {
    const __m512i at = load_offsets(offsets + row), size = _mm512_sub_epi64(load_offsets(offsets + row + 1), at);
    unsigned outside = 0;
    if (window.skip != 0) {
      outside = _mm512_cmplt_epu64_mask(size, skip);
      const __m512i differs = _mm512_xor_si512(gather(bytes, at), all(window.front));
      outside |= _mm512_test_epi64_mask(differs, all(window.front_mask));
      if (window.skip > TextWindow::kWord)
        outside |= _mm512_cmpneq_epi64_mask(gather(bytes + window.skip - TextWindow::kWord, at), all(window.back));
    }
    const __m512i count = _mm512_min_epu64(_mm512_sub_epi64(size, skip), word);
    const __m512i cut = _mm512_sub_epi64(all(kBits), _mm512_slli_epi64(count, 3));
    const __m512i key =
        _mm512_and_si512(reversed_bytes(gather(bytes + window.skip, at)), _mm512_sllv_epi64(all(UINT64_MAX), cut));
    const __mmask8 as_low = _mm512_cmpeq_epi64_mask(key, all(window.low_key));
    const __mmask8 as_high = _mm512_cmpeq_epi64_mask(key, all(window.high_key));
    outside |= _mm512_cmplt_epu64_mask(key, all(window.low_key)) | _mm512_cmpgt_epu64_mask(key, all(window.high_key)) |
               _mm512_mask_cmplt_epu64_mask(as_low, size, all(window.low_size)) |
               _mm512_mask_cmpgt_epu64_mask(as_high, size, all(window.high_size));
    if (outside != 0) return row + __builtin_ctz(outside);
  }
  return first_outside_by_one(window, bytes, offsets, row, end);
}

bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has;
}

template <class Offset>
int64_t find_outside(const TextWindow& window, const char* bytes, const Offset* offsets, int64_t begin, int64_t end) {
  const bool by_eight = window.middle.empty() && has_avx512();
  return (by_eight ? first_outside_by_eight<Offset> : first_outside_by_one<Offset>)(window, bytes, offsets, begin, end);
}

#else

template <class Offset>
int64_t find_outside(const TextWindow& window, const char* bytes, const Offset* offsets, int64_t begin, int64_t end) {
  return first_outside_by_one(window, bytes, offsets, begin, end);
}

#endif

}  // namespace

int64_t first_outside(const TextWindow& window, const char* bytes, const int32_t* offsets, int64_t begin, int64_t end) {
  return find_outside(window, bytes, offsets, begin, end);
}

int64_t first_outside(const TextWindow& window, const char* bytes, const int64_t* offsets, int64_t begin, int64_t end) {
  return find_outside(window, bytes, offsets, begin, end);
}

}  // namespace strom::format::arrow
