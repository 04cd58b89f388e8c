#include "format/forward/valid_text.hpp"

#include <cstddef>

#include "columnar/utf8.hpp"

namespace strom::format::forward {

bool is_valid_text(std::string_view text) {
  return columnar::is_utf8(text) && text.find('\0') == std::string_view::npos;
}

std::string valid_text(std::string_view text) {
  constexpr size_t kLongest = 4;
  std::string valid;
  for (size_t at = 0; at < text.size();) {
    size_t size = 1;
    while (size <= kLongest && at + size <= text.size() && !columnar::is_utf8(text.substr(at, size))) ++size;
    const bool is_valid = size <= kLongest && at + size <= text.size() && text[at] != '\0';
    valid += is_valid ? text.substr(at, size) : std::string_view("\xEF\xBF\xBD");
    at += is_valid ? size : 1;
  }
  return valid;
}

}  // namespace strom::format::forward
