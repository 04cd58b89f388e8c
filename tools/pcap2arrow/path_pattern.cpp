// See path_pattern.hpp.
#include "pcap2arrow/path_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string_view>

namespace strom::pcap2arrow {

namespace {

constexpr std::string_view kLetters = "iqYymdHMS%";
constexpr int kFirstYear = 1900, kCentury = 100;

std::string value_of(char letter, const PathValues& values, const tm& time) {
  switch (letter) {
    case 'i': {
      std::string name = values.interface;
      std::replace(name.begin(), name.end(), '/', '_');
      return name;
    }
    case 'q': return std::to_string(values.queue);
    case 'Y': return fmt::format("{:04}", time.tm_year + kFirstYear);
    case 'y': return fmt::format("{:02}", (time.tm_year + kFirstYear) % kCentury);
    case 'm': return fmt::format("{:02}", time.tm_mon + 1);
    case 'd': return fmt::format("{:02}", time.tm_mday);
    case 'H': return fmt::format("{:02}", time.tm_hour);
    case 'M': return fmt::format("{:02}", time.tm_min);
    case 'S': return fmt::format("{:02}", time.tm_sec);
    default: return "%";
  }
}

}  // namespace

Status check_pattern(const std::string& pattern) {
  for (size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2)) {
    if (at + 1 < pattern.size() && kLetters.find(pattern[at + 1]) != std::string_view::npos) continue;
    return Status(ErrorCode::kInvalidParameter, "\"" + pattern.substr(at, 2) + "\" means nothing in a name of files")
        .with_hint("There are %i, %q, %Y, %y, %m, %d, %H, %M, %S, and %% for a percent sign.");
  }
  return Status::ok();
}

std::string path_of(const std::string& pattern, const PathValues& values) {
  constexpr int64_t kNano = 1000000000;
  time_t seconds = values.time / kNano - (values.time % kNano < 0 ? 1 : 0);
  tm time{};
  if (localtime_r(&seconds, &time) == nullptr) time = {};
  std::string path;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size())
      path += pattern[i];
    else
      path += value_of(pattern[++i], values, time);
  }
  return path;
}

bool has_queue(const std::string& pattern) {
  for (size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2)) {
    if (pattern.substr(at, 2) == "%q") return true;
  }
  return false;
}

std::string numbered(const std::string& path, int64_t number) {
  const size_t slash = path.rfind('/'), dot = path.rfind('.');
  const bool has_suffix = dot != std::string::npos && dot > 0 && (slash == std::string::npos || dot > slash + 1);
  const size_t end = has_suffix ? dot : path.size();
  return fmt::format("{}-{}{}", path.substr(0, end), number, path.substr(end));
}

}  // namespace strom::pcap2arrow
