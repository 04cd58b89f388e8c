// See path_pattern.hpp.
#include "pcap2arrow/path_pattern.hpp"

#include <algorithm>

#include "arrow_files/file_names.hpp"

namespace strom::pcap2arrow {

Status check_pattern(const std::string& pattern) { return tool::check_name_pattern(pattern, "iq", "%i, %q"); }

std::string path_of(const std::string& pattern, const PathValues& values) {
  constexpr int64_t kNano = 1000000000;
  const int64_t seconds = values.time / kNano - (values.time % kNano < 0 ? 1 : 0);
  return tool::name_of(pattern, seconds, [&](char letter) {
    if (letter == 'q') return std::to_string(values.queue);
    std::string name = values.interface;
    std::replace(name.begin(), name.end(), '/', '_');
    return name;
  });
}

bool has_queue(const std::string& pattern) {
  for (size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2)) {
    if (pattern.substr(at, 2) == "%q") return true;
  }
  return false;
}

}  // namespace strom::pcap2arrow
