// What the times of files tell about changes. Used by caches of what was read from files.
#pragma once

#include <cstdint>
#include <ctime>

#include "base/mapped_file.hpp"

namespace strom::base {

/// Nanoseconds of the clock that files' times are of.
inline int64_t clock_ns() {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Whatever is written to the file after `now` gives it another identity. Files' times have the granularity of the
/// kernel's clock, or of seconds on some file systems: a change just after another may leave them as they are.
/// By ctime, which nobody can set.
inline bool is_settled(const FileIdentity& file, int64_t now) {
  constexpr int64_t kGranularityNs = 2'000'000'000;
  return file.ctime_ns < now - kGranularityNs;
}

}  // namespace strom::base
