// Which members of a group of a packed tree (packed_tree.hpp) are near a point. CPUs with vectors look at all members
// at once, with the same arithmetic as for one member. Single source.
#pragma once

#include <math.h>

#include "geo/point.hpp"

#if defined(__AVX512F__) && !defined(__CUDACC__)
#define STROM_NEAR_BY_VECTORS 1
#include <immintrin.h>
#endif

namespace strom::geo {

inline constexpr uint32_t kTreeWidth = 16;

/// Boxes of neighbours. The boxes behind the last are empty, and nothing is near them.
struct BoxGroup {
  float min_x[kTreeWidth], min_y[kTreeWidth], max_x[kTreeWidth], max_y[kTreeWidth];
  float reach[kTreeWidth];  // of each box, the largest distance of the items in it; of trees with reach only
};

/// Points of neighbours; NaN behind the last.
struct PointGroup {
  double x[kTreeWidth], y[kTreeWidth];
};

/// Asks for items that are at most `distance` away from a point. Distances are PostGIS's: the root of the sum of
/// squares, rounded at each step.
struct NearQuery {
  Point point;
  double distance;  // for trees without reach; at least 0 and below kLeastTooFar
  double limit;     // the square of any such distance is at most this
  double sure;      // the root of any number up to this is such a distance

  /// From here on, some versions of PostGIS compute other distances.
  static constexpr double kLeastTooFar = 3.4028234663852886e38;
  static constexpr double kRounding = 1e-14;
  STROM_BASE_INLINE static double limit_of(double distance) {
    constexpr double kLeastSquare = 1e-320;  // squares of small numbers have few bits
    return distance * distance * (1 + kRounding) + kLeastSquare;
  }
  STROM_BASE_INLINE static double sure_of(double distance) {
    constexpr double kLeastSquare = 1e-300;  // from here on squares have all bits
    return distance * distance * (1 - kRounding) - kLeastSquare;
  }
  STROM_BASE_INLINE static bool is_distance(double distance) { return distance >= 0 && distance < kLeastTooFar; }
  STROM_BASE_INLINE static NearQuery of(Point point, double distance) {
    return {point, distance, limit_of(distance), sure_of(distance)};
  }
  /// Rounding keeps the order of numbers, so this arithmetic never finds an item nearer than the box around it.
  STROM_BASE_INLINE static double square(double dx, double dy) { return dx * dx + dy * dy; }
};

STROM_BASE_INLINE double away(float low, float high, double at) {
  const double below = low - at, above = at - high;
  return larger(larger(below, above), 0.0);
}

/// No item in the box of member i is nearer to the point than this.
STROM_BASE_INLINE double square_to_box(const BoxGroup& group, uint32_t i, Point point) {
  return NearQuery::square(away(group.min_x[i], group.max_x[i], point.x),
                           away(group.min_y[i], group.max_y[i], point.y));
}

STROM_BASE_INLINE double square_to_point(const PointGroup& group, uint32_t i, Point point) {
  return NearQuery::square(group.x[i] - point.x, group.y[i] - point.y);
}

#ifdef STROM_NEAR_BY_VECTORS

inline constexpr uint32_t kLanes = 8;

/// The first bit from number `from` on; kTreeWidth without one.
STROM_BASE_INLINE uint32_t first_bit(uint32_t bits, uint32_t from) {
  return static_cast<uint32_t>(__builtin_ctz((bits >> from << from) | 1u << kTreeWidth));
}

STROM_BASE_INLINE __m512d away_of(const float* low, const float* high, __m512d at) {
  const __m512d below = _mm512_sub_pd(_mm512_cvtps_pd(_mm256_loadu_ps(low)), at);
  const __m512d above = _mm512_sub_pd(at, _mm512_cvtps_pd(_mm256_loadu_ps(high)));
  return _mm512_max_pd(_mm512_max_pd(below, above), _mm512_setzero_pd());
}

STROM_BASE_INLINE __m512d square_of(__m512d dx, __m512d dy) {
  return _mm512_add_pd(_mm512_mul_pd(dx, dx), _mm512_mul_pd(dy, dy));
}

STROM_BASE_INLINE uint32_t first_near_box(const BoxGroup& group, const NearQuery& query, uint32_t from) {
  const __m512d x = _mm512_set1_pd(query.point.x), y = _mm512_set1_pd(query.point.y);
  const __m512d limit = _mm512_set1_pd(query.limit);
  uint32_t bits = 0;
  for (uint32_t i = 0; i < kTreeWidth; i += kLanes) {
    const __m512d square =
        square_of(away_of(group.min_x + i, group.max_x + i, x), away_of(group.min_y + i, group.max_y + i, y));
    bits |= uint32_t{_mm512_cmp_pd_mask(square, limit, _CMP_LE_OQ)} << i;
  }
  return first_bit(bits, from);
}

STROM_BASE_INLINE uint32_t first_near_point(const PointGroup& group, const NearQuery& query, uint32_t from) {
  const __m512d x = _mm512_set1_pd(query.point.x), y = _mm512_set1_pd(query.point.y);
  uint32_t bits = 0;
  for (uint32_t i = 0; i < kTreeWidth; i += kLanes) {
    const __m512d square =
        square_of(_mm512_sub_pd(_mm512_loadu_pd(group.x + i), x), _mm512_sub_pd(_mm512_loadu_pd(group.y + i), y));
    const __mmask8 maybe = _mm512_cmp_pd_mask(square, _mm512_set1_pd(query.limit), _CMP_LE_OQ);
    __mmask8 near = _mm512_cmp_pd_mask(square, _mm512_set1_pd(query.sure), _CMP_LE_OQ);
    if (maybe != near)
      near = _mm512_mask_cmp_pd_mask(maybe, _mm512_sqrt_pd(square), _mm512_set1_pd(query.distance), _CMP_LE_OQ);
    bits |= uint32_t{near} << i;
  }
  return first_bit(bits, from);
}

#else

/// The first member from number `from` on whose box is near enough; kTreeWidth if there is none.
STROM_BASE_INLINE uint32_t first_near_box(const BoxGroup& group, const NearQuery& query, uint32_t from) {
  while (from < kTreeWidth && !(square_to_box(group, from, query.point) <= query.limit)) ++from;
  return from;
}

/// The same for points.
STROM_BASE_INLINE uint32_t first_near_point(const PointGroup& group, const NearQuery& query, uint32_t from) {
  for (; from < kTreeWidth; ++from) {
    const double square = square_to_point(group, from, query.point);
    if (square <= query.limit && (square <= query.sure || sqrt(square) <= query.distance)) break;
  }
  return from;
}

#endif

}  // namespace strom::geo
