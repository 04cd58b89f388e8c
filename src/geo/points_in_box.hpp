// Which points of an array lie in a box. CPUs with vectors look at many at once. Single source, for CPUs only.
#pragma once

#include "geo/point.hpp"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && !defined(__CUDACC__)
#define STROM_BOX_BY_VECTORS 1
#include <immintrin.h>
#endif

namespace strom::geo {

/// Entries that points_in_box() may write behind the last one.
inline constexpr int kBoxLanes = 16;

STROM_BASE_INLINE bool may_be_in(const Box& box, double x, double y) {
  return (box.min_x <= x && x <= box.max_x && box.min_y <= y && y <= box.max_y) || !is_finite(Point{x, y});
}

/// Writes the numbers of the points that lie in the box or are not finite to `positions`, in ascending order. Returns
/// how many there are.
STROM_BASE_INLINE int points_in_box(const Box& box, const double* x, const double* y, int count, int32_t* positions) {
  int found = 0, i = 0;
#ifdef STROM_BOX_BY_VECTORS
  constexpr int kHalf = kBoxLanes / 2;
  constexpr int kNotFinite = 0x01 | 0x08 | 0x10 | 0x80;  // NaNs and infinities
  const __m512d left = _mm512_set1_pd(box.min_x), right = _mm512_set1_pd(box.max_x);
  const __m512d bottom = _mm512_set1_pd(box.min_y), top = _mm512_set1_pd(box.max_y);
  __m512i numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  for (; i + kBoxLanes <= count; i += kBoxLanes, numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(kBoxLanes))) {
    uint32_t in = 0;
    for (int half = 0; half < kBoxLanes; half += kHalf) {
      const __m512d xs = _mm512_loadu_pd(x + i + half), ys = _mm512_loadu_pd(y + i + half);
      __mmask8 mask = _mm512_cmp_pd_mask(left, xs, _CMP_LE_OQ);
      mask = _mm512_mask_cmp_pd_mask(mask, xs, right, _CMP_LE_OQ);
      mask = _mm512_mask_cmp_pd_mask(mask, bottom, ys, _CMP_LE_OQ);
      mask = _mm512_mask_cmp_pd_mask(mask, ys, top, _CMP_LE_OQ);
      const uint32_t odd = uint32_t{_mm512_fpclass_pd_mask(xs, kNotFinite)} | _mm512_fpclass_pd_mask(ys, kNotFinite);
      in |= (odd | mask) << half;
    }
    if (in == 0) continue;
    _mm512_storeu_si512(positions + found, _mm512_maskz_compress_epi32(static_cast<__mmask16>(in), numbers));
    found += __builtin_popcount(in);
  }
#endif
  for (; i < count; ++i) {
    positions[found] = i;
    found += static_cast<int>(may_be_in(box, x[i], y[i]));
  }
  return found;
}

}  // namespace strom::geo
