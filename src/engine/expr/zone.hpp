// Local times of a zone, for the functions that read a timestamptz in the session's time zone. The planner gives the
// zone's offsets as bytes: pairs of 64-bit numbers. The first number is the time from which an offset holds, in
// microseconds since 2000 in UTC, the second is the offset eastwards in microseconds. The last pair ends the table.
// Times outside of the table make fallback rows. Single source.
#pragma once

#include "engine/expr/datetime.hpp"

namespace strom::engine::expr {

struct ZoneEntry {
  int64_t from, offset;
};

STROM_INLINE ZoneEntry zone_entry(StrView table, int64_t index) {
  ZoneEntry entry;
  __builtin_memcpy(&entry, table.ptr + index * static_cast<int64_t>(sizeof entry), sizeof entry);
  return entry;
}

/// Index of the entry that holds at `time`, or -1.
STROM_INLINE int64_t zone_index(StrView table, int64_t time) {
  int64_t low = 0, high = table.len / static_cast<int64_t>(sizeof(ZoneEntry)) - 1;
  if (high < 1 || time < zone_entry(table, 0).from || time >= zone_entry(table, high).from) return -1;
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (zone_entry(table, middle).from <= time ? low : high) = middle;
  }
  return low;
}

/// A sum that may wrap around: a table may hold any numbers.
STROM_INLINE int64_t wrapping_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

struct ZonedToLocal {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t time, StrView table) {
    out = time;
    if (!is_finite_time(time)) return false;
    const int64_t index = zone_index(table, time);
    if (index < 0) return true;
    out = wrapping_sum(time, zone_entry(table, index).offset);
    return false;
  }
};

/// Around a change of the offset, some local times stand for two moments or none. These make fallback rows, and so do
/// local times under offsets that hold for hardly more than a day.
struct LocalToZoned {
  /// True when `local` stands for one moment only, which is under entry `index`.
  STROM_INLINE static bool is_under(StrView table, int64_t index, int64_t local) {
    constexpr int64_t kShortest = 3 * kMicrosPerDay;
    const int64_t last = table.len / static_cast<int64_t>(sizeof(ZoneEntry)) - 1;
    if (index < 1 || index + 1 >= last) return false;
    const ZoneEntry before = zone_entry(table, index - 1), held = zone_entry(table, index),
                    after = zone_entry(table, index + 1);
    const int64_t begin = wrapping_sum(held.from, before.offset > held.offset ? before.offset : held.offset);
    const int64_t end = wrapping_sum(after.from, after.offset < held.offset ? after.offset : held.offset);
    return after.from > wrapping_sum(held.from, kShortest) && local >= begin && local < end;
  }

  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t local, StrView table) {
    out = local;
    if (!is_finite_time(local)) return false;
    const int64_t near = zone_index(table, local);  // close enough, since offsets are less than a day
    if (near < 0) return true;
    for (int64_t index = near - 1; index <= near + 1; ++index) {
      if (!is_under(table, index, local)) continue;
      out = static_cast<int64_t>(static_cast<uint64_t>(local) - static_cast<uint64_t>(zone_entry(table, index).offset));
      return false;
    }
    return true;
  }
};

}  // namespace strom::engine::expr
