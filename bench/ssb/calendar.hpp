// Calendar of the Star Schema Benchmark: 1992-01-01 to 1998-12-31 as day numbers from 0. Used by the date table and
// for order and commit dates.
#pragma once

#include <chrono>
#include <cstdint>

namespace strom::ssb {

inline constexpr std::chrono::sys_days kFirstDay = std::chrono::year{1992} / 1 / 1;
inline constexpr std::chrono::sys_days kLastDay = std::chrono::year{1998} / 12 / 31;
inline constexpr std::chrono::sys_days kLastOrderDay = std::chrono::year{1998} / 8 / 2;
inline constexpr int32_t kCalendarDays = (kLastDay - kFirstDay).count() + 1;
inline constexpr int32_t kOrderDays = (kLastOrderDay - kFirstDay).count() + 1;

/// Date of day number `day`, which may lie beyond the calendar.
constexpr std::chrono::year_month_day date_of(int32_t day) { return kFirstDay + std::chrono::days{day}; }

/// yyyymmdd.
constexpr int32_t date_key(std::chrono::year_month_day date) {
  return static_cast<int>(date.year()) * 10000 + static_cast<int>(static_cast<unsigned>(date.month())) * 100 +
         static_cast<int>(static_cast<unsigned>(date.day()));
}

}  // namespace strom::ssb
