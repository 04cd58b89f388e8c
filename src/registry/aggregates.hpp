// Aggregates known to the engine. Generated from aggregates.def.
#pragma once

#include <cstdint>
#include <string_view>

#include "registry/types.hpp"

namespace strom::registry {

/// What the engine keeps per group. Every accumulator but kCountRows also counts its non-null inputs.
enum class AccKind : uint8_t {
  kCountRows,  // count(*)
  kCount,      // count(x)
  kSumI64,     // wraps never in practice: int4 inputs
  kSumI128,    // int8 and numeric inputs; a row that would overflow is left to PostgreSQL
  kSumF32,
  kSumF64,
  kAvgF64,  // sum in float8 for avg(float4|float8)
  kMin,     // in the argument's type; NaN above everything
  kMax,
  kMinSpan,  // of intervals, whose months have 30 days
  kMaxSpan,
  kCountTrue,  // true inputs, of a boolean: bool_and and bool_or
  kBitAnd,     // in the argument's type
  kBitOr,
  kBitXor,
  kSumSquares,   // exact sums of x and x * x, see SquareSums
  kSumDecimal,   // of decimals at scale kSummedScale, and their largest own scale; see DecimalSum
  kMoments,      // count, sum and sum of squared differences from the mean, by Youngs and Cramer; see Moments
  kPairMoments,  // the same of two arguments, see PairMoments
};

/// The result is the same when a row is there once or more often.
constexpr bool ignores_copies(AccKind acc) {
  switch (acc) {
    case AccKind::kMin:
    case AccKind::kMax:
    case AccKind::kMinSpan:
    case AccKind::kMaxSpan:
    case AccKind::kCountTrue:
    case AccKind::kBitAnd:
    case AccKind::kBitOr: return true;
    default: return false;
  }
}

/// A group's result is its state, or a sum divided by a count.
constexpr bool has_simple_result(AccKind acc) {
  return acc != AccKind::kSumSquares && acc != AccKind::kMoments && acc != AccKind::kPairMoments;
}

/// Each step is rounded to float4, so that sums of parts of a set cannot be added.
constexpr bool is_coarse_sum(AccKind acc) { return acc == AccKind::kSumF32; }

/// State of kSumSquares: sums of the inputs, and of the lower and the upper 64 bits of their squares.
struct alignas(16) SquareSums {
  __int128 sum, low, high;
};

/// Decimals are summed up, compared by min and max, and ordered at this scale. Those with more digits behind the point,
/// and from 2^121 / 10^20 on, are PostgreSQL's.
inline constexpr int kSummedScale = 20;

/// State of kSumDecimal: sums of the upper and the lower 64 bits of the values, and the largest scale that one had.
struct alignas(16) DecimalSum {
  __int128 high, low;
  int64_t scale;
};

/// State of kMoments.
struct Moments {
  double count, sum, squares;
};

/// State of kPairMoments: the moments of both arguments, of which the first is y, and the sum of products of
/// differences.
struct PairMoments {
  double count, sum_x, squares_x, sum_y, squares_y, products;
};

/// Transition state that PostgreSQL's combine (after deserialise) function of the aggregate takes.
enum class PartialFormat : uint8_t {
  kInt8,             // bigint: count, sum(int2|int4)
  kInt8Pair,         // bigint[2] {count, sum}: avg(int2|int4)
  kInt8AvgState,     // bytea of int8_avg_serialize: sum and avg(int8)
  kNumericAvgState,  // bytea of numeric_avg_serialize: sum and avg(numeric)
  kFloat4,
  kFloat8,
  kFloat8Triple,       // float8[3] {N, Sx, Sxx}: avg(float4|float8), which does not look at Sxx: emitted as NaN
  kFloat8Moments,      // the same with Sxx: variances of float4 and float8
  kFloat8PairMoments,  // float8[6], the fields of PairMoments
  kPolyVarState,       // bytea of numeric_poly_serialize: variances of int2 and int4
  kNumericVarState,    // bytea of numeric_serialize: variances of int8 and numeric
  kAllTrue,            // bool: bool_and
  kAnyTrue,            // bool: bool_or
  kSame,               // the value itself: min, max, bit_and, bit_or, bit_xor
};

/// Of PostgreSQL 16 and later, of any type: computed as a minimum where there is one.
inline constexpr std::string_view kAnyValue = "any_value";

enum class AggregateId : uint8_t {
  kCountStar,
  kCountAny,
#define STROM_AGGREGATE(name, pg_name, arg, acc, format) name,
#define STROM_AVERAGE(name, pg_name, arg, acc, format) name,
#define STROM_AGGREGATE2(name, pg_name, arg, acc, format) name,
#include "registry/aggregates.def"
#undef STROM_AGGREGATE
#undef STROM_AVERAGE
#undef STROM_AGGREGATE2
};

struct AggregateInfo {
  AggregateId id;
  const char* name;     // enumerator, for printing
  const char* pg_name;  // pg_proc.proname, in pg_catalog
  int nargs;
  TypeId arg;  // of all arguments, but of count("any")
  AccKind acc;
  PartialFormat format;
  bool is_average;  // the sum divided by the count
};

inline constexpr AggregateInfo kAggregates[] = {
    {AggregateId::kCountStar, "kCountStar", "count", 0, TypeId::kBool, AccKind::kCountRows, PartialFormat::kInt8,
     false},
    {AggregateId::kCountAny, "kCountAny", "count", 1, TypeId::kBool, AccKind::kCount, PartialFormat::kInt8, false},
#define STROM_AGGREGATE(name, pg_name, arg, acc, format) \
  {AggregateId::name, #name, pg_name, 1, TypeId::arg, AccKind::acc, PartialFormat::format, false},
#define STROM_AVERAGE(name, pg_name, arg, acc, format) \
  {AggregateId::name, #name, pg_name, 1, TypeId::arg, AccKind::acc, PartialFormat::format, true},
#define STROM_AGGREGATE2(name, pg_name, arg, acc, format) \
  {AggregateId::name, #name, pg_name, 2, TypeId::arg, AccKind::acc, PartialFormat::format, false},
#include "registry/aggregates.def"
#undef STROM_AGGREGATE
#undef STROM_AVERAGE
#undef STROM_AGGREGATE2
};

constexpr const AggregateInfo& aggregate_info(AggregateId id) { return kAggregates[static_cast<int>(id)]; }

/// The aggregates called `pg_name` in pg_catalog, whatever their argument is, have a row for which test(row) holds.
template <class Test>
constexpr bool any_aggregate(std::string_view pg_name, Test test) {
  for (const AggregateInfo& row : kAggregates)
    if (pg_name == row.pg_name && test(row)) return true;
  return false;
}

/// The row of pg_catalog aggregate `pg_name`; nargs 0 is count(*), count(x) takes any type. nullptr when unknown.
constexpr const AggregateInfo* find_aggregate(std::string_view pg_name, int nargs, TypeId arg) {
  for (const AggregateInfo& row : kAggregates) {
    if (pg_name != row.pg_name || row.nargs != nargs) continue;
    if (nargs == 0 || row.id == AggregateId::kCountAny || row.arg == arg) return &row;
  }
  return nullptr;
}

}  // namespace strom::registry
