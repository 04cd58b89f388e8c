#include "format/geoarrow/json_members.hpp"

#include <cstdint>

namespace strom::format::geoarrow {

namespace {

/// Skips values without looking into them.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void skip_blanks() {
    const size_t at = text_.find_first_not_of(" \t\r\n", at_);
    at_ = at == std::string_view::npos ? text_.size() : at;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// False: there is no value.
  bool take_value(std::string_view* value) {
    skip_blanks();
    const size_t begin = at_;
    if (at_ >= text_.size()) return false;
    if (text_[at_] == '"') {
      if (!skip_string()) return false;
    } else if (text_[at_] == '{' || text_[at_] == '[') {
      if (!skip_nested()) return false;
    } else {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    }
    *value = text_.substr(begin, at_ - begin);
    return !value->empty();
  }

 private:
  bool skip_string() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == '"')
        return ++at_, true;
    }
    return false;
  }
  bool skip_nested() {
    int64_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return false;
        continue;
      }
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      ++at_;
      if (depth == 0) return true;
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
};

void append_utf8(uint32_t code, std::string* to) {
  constexpr uint32_t kOne = 0x80, kTwo = 0x800, kThree = 0x10000;
  const auto rest = [&](int shift) { to->push_back(static_cast<char>(0x80 | (code >> shift & 0x3F))); };
  if (code < kOne) return to->push_back(static_cast<char>(code));
  if (code < kTwo) {
    to->push_back(static_cast<char>(0xC0 | code >> 6));
  } else if (code < kThree) {
    to->push_back(static_cast<char>(0xE0 | code >> 12));
    rest(6);
  } else {
    to->push_back(static_cast<char>(0xF0 | code >> 18));
    rest(12);
    rest(6);
  }
  rest(0);
}

bool take_hex(std::string_view text, size_t at, uint32_t* code) {
  constexpr size_t kDigits = 4;
  if (text.size() - at < kDigits) return false;
  *code = 0;
  for (size_t i = at; i < at + kDigits; ++i) {
    const size_t digit =
        std::string_view("0123456789abcdef").find(static_cast<char>(text[i] | (text[i] > '9' ? 32 : 0)));
    if (digit == std::string_view::npos) return false;
    *code = *code * 16 + static_cast<uint32_t>(digit);
  }
  return true;
}

/// Decodes the escape at `at`, behind its backslash; moves `at` to its last character.
bool unescape(std::string_view text, size_t* at, std::string* to) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kCharacters = "\"\\/\b\f\n\r\t";
  constexpr uint32_t kHigh = 0xD800, kLow = 0xDC00, kEnd = 0xE000;
  if (const size_t found = kNames.find(text[*at]); found != std::string_view::npos)
    return to->push_back(kCharacters[found]), true;
  uint32_t code = 0, second = 0;
  if (text[*at] != 'u' || !take_hex(text, *at + 1, &code)) return false;
  *at += 4;
  if (code >= kHigh && code < kLow && text.substr(*at + 1, 2) == "\\u" && take_hex(text, *at + 3, &second) &&
      second >= kLow && second < kEnd) {
    code = 0x10000 + ((code - kHigh) << 10) + (second - kLow);
    *at += 6;
  }
  append_utf8(code, to);
  return true;
}

}  // namespace

std::optional<std::string> json_string(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::nullopt;
  value = value.substr(1, value.size() - 2);
  std::string text;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '\\')
      text.push_back(value[i]);
    else if (++i == value.size() || !unescape(value, &i, &text))
      return std::nullopt;
  }
  return text;
}

std::vector<std::pair<std::string, std::string_view>> json_members(std::string_view object) {
  std::vector<std::pair<std::string, std::string_view>> members;
  Scanner scanner(object);
  if (!scanner.take('{')) return members;
  std::string_view name, value;
  while (scanner.take_value(&name) && scanner.take(':') && scanner.take_value(&value)) {
    auto text = json_string(name);
    if (!text.has_value()) break;
    members.emplace_back(std::move(*text), value);
    if (!scanner.take(',')) break;
  }
  return members;
}

std::optional<std::string_view> json_member(std::string_view object, std::string_view name) {
  std::optional<std::string_view> found;
  for (const auto& [key, value] : json_members(object))
    if (key == name) found = value;
  return found;
}

std::vector<std::string_view> json_elements(std::string_view array) {
  std::vector<std::string_view> elements;
  Scanner scanner(array);
  std::string_view value;
  if (!scanner.take('[')) return elements;
  while (scanner.take_value(&value)) {
    elements.push_back(value);
    if (!scanner.take(',')) break;
  }
  return elements;
}

}  // namespace strom::format::geoarrow
