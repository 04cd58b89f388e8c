// The SQL types int1 (a signed byte) and float2 (half precision), as declared in sql/small_numbers.sql. All functions
// may ereport and hold nothing with a destructor. All other functions of these types are SQL over wider types.
#include <cctype>
#include <cmath>

#include "base/half.hpp"
#include "base/half_text.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/compat/soft_error.hpp"

extern "C" {
#include "utils/float.h"
#include "utils/sortsupport.h"
}

namespace {

using strom::base::double_to_half;
using strom::base::half_of_text;
using strom::base::half_to_float;
using strom::base::HalfText;

int8_t int1_arg(FunctionCallInfo fcinfo, int n) { return static_cast<int8_t>(DatumGetChar(fcinfo->args[n].value)); }
uint16_t half_arg(FunctionCallInfo fcinfo, int n) { return DatumGetUInt16(fcinfo->args[n].value); }
float float2_arg(FunctionCallInfo fcinfo, int n) { return half_to_float(half_arg(fcinfo, n)); }

Datum int1_datum(int64_t value) {
  if (value < INT8_MIN || value > INT8_MAX)
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("int1 out of range")));
  return CharGetDatum(static_cast<char>(value));
}

Datum float2_datum(double value) {
  const uint16_t half = double_to_half(value);
  const float back = half_to_float(half);
  if (std::isinf(back) && !std::isinf(value)) float_overflow_error();
  if (back == 0 && value != 0) float_underflow_error();
  return UInt16GetDatum(half);
}

// Parses text like float4in().
Datum float2_of_text(FunctionCallInfo fcinfo, const char* text) {
  const char* number = text;
  while (isspace(static_cast<unsigned char>(*number))) ++number;
  char* end;
  uint16_t half = 0;
  const HalfText outcome = half_of_text(number, &end, &half);
  const size_t length = static_cast<size_t>(end - number);
  while (isspace(static_cast<unsigned char>(*end))) ++end;
  if (outcome == HalfText::kNoNumber || *end != '\0')
    STROM_INPUT_ERROR(fcinfo, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                               errmsg("invalid input syntax for type %s: \"%s\"", "float2", text)));
  if (outcome == HalfText::kOutOfRange)
    STROM_INPUT_ERROR(fcinfo, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                               errmsg("\"%s\" is out of range for type %s", pnstrdup(number, length), "float2")));
  return UInt16GetDatum(half);
}

// Calls a transition function of the wider type with the wider value. It gets a copy of the arguments: PostgreSQL reads
// the caller's arguments again, for other grouping sets and for DISTINCT.
Datum call_wider(FunctionCallInfo fcinfo, PGFunction function, Datum value) {
  LOCAL_FCINFO(call, 2);
  InitFunctionCallInfoData(*call, fcinfo->flinfo, 2, fcinfo->fncollation, fcinfo->context, fcinfo->resultinfo);
  call->args[0] = fcinfo->args[0];
  call->args[1].value = value;
  call->args[1].isnull = fcinfo->args[1].isnull;
  const Datum result = function(call);
  fcinfo->isnull = call->isnull;
  return result;
}

int compare(int64_t a, int64_t b) { return a < b ? -1 : a > b; }
int compare(double a, double b) { return float8_cmp_internal(a, b); }

int8_t int1_of(Datum value) { return static_cast<int8_t>(DatumGetChar(value)); }
double double_of(Datum half) { return half_to_float(DatumGetUInt16(half)); }
int compare_int1(Datum a, Datum b, SortSupport) { return compare(int64_t{int1_of(a)}, int64_t{int1_of(b)}); }
int compare_float2(Datum a, Datum b, SortSupport) { return compare(double_of(a), double_of(b)); }

SortSupport sort_support_arg(FunctionCallInfo fcinfo) { return reinterpret_cast<SortSupport>(PG_GETARG_POINTER(0)); }

// True if a row is in a frame of RANGE. Uses the wider type's function: (value, base, offset, sub, less).
Datum in_range(FunctionCallInfo fcinfo, PGFunction function, Datum value, Datum base) {
  return DirectFunctionCall5(function, value, base, PG_GETARG_DATUM(2), PG_GETARG_DATUM(3), PG_GETARG_DATUM(4));
}
Datum int1_in_range(FunctionCallInfo fcinfo, PGFunction function) {
  return in_range(fcinfo, function, Int16GetDatum(int1_arg(fcinfo, 0)), Int16GetDatum(int1_arg(fcinfo, 1)));
}

}  // namespace

#define STROM_FUNCTION(name)             \
  PGDLLEXPORT PG_FUNCTION_INFO_V1(name); \
  PGDLLEXPORT Datum name(PG_FUNCTION_ARGS)

// Defines strom_STEMeq, ne, lt, le, gt, ge and btSTEMcmp.
#define STROM_COMPARISONS(stem, type, a, b)                                            \
  STROM_FUNCTION(strom_##stem##eq) { PG_RETURN_BOOL(compare(type{a}, type{b}) == 0); } \
  STROM_FUNCTION(strom_##stem##ne) { PG_RETURN_BOOL(compare(type{a}, type{b}) != 0); } \
  STROM_FUNCTION(strom_##stem##lt) { PG_RETURN_BOOL(compare(type{a}, type{b}) < 0); }  \
  STROM_FUNCTION(strom_##stem##le) { PG_RETURN_BOOL(compare(type{a}, type{b}) <= 0); } \
  STROM_FUNCTION(strom_##stem##gt) { PG_RETURN_BOOL(compare(type{a}, type{b}) > 0); }  \
  STROM_FUNCTION(strom_##stem##ge) { PG_RETURN_BOOL(compare(type{a}, type{b}) >= 0); } \
  STROM_FUNCTION(strom_bt##stem##cmp) { PG_RETURN_INT32(compare(type{a}, type{b})); }

extern "C" {

STROM_COMPARISONS(int1, int64_t, int1_arg(fcinfo, 0), int1_arg(fcinfo, 1))
STROM_COMPARISONS(int12, int64_t, int1_arg(fcinfo, 0), PG_GETARG_INT16(1))
STROM_COMPARISONS(int14, int64_t, int1_arg(fcinfo, 0), PG_GETARG_INT32(1))
STROM_COMPARISONS(int18, int64_t, int1_arg(fcinfo, 0), PG_GETARG_INT64(1))
STROM_COMPARISONS(int21, int64_t, PG_GETARG_INT16(0), int1_arg(fcinfo, 1))
STROM_COMPARISONS(int41, int64_t, PG_GETARG_INT32(0), int1_arg(fcinfo, 1))
STROM_COMPARISONS(int81, int64_t, PG_GETARG_INT64(0), int1_arg(fcinfo, 1))
STROM_COMPARISONS(float2, double, float2_arg(fcinfo, 0), float2_arg(fcinfo, 1))
STROM_COMPARISONS(float24, double, float2_arg(fcinfo, 0), PG_GETARG_FLOAT4(1))
STROM_COMPARISONS(float28, double, float2_arg(fcinfo, 0), PG_GETARG_FLOAT8(1))
STROM_COMPARISONS(float42, double, PG_GETARG_FLOAT4(0), float2_arg(fcinfo, 1))
STROM_COMPARISONS(float82, double, PG_GETARG_FLOAT8(0), float2_arg(fcinfo, 1))

STROM_FUNCTION(strom_int1in) {
  int32_t value;
  if (!strom::pg::compat::read_int32(fcinfo, PG_GETARG_CSTRING(0), &value)) PG_RETURN_NULL();
  if (value < INT8_MIN || value > INT8_MAX)
    STROM_INPUT_ERROR(fcinfo, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                               errmsg("value \"%s\" is out of range for type %s", PG_GETARG_CSTRING(0), "int1")));
  return int1_datum(value);
}
STROM_FUNCTION(strom_int1out) { return DirectFunctionCall1(int2out, Int16GetDatum(int1_arg(fcinfo, 0))); }
STROM_FUNCTION(strom_int1recv) {
  return CharGetDatum(static_cast<char>(pq_getmsgbyte(reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0)))));
}
STROM_FUNCTION(strom_int1send) {
  StringInfoData message;
  pq_begintypsend(&message);
  pq_sendint8(&message, static_cast<uint8_t>(int1_arg(fcinfo, 0)));
  PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}
STROM_FUNCTION(strom_hashint1) { return DirectFunctionCall1(hashint2, Int16GetDatum(int1_arg(fcinfo, 0))); }
STROM_FUNCTION(strom_hashint1extended) {
  return DirectFunctionCall2(hashint2extended, Int16GetDatum(int1_arg(fcinfo, 0)), PG_GETARG_DATUM(1));
}
STROM_FUNCTION(strom_int2_of_int1) { PG_RETURN_INT16(int1_arg(fcinfo, 0)); }
STROM_FUNCTION(strom_int4_of_int1) { PG_RETURN_INT32(int1_arg(fcinfo, 0)); }
STROM_FUNCTION(strom_int8_of_int1) { PG_RETURN_INT64(int1_arg(fcinfo, 0)); }
STROM_FUNCTION(strom_int1_of_int2) { return int1_datum(PG_GETARG_INT16(0)); }
STROM_FUNCTION(strom_int1_of_int4) { return int1_datum(PG_GETARG_INT32(0)); }
STROM_FUNCTION(strom_int1_of_int8) { return int1_datum(PG_GETARG_INT64(0)); }

STROM_FUNCTION(strom_int1pl) { return int1_datum(int1_arg(fcinfo, 0) + int1_arg(fcinfo, 1)); }
STROM_FUNCTION(strom_int1mi) { return int1_datum(int1_arg(fcinfo, 0) - int1_arg(fcinfo, 1)); }
STROM_FUNCTION(strom_int1mul) { return int1_datum(int1_arg(fcinfo, 0) * int1_arg(fcinfo, 1)); }
STROM_FUNCTION(strom_int1div) {
  if (int1_arg(fcinfo, 1) == 0) ereport(ERROR, (errcode(ERRCODE_DIVISION_BY_ZERO), errmsg("division by zero")));
  return int1_datum(int1_arg(fcinfo, 0) / int1_arg(fcinfo, 1));
}
STROM_FUNCTION(strom_int1mod) {
  if (int1_arg(fcinfo, 1) == 0) ereport(ERROR, (errcode(ERRCODE_DIVISION_BY_ZERO), errmsg("division by zero")));
  return int1_datum(int1_arg(fcinfo, 0) % int1_arg(fcinfo, 1));
}
STROM_FUNCTION(strom_int1um) { return int1_datum(-int1_arg(fcinfo, 0)); }
STROM_FUNCTION(strom_int1up) { return PG_GETARG_DATUM(0); }
STROM_FUNCTION(strom_int1abs) { return int1_datum(std::abs(int1_arg(fcinfo, 0))); }
STROM_FUNCTION(strom_int1and) { return int1_datum(int1_arg(fcinfo, 0) & int1_arg(fcinfo, 1)); }
STROM_FUNCTION(strom_int1or) { return int1_datum(int1_arg(fcinfo, 0) | int1_arg(fcinfo, 1)); }
STROM_FUNCTION(strom_int1xor) { return int1_datum(int1_arg(fcinfo, 0) ^ int1_arg(fcinfo, 1)); }
STROM_FUNCTION(strom_int1not) { return int1_datum(~int1_arg(fcinfo, 0)); }
// Shift counts that are negative or exceed the type's width behave as those of smallint on this machine.
STROM_FUNCTION(strom_int1shl) {
  const auto bits = static_cast<uint32_t>(static_cast<int32_t>(int1_arg(fcinfo, 0)));
  return CharGetDatum(static_cast<char>(bits << (PG_GETARG_INT32(1) & 31)));
}
STROM_FUNCTION(strom_int1shr) { return int1_datum(int32_t{int1_arg(fcinfo, 0)} >> (PG_GETARG_INT32(1) & 31)); }
STROM_FUNCTION(strom_btint1sortsupport) {
  sort_support_arg(fcinfo)->comparator = compare_int1;
  PG_RETURN_VOID();
}
STROM_FUNCTION(strom_in_range_int1_int2) { return int1_in_range(fcinfo, in_range_int2_int2); }
STROM_FUNCTION(strom_in_range_int1_int4) { return int1_in_range(fcinfo, in_range_int2_int4); }
STROM_FUNCTION(strom_in_range_int1_int8) { return int1_in_range(fcinfo, in_range_int2_int8); }
STROM_FUNCTION(strom_int1larger) { return PG_GETARG_DATUM(int1_arg(fcinfo, 0) > int1_arg(fcinfo, 1) ? 0 : 1); }
STROM_FUNCTION(strom_int1smaller) { return PG_GETARG_DATUM(int1_arg(fcinfo, 0) < int1_arg(fcinfo, 1) ? 0 : 1); }

STROM_FUNCTION(strom_float2in) { return float2_of_text(fcinfo, PG_GETARG_CSTRING(0)); }
STROM_FUNCTION(strom_float2out) { return DirectFunctionCall1(float4out, Float4GetDatum(float2_arg(fcinfo, 0))); }
STROM_FUNCTION(strom_float2recv) {
  return UInt16GetDatum(static_cast<uint16_t>(pq_getmsgint(reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0)), 2)));
}
STROM_FUNCTION(strom_float2send) {
  StringInfoData message;
  pq_begintypsend(&message);
  pq_sendint16(&message, half_arg(fcinfo, 0));
  PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}
STROM_FUNCTION(strom_hashfloat2) { return DirectFunctionCall1(hashfloat4, Float4GetDatum(float2_arg(fcinfo, 0))); }
STROM_FUNCTION(strom_hashfloat2extended) {
  return DirectFunctionCall2(hashfloat4extended, Float4GetDatum(float2_arg(fcinfo, 0)), PG_GETARG_DATUM(1));
}
STROM_FUNCTION(strom_float4_of_float2) { PG_RETURN_FLOAT4(float2_arg(fcinfo, 0)); }
STROM_FUNCTION(strom_float8_of_float2) { PG_RETURN_FLOAT8(float2_arg(fcinfo, 0)); }
STROM_FUNCTION(strom_float2_of_float4) { return float2_datum(PG_GETARG_FLOAT4(0)); }
STROM_FUNCTION(strom_float2_of_float8) { return float2_datum(PG_GETARG_FLOAT8(0)); }
STROM_FUNCTION(strom_float2_of_numeric) {
  return float2_of_text(fcinfo, DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(0))));
}
STROM_FUNCTION(strom_float2um) { return UInt16GetDatum(static_cast<uint16_t>(half_arg(fcinfo, 0) ^ 0x8000)); }
STROM_FUNCTION(strom_float2up) { return PG_GETARG_DATUM(0); }
STROM_FUNCTION(strom_float2abs) { return UInt16GetDatum(static_cast<uint16_t>(half_arg(fcinfo, 0) & 0x7fff)); }
STROM_FUNCTION(strom_btfloat2sortsupport) {
  sort_support_arg(fcinfo)->comparator = compare_float2;
  PG_RETURN_VOID();
}
STROM_FUNCTION(strom_in_range_float2_float8) {
  return in_range(fcinfo, in_range_float4_float8, Float4GetDatum(float2_arg(fcinfo, 0)),
                  Float4GetDatum(float2_arg(fcinfo, 1)));
}
STROM_FUNCTION(strom_float2larger) {
  return PG_GETARG_DATUM(compare(double{float2_arg(fcinfo, 0)}, double{float2_arg(fcinfo, 1)}) > 0 ? 0 : 1);
}
STROM_FUNCTION(strom_float2smaller) {
  return PG_GETARG_DATUM(compare(double{float2_arg(fcinfo, 0)}, double{float2_arg(fcinfo, 1)}) < 0 ? 0 : 1);
}

STROM_FUNCTION(strom_int1_sum) { return call_wider(fcinfo, int2_sum, Int16GetDatum(int1_arg(fcinfo, 1))); }
STROM_FUNCTION(strom_int1_avg_accum) { return call_wider(fcinfo, int2_avg_accum, Int16GetDatum(int1_arg(fcinfo, 1))); }
STROM_FUNCTION(strom_int1_avg_accum_inv) {
  return call_wider(fcinfo, int2_avg_accum_inv, Int16GetDatum(int1_arg(fcinfo, 1)));
}
STROM_FUNCTION(strom_int1_accum) { return call_wider(fcinfo, int2_accum, Int16GetDatum(int1_arg(fcinfo, 1))); }
STROM_FUNCTION(strom_int1_accum_inv) { return call_wider(fcinfo, int2_accum_inv, Int16GetDatum(int1_arg(fcinfo, 1))); }
STROM_FUNCTION(strom_float2_sum) {
  if (PG_ARGISNULL(1)) {
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
  }
  if (PG_ARGISNULL(0)) PG_RETURN_FLOAT4(float2_arg(fcinfo, 1));
  return DirectFunctionCall2(float4pl, PG_GETARG_DATUM(0), Float4GetDatum(float2_arg(fcinfo, 1)));
}
STROM_FUNCTION(strom_float2_accum) { return call_wider(fcinfo, float4_accum, Float4GetDatum(float2_arg(fcinfo, 1))); }

}  // extern "C"
