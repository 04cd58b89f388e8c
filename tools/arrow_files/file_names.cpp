// See file_names.hpp.
#include "arrow_files/file_names.hpp"

#include <fmt/format.h>

#include <ctime>

namespace strom::tool {

namespace {

constexpr std::string_view kTimeLetters = "YymdHMS";

std::string time_part(char letter, const tm& time) {
  constexpr int kFirstYear = 1900, kCentury = 100;
  switch (letter) {
    case 'Y': return fmt::format("{:04}", time.tm_year + kFirstYear);
    case 'y': return fmt::format("{:02}", (time.tm_year + kFirstYear) % kCentury);
    case 'm': return fmt::format("{:02}", time.tm_mon + 1);
    case 'd': return fmt::format("{:02}", time.tm_mday);
    case 'H': return fmt::format("{:02}", time.tm_hour);
    case 'M': return fmt::format("{:02}", time.tm_min);
    default: return fmt::format("{:02}", time.tm_sec);
  }
}

bool has(std::string_view letters, char letter) { return letters.find(letter) != std::string_view::npos; }

}  // namespace

Status check_name_pattern(const std::string& pattern, std::string_view letters, const std::string& also) {
  for (size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2)) {
    const char letter = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    if (letter == '%' || has(kTimeLetters, letter) || has(letters, letter)) continue;
    return Status(ErrorCode::kInvalidParameter, "\"" + pattern.substr(at, 2) + "\" means nothing in a name of files")
        .with_hint("There are " + also + ", %Y, %y, %m, %d, %H, %M, %S, and %% for a percent sign.");
  }
  return Status::ok();
}

std::string name_of(const std::string& pattern, int64_t time_s, const NamePart& part) {
  const time_t seconds = time_s;
  tm time{};
  if (localtime_r(&seconds, &time) == nullptr) time = {};
  std::string name;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      name += pattern[i];
      continue;
    }
    const char letter = pattern[++i];
    if (letter == '%')
      name += '%';
    else
      name += has(kTimeLetters, letter) ? time_part(letter, time) : part(letter);
  }
  return name;
}

std::string numbered(const std::string& path, int64_t number) {
  return number == 0 ? path : with_number(path, std::to_string(number));
}

std::string with_number(const std::string& path, std::string_view number) {
  const size_t dot = path.rfind('.'), slash = path.rfind('/');
  const bool has_suffix = dot != std::string::npos && dot > 0 && (slash == std::string::npos || dot > slash + 1);
  const size_t end = has_suffix ? dot : path.size();
  return fmt::format("{}-{}{}", path.substr(0, end), number, path.substr(end));
}

}  // namespace strom::tool
