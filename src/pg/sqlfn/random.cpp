// Generators of random data, as declared in sql/random.sql. All functions may ereport and hold nothing with a
// destructor.
#include <cmath>
#include <cstring>

#include "pg/boundary/postgres.hpp"

extern "C" {
#include "common/pg_prng.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/timestamp.h"
}

namespace {

pg_prng_state state;
bool seeded = false;

pg_prng_state* random_state() {
  if (!seeded && !pg_prng_strong_seed(&state))
    pg_prng_seed(&state, static_cast<uint64>(GetCurrentTimestamp()) ^ MyProcPid);
  seeded = true;
  return &state;
}

// The first argument is the percentage of NULLs. The result is NULL as well if any other argument is NULL.
bool is_null(FunctionCallInfo fcinfo) {
  for (int i = 0; i < PG_NARGS(); ++i)
    if (PG_ARGISNULL(i)) return true;
  const double percent = PG_GETARG_FLOAT8(0);
  if (!(percent >= 0 && percent <= 100))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("percentage of NULLs must be between 0 and 100")));
  return pg_prng_double(random_state()) * 100 < percent;
}

void bad_bounds() {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("lower bound must not be greater than upper bound")));
}

int64 between(int64 lower, int64 upper) {
  if (lower > upper) bad_bounds();
  const uint64 span = static_cast<uint64>(upper) - static_cast<uint64>(lower);
  const uint64 chosen =
      span == PG_UINT64_MAX ? pg_prng_uint64(random_state()) : pg_prng_uint64_range(random_state(), 0, span);
  return static_cast<int64>(static_cast<uint64>(lower) + chosen);
}

char letter() {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  return kLetters[between(0, static_cast<int64>(sizeof kLetters) - 2)];
}

uint64 number_of(const macaddr* address) {
  const unsigned char bytes[] = {address->a, address->b, address->c, address->d, address->e, address->f};
  uint64 number = 0;
  for (const unsigned char byte : bytes) number = number << 8 | byte;
  return number;
}

}  // namespace

#define STROM_RANDOM(name)               \
  PGDLLEXPORT PG_FUNCTION_INFO_V1(name); \
  PGDLLEXPORT Datum name(PG_FUNCTION_ARGS)

extern "C" {

STROM_RANDOM(strom_random_setseed) {
  pg_prng_seed(&state, static_cast<uint64>(static_cast<uint32>(PG_GETARG_INT32(0))));
  seeded = true;
  PG_RETURN_VOID();
}

STROM_RANDOM(strom_random_int) {
  if (is_null(fcinfo)) PG_RETURN_NULL();
  PG_RETURN_INT64(between(PG_GETARG_INT64(1), PG_GETARG_INT64(2)));
}

STROM_RANDOM(strom_random_float) {
  if (is_null(fcinfo)) PG_RETURN_NULL();
  const double lower = PG_GETARG_FLOAT8(1), upper = PG_GETARG_FLOAT8(2);
  if (!std::isfinite(lower) || !std::isfinite(upper))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bounds must be finite")));
  if (lower > upper) bad_bounds();
  const double part = pg_prng_double(random_state());
  PG_RETURN_FLOAT8(lower * (1 - part) + upper * part);  // upper - lower may overflow
}

STROM_RANDOM(strom_random_date) {
  if (is_null(fcinfo)) PG_RETURN_NULL();
  const DateADT lower = PG_GETARG_DATEADT(1), upper = PG_GETARG_DATEADT(2);
  if (DATE_NOT_FINITE(lower) || DATE_NOT_FINITE(upper))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bounds must be finite")));
  PG_RETURN_DATEADT(static_cast<DateADT>(between(lower, upper)));
}

STROM_RANDOM(strom_random_time) {
  if (is_null(fcinfo)) PG_RETURN_NULL();
  PG_RETURN_TIMEADT(between(PG_GETARG_TIMEADT(1), PG_GETARG_TIMEADT(2)));
}

STROM_RANDOM(strom_random_timetz) {
  if (is_null(fcinfo)) PG_RETURN_NULL();
  constexpr int kMostHours = 12;
  auto* result = static_cast<TimeTzADT*>(palloc(sizeof(TimeTzADT)));
  result->time = between(PG_GETARG_TIMEADT(1), PG_GETARG_TIMEADT(2));
  result->zone = static_cast<int32>(between(-kMostHours, kMostHours) * SECS_PER_HOUR);
  PG_RETURN_TIMETZADT_P(result);
}

STROM_RANDOM(strom_random_timestamp) {
  if (is_null(fcinfo)) PG_RETURN_NULL();
  const Timestamp lower = PG_GETARG_TIMESTAMP(1), upper = PG_GETARG_TIMESTAMP(2);
  if (TIMESTAMP_NOT_FINITE(lower) || TIMESTAMP_NOT_FINITE(upper))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("bounds must be finite")));
  PG_RETURN_TIMESTAMP(between(lower, upper));
}

STROM_RANDOM(strom_random_macaddr) {
  if (is_null(fcinfo)) PG_RETURN_NULL();
  const auto number = static_cast<uint64>(between(static_cast<int64>(number_of(PG_GETARG_MACADDR_P(1))),
                                                  static_cast<int64>(number_of(PG_GETARG_MACADDR_P(2)))));
  auto* result = static_cast<macaddr*>(palloc(sizeof(macaddr)));
  unsigned char* const bytes[] = {&result->f, &result->e, &result->d, &result->c, &result->b, &result->a};
  for (int i = 0; i < 6; ++i) *bytes[i] = static_cast<unsigned char>(number >> 8 * i);
  PG_RETURN_MACADDR_P(result);
}

STROM_RANDOM(strom_random_inet) {
  if (is_null(fcinfo)) PG_RETURN_NULL();
  const inet* network = PG_GETARG_INET_PP(1);
  auto* result = static_cast<inet*>(palloc0(sizeof(inet)));
  std::memcpy(VARDATA(result), VARDATA_ANY(network), VARSIZE_ANY_EXHDR(network));
  SET_INET_VARSIZE(result);
  ip_bits(result) = static_cast<unsigned char>(ip_maxbits(result));
  for (int bit = ip_bits(network); bit < ip_maxbits(result); ++bit) {
    const auto mask = static_cast<unsigned char>(0x80 >> bit % 8);
    unsigned char& byte = ip_addr(result)[bit / 8];
    byte = static_cast<unsigned char>(pg_prng_bool(random_state()) ? byte | mask : byte & ~mask);
  }
  PG_RETURN_INET_P(result);
}

STROM_RANDOM(strom_random_text) {
  if (is_null(fcinfo)) PG_RETURN_NULL();
  text* result = PG_GETARG_TEXT_P_COPY(1);
  char* const end = VARDATA(result) + VARSIZE(result) - VARHDRSZ;
  for (char* at = VARDATA(result); at < end; at += pg_mblen(at)) {
    CHECK_FOR_INTERRUPTS();
    if (*at == '*') *at = letter();
  }
  PG_RETURN_TEXT_P(result);
}

STROM_RANDOM(strom_random_text_len) {
  if (is_null(fcinfo)) PG_RETURN_NULL();
  const int32 most = PG_GETARG_INT32(1);
  if (most < 1 || most > static_cast<int32>(MaxAllocSize - VARHDRSZ))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("maximum length must be between 1 and %d", static_cast<int>(MaxAllocSize - VARHDRSZ))));
  const auto length = static_cast<Size>(between(1, most));
  auto* result = static_cast<text*>(palloc(VARHDRSZ + length));
  SET_VARSIZE(result, VARHDRSZ + length);
  for (Size i = 0; i < length; ++i) {
    CHECK_FOR_INTERRUPTS();
    VARDATA(result)[i] = letter();
  }
  PG_RETURN_TEXT_P(result);
}

}  // extern "C"
