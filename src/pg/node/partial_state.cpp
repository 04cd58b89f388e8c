// The formats are those of PostgreSQL's src/backend/utils/adt. int4_avg_accum and float8_accum keep arrays.
// int8_avg_serialize, numeric_avg_serialize, numeric_poly_serialize and numeric_serialize define the bytes of the
// others. They are the same in PostgreSQL 15 to 18.
#include "pg/node/partial_state.hpp"

#include <cmath>
#include <limits>

#include "base/int128.hpp"
#include "base/half.hpp"
#include "pg/codec/decode.hpp"
#include "pg/codec/numeric.hpp"

namespace strom::pg::node {

using engine::op::ResultAggregate;
using registry::AccKind;
using registry::DecimalSum;
using registry::Moments;
using registry::PairMoments;
using registry::PartialFormat;
using registry::SquareSums;
using registry::TypeId;

namespace {

constexpr uint16_t kNumericNegative = 0x4000;
constexpr uint16_t kNumericNan = 0xC000;
constexpr uint16_t kNumericPlusInfinity = 0xD000;
constexpr uint16_t kNumericMinusInfinity = 0xF000;

Datum int8_pair(int64_t count, int64_t sum) {
  Datum elements[2] = {Int64GetDatum(count), Int64GetDatum(sum)};
  return PointerGetDatum(construct_array(elements, 2, INT8OID, sizeof(int64_t), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

// The sum of squares for NaN and infinities, as in float8_accum().
constexpr double kNoSquares = std::numeric_limits<double>::quiet_NaN();

// avg() does not read the sum of squares, but PostgreSQL computes it and raises an error when it overflows. For values
// that the engine adds up it cannot overflow. float8_combine() checks the squares of fallback rows.
double squares_of_average(double sum) { return std::isfinite(sum) ? 0 : kNoSquares; }

Datum float8_triple(double count, double sum, double squares) {
  Datum elements[3] = {Float8GetDatum(count), Float8GetDatum(sum), Float8GetDatum(squares)};
  return PointerGetDatum(construct_array(elements, 3, FLOAT8OID, sizeof(double), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

// The fields of numeric_send(). A serialised NumericVar has the same fields with 32 instead of 16 bits.
struct NumericParts {
  StringInfoData rest;  // the digits, behind the four fields
  int digits, weight, sign, scale;
};

NumericParts parts_of(Datum numeric) {
  bytea* sent = DatumGetByteaPP(DirectFunctionCall1(numeric_send, numeric));
  NumericParts parts;
  initStringInfo(&parts.rest);
  appendBinaryStringInfo(&parts.rest, VARDATA_ANY(sent), static_cast<int>(VARSIZE_ANY_EXHDR(sent)));
  parts.digits = static_cast<int16_t>(pq_getmsgint(&parts.rest, 2));
  parts.weight = static_cast<int16_t>(pq_getmsgint(&parts.rest, 2));
  parts.sign = static_cast<int>(pq_getmsgint(&parts.rest, 2));
  parts.scale = static_cast<int>(pq_getmsgint(&parts.rest, 2));
  return parts;
}

void send_sum(StringInfo buffer, NumericParts* parts) {
  pq_sendint32(buffer, static_cast<uint32_t>(parts->digits));
  pq_sendint32(buffer, static_cast<uint32_t>(parts->weight));
  pq_sendint32(buffer, static_cast<uint32_t>(parts->sign));
  pq_sendint32(buffer, static_cast<uint32_t>(parts->scale));
  for (int i = 0; i < parts->digits; ++i) pq_sendint16(buffer, static_cast<uint16_t>(pq_getmsgint(&parts->rest, 2)));
}

Datum int8_avg_state(int64_t count, Datum sum) {
  NumericParts parts = parts_of(sum);
  StringInfoData buffer;
  pq_begintypsend(&buffer);
  pq_sendint64(&buffer, static_cast<uint64_t>(count));
  send_sum(&buffer, &parts);
  return PointerGetDatum(pq_endtypsend(&buffer));
}

// The fields of numeric_avg_serialize, or of numeric_serialize when there is a sum of squares. `count` does not include
// NaN and infinities.
Datum numeric_state(int64_t count, Datum sum, const Datum* squares) {
  NumericParts parts = parts_of(sum);
  const int special = parts.sign;
  const bool finite = special == 0 || special == kNumericNegative;
  if (!finite) {
    parts.digits = parts.weight = parts.sign = parts.scale = 0;
    count = 0;
  }
  StringInfoData buffer;
  pq_begintypsend(&buffer);
  pq_sendint64(&buffer, static_cast<uint64_t>(count));
  send_sum(&buffer, &parts);
  if (squares != nullptr) {
    NumericParts square_parts = parts_of(*squares);
    if (finite)
      send_sum(&buffer, &square_parts);
    else
      send_sum(&buffer, &parts);
  }
  pq_sendint32(&buffer, static_cast<uint32_t>(parts.scale));  // largest display scale, and the number of inputs with it
  pq_sendint64(&buffer, static_cast<uint64_t>(count));
  pq_sendint64(&buffer, special == kNumericNan ? 1 : 0);
  pq_sendint64(&buffer, special == kNumericPlusInfinity ? 1 : 0);
  pq_sendint64(&buffer, special == kNumericMinusInfinity ? 1 : 0);
  return PointerGetDatum(pq_endtypsend(&buffer));
}

Datum numeric_poly_state(int64_t count, Datum sum, Datum squares) {
  StringInfoData buffer;
  pq_begintypsend(&buffer);
  pq_sendint64(&buffer, static_cast<uint64_t>(count));
  NumericParts parts = parts_of(sum);
  send_sum(&buffer, &parts);
  parts = parts_of(squares);
  send_sum(&buffer, &parts);
  return PointerGetDatum(pq_endtypsend(&buffer));
}

Datum numeric_product(Datum a, Datum b) { return DirectFunctionCall2(numeric_mul, a, b); }

// The sum of squares of integers that have `scale` digits behind the decimal point.
Datum squares_of(const SquareSums& sums, int scale) {
  const Datum high = codec::numeric_from_int128(sums.high, 2 * scale);
  const Datum shift = codec::numeric_from_int128(static_cast<__int128>(1) << 64, 0);
  const Datum low = codec::numeric_from_int128(sums.low, 2 * scale);
  return DirectFunctionCall2(numeric_add, numeric_product(high, shift), low);
}

Datum moments_state(const Moments& moments) { return float8_triple(moments.count, moments.sum, moments.squares); }

// The sum, at the largest scale of its inputs.
Datum sum_of(const DecimalSum& sum) {
  const Datum high = codec::numeric_from_int128(sum.high, registry::kSummedScale);
  const Datum shift = codec::numeric_from_int128(static_cast<__int128>(1) << 64, 0);
  const Datum low = codec::numeric_from_int128(sum.low, registry::kSummedScale);
  const Datum all = DirectFunctionCall2(numeric_add, numeric_product(high, shift), low);
  return DirectFunctionCall2(numeric_round, all, Int32GetDatum(static_cast<int32_t>(sum.scale)));
}

// The numeric for an aligned decimal.
Datum best_decimal(__int128 aligned) {
  const Datum value = codec::numeric_from_int128(base::decimal_unscaled(aligned), registry::kSummedScale);
  return DirectFunctionCall2(numeric_round, value, Int32GetDatum(base::decimal_scale(aligned)));
}

Datum pair_state(const PairMoments& m) {
  const double fields[6] = {m.count, m.sum_x, m.squares_x, m.sum_y, m.squares_y, m.products};
  Datum elements[6];
  for (int i = 0; i < 6; ++i) elements[i] = Float8GetDatum(fields[i]);
  return PointerGetDatum(construct_array(elements, 6, FLOAT8OID, sizeof(double), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

// The moments of one pair. NaN and infinities have no variance.
PairMoments pair_of(double y, double x) {
  const double squares_x = std::isfinite(x) ? 0 : kNoSquares, squares_y = std::isfinite(y) ? 0 : kNoSquares;
  return {1, x, squares_x, y, squares_y, squares_x + squares_y};
}

template <class T>
T value_at(const ResultAggregate& aggregate, int64_t row) {
  return static_cast<const T*>(aggregate.values)[row];
}

// The state of an accumulator without input.
Datum empty_state(PartialFormat format, bool* is_null) {
  if (format == PartialFormat::kInt8Pair) return int8_pair(0, 0);
  if (format == PartialFormat::kFloat8Triple || format == PartialFormat::kFloat8Moments) return float8_triple(0, 0, 0);
  if (format == PartialFormat::kFloat8PairMoments) return pair_state({});
  *is_null = true;
  return Datum{0};
}

bool counts(const PartialType& type) { return type.acc == AccKind::kCountRows || type.acc == AccKind::kCount; }

}  // namespace

Datum partial_state(const PartialType& type, const ResultAggregate& aggregate, int64_t row, bool* is_null) {
  *is_null = false;
  const int64_t count = aggregate.counts[row];
  if (counts(type)) return Int64GetDatum(count);
  if (count == 0) return empty_state(type.format, is_null);
  switch (type.format) {
    case PartialFormat::kInt8: return Int64GetDatum(value_at<int64_t>(aggregate, row));
    case PartialFormat::kInt8Pair: return int8_pair(count, value_at<int64_t>(aggregate, row));
    case PartialFormat::kInt8AvgState:
      return int8_avg_state(count, codec::numeric_from_int128(value_at<__int128>(aggregate, row), 0));
    case PartialFormat::kNumericAvgState:
      if (type.acc == AccKind::kSumDecimal)
        return numeric_state(count, sum_of(value_at<DecimalSum>(aggregate, row)), nullptr);
      return numeric_state(count, codec::numeric_from_int128(value_at<__int128>(aggregate, row), type.scale), nullptr);
    case PartialFormat::kFloat4: return Float4GetDatum(value_at<float>(aggregate, row));
    case PartialFormat::kFloat8: return Float8GetDatum(value_at<double>(aggregate, row));
    case PartialFormat::kFloat8Triple:
      return float8_triple(static_cast<double>(count), value_at<double>(aggregate, row),
                           squares_of_average(value_at<double>(aggregate, row)));
    case PartialFormat::kFloat8Moments: return moments_state(value_at<Moments>(aggregate, row));
    case PartialFormat::kFloat8PairMoments: return pair_state(value_at<PairMoments>(aggregate, row));
    case PartialFormat::kPolyVarState:
    case PartialFormat::kNumericVarState: {
      const auto sums = value_at<SquareSums>(aggregate, row);
      const Datum sum = codec::numeric_from_int128(sums.sum, type.scale);
      const Datum squares = squares_of(sums, type.scale);
      return type.format == PartialFormat::kPolyVarState ? numeric_poly_state(count, sum, squares)
                                                         : numeric_state(count, sum, &squares);
    }
    case PartialFormat::kAllTrue: return BoolGetDatum(value_at<int64_t>(aggregate, row) == count);
    case PartialFormat::kAnyTrue: return BoolGetDatum(value_at<int64_t>(aggregate, row) > 0);
    case PartialFormat::kSame:
      if (type.argument == TypeId::kDecimal) return best_decimal(value_at<__int128>(aggregate, row));
      return codec::datum_from_register(type.argument, type.scale, type.length, aggregate.values, row);
  }
  pg_unreachable();
}

bool has_final_value(const PartialType& type) {
  switch (type.format) {
    case PartialFormat::kFloat8Moments:
    case PartialFormat::kFloat8PairMoments:
    case PartialFormat::kPolyVarState:
    case PartialFormat::kNumericVarState: return false;
    default: return true;
  }
}

// Computes results as PostgreSQL's final functions do: int8_avg, numeric_sum, numeric_avg, float8_avg.
Datum final_value(const PartialType& type, bool average, const ResultAggregate& aggregate, int64_t row, bool* is_null) {
  const int64_t count = aggregate.counts[row];
  if (counts(type)) return partial_state(type, aggregate, row, is_null);
  *is_null = count == 0;
  if (*is_null) return Datum{0};
  Datum sum;
  switch (type.format) {
    case PartialFormat::kInt8Pair: sum = codec::numeric_from_int128(value_at<int64_t>(aggregate, row), 0); break;
    case PartialFormat::kInt8AvgState: sum = codec::numeric_from_int128(value_at<__int128>(aggregate, row), 0); break;
    case PartialFormat::kNumericAvgState:
      sum = type.acc == AccKind::kSumDecimal
                ? sum_of(value_at<DecimalSum>(aggregate, row))
                : codec::numeric_from_int128(value_at<__int128>(aggregate, row), type.scale);
      break;
    case PartialFormat::kFloat8Triple:
      return Float8GetDatum(value_at<double>(aggregate, row) / static_cast<double>(count));
    default: return partial_state(type, aggregate, row, is_null);
  }
  return average ? DirectFunctionCall2(numeric_div, sum, codec::numeric_from_int128(count, 0)) : sum;
}

Datum partial_state_of_row(const PartialType& type, Datum argument, Datum second, bool argument_null, bool counted,
                           bool* is_null) {
  *is_null = false;
  if (type.acc == AccKind::kCountRows) return Int64GetDatum(counted ? 1 : 0);
  const bool present = counted && !argument_null;
  if (type.acc == AccKind::kCount) return Int64GetDatum(present ? 1 : 0);
  if (!present) return empty_state(type.format, is_null);
  const auto integer = [&]() -> int64_t {
    return type.argument == TypeId::kInt2   ? DatumGetInt16(argument)
           : type.argument == TypeId::kInt4 ? DatumGetInt32(argument)
           : type.argument == TypeId::kInt1 ? static_cast<int8_t>(DatumGetChar(argument))
                                            : DatumGetInt64(argument);
  };
  const auto real = [&]() -> double {
    return type.argument == TypeId::kFloat4   ? DatumGetFloat4(argument)
           : type.argument == TypeId::kFloat2 ? base::half_to_float(DatumGetUInt16(argument))
                                              : DatumGetFloat8(argument);
  };
  switch (type.format) {
    case PartialFormat::kInt8: return Int64GetDatum(integer());
    case PartialFormat::kInt8Pair: return int8_pair(1, integer());
    case PartialFormat::kInt8AvgState: return int8_avg_state(1, codec::numeric_from_int128(integer(), 0));
    case PartialFormat::kNumericAvgState: return numeric_state(1, argument, nullptr);
    case PartialFormat::kFloat8Triple:
    case PartialFormat::kFloat8Moments: {
      const double value = real();
      return float8_triple(1, value, squares_of_average(value));
    }
    case PartialFormat::kFloat8PairMoments:
      return pair_state(pair_of(DatumGetFloat8(argument), DatumGetFloat8(second)));
    case PartialFormat::kPolyVarState:
    case PartialFormat::kNumericVarState: {
      const Datum value = type.argument == TypeId::kNumeric ? argument : codec::numeric_from_int128(integer(), 0);
      const Datum square = numeric_product(value, value);
      return type.format == PartialFormat::kPolyVarState ? numeric_poly_state(1, value, square)
                                                         : numeric_state(1, value, &square);
    }
    case PartialFormat::kFloat4: return Float4GetDatum(static_cast<float>(real()));
    case PartialFormat::kFloat8: return Float8GetDatum(real());
    case PartialFormat::kAllTrue:
    case PartialFormat::kAnyTrue:
    case PartialFormat::kSame: return argument;
  }
  pg_unreachable();
}

}  // namespace strom::pg::node
