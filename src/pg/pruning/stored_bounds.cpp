// See stored_bounds.hpp.
#include "pg/pruning/stored_bounds.hpp"

#include <cmath>
#include <cstring>

#include "columnar/layout.hpp"

namespace strom::pg::pruning {

using columnar::Bounds;
using columnar::Layout;

namespace {

__int128 micros_of(columnar::TimeUnit unit, __int128 value) {
  switch (unit) {
    case columnar::TimeUnit::kSecond: return value * 1000000;
    case columnar::TimeUnit::kMilli: return value * 1000;
    case columnar::TimeUnit::kMicro: return value;
    case columnar::TimeUnit::kNano: return value / 1000;
  }
  return value;
}

float float_towards(double value, double direction) {
  const auto rounded = static_cast<float>(value);
  const bool is_outside = direction < 0 ? rounded <= value : rounded >= value;
  return is_outside ? rounded : std::nextafterf(rounded, static_cast<float>(direction));
}

}  // namespace

bool is_in_range(const columnar::Field& field, __int128 value) {
  constexpr __int128 kMicrosPerDay = USECS_PER_DAY, kEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;
  __int128 micros = 0;
  switch (field.layout) {
    case Layout::kDate32: micros = value * kMicrosPerDay; break;
    case Layout::kDate64: micros = value * 1000; break;
    case Layout::kTime32:
    case Layout::kTime64: micros = micros_of(field.unit, value); return value >= 0 && micros <= kMicrosPerDay;
    case Layout::kTimestamp: micros = micros_of(field.unit, value); break;
    default: return true;
  }
  micros -= kEpochDays * kMicrosPerDay;
  return micros >= MIN_TIMESTAMP && micros < END_TIMESTAMP;
}

void store_bounds(const columnar::Field& field, const Bounds& bounds, char* bytes) {
  const auto width = static_cast<size_t>(columnar::value_width(field.layout, field.byte_width));
  if (field.layout == Layout::kFloat32) {
    const float values[] = {float_towards(bounds.low_real, -HUGE_VAL), float_towards(bounds.high_real, HUGE_VAL)};
    std::memcpy(bytes, values, sizeof values);
  } else if (field.layout == Layout::kFloat64) {
    const double values[] = {bounds.low_real, bounds.high_real};
    std::memcpy(bytes, values, sizeof values);
  } else {  // little-endian
    std::memcpy(bytes, &bounds.low, width);
    std::memcpy(bytes + width, &bounds.high, width);
  }
}

Datum days_away(Oid type, Datum value, int days) {
  if (type == DATEOID) {
    const DateADT date = DatumGetDateADT(value);
    if (DATE_NOT_FINITE(date)) return value;
    const DateADT away = date + days;
    return DateADTGetDatum(IS_VALID_DATE(away) ? away : days < 0 ? DATEVAL_NOBEGIN : DATEVAL_NOEND);
  }
  const Timestamp timestamp = DatumGetTimestamp(value);
  if (TIMESTAMP_NOT_FINITE(timestamp)) return value;
  const Timestamp away = timestamp + days * USECS_PER_DAY;
  return TimestampGetDatum(IS_VALID_TIMESTAMP(away) ? away : days < 0 ? DT_NOBEGIN : DT_NOEND);
}

}  // namespace strom::pg::pruning
