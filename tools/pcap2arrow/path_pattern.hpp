// Names of output files with the time, the interface and the queue in them.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace strom::pcap2arrow {

inline constexpr const char* kDefaultPattern = "/tmp/pcap_%i_%y%m%d_%H%M%S.arrow";

/// What stands for %i, %q and the parts of a time.
struct PathValues {
  std::string interface;
  int64_t queue = 0;
  int64_t time = 0;  // nanoseconds since 1970; names have the local time
};

/// kInvalidParameter for a % that is followed by none of i, q, Y, y, m, d, H, M, S, %.
Status check_pattern(const std::string& pattern);
/// Slashes of an interface's name become underscores.
std::string path_of(const std::string& pattern, const PathValues& values);
/// Whether files of different queues have different names.
bool has_queue(const std::string& pattern);

}  // namespace strom::pcap2arrow
