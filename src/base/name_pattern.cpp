// See name_pattern.hpp.
#include "base/name_pattern.hpp"

#include <algorithm>

namespace strom::base {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Status bad_pattern(const char* what, std::string_view text) {
  return Status(ErrorCode::kBadOption, "pattern \"" + std::string(text) + "\" " + what);
}

}  // namespace

void NamePattern::add_literal(char c) {
  if (parts_.empty() || parts_.back().kind != Kind::kText) parts_.push_back({Kind::kText, {}, -1});
  parts_.back().text += c;
}

Result<NamePattern> NamePattern::parse(std::string_view text) {
  constexpr size_t kLongest = 4096;
  if (text.size() > kLongest) return bad_pattern("is too long", text.substr(0, 64));
  NamePattern pattern;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_key = (c == '$' || c == '@') && i + 1 < text.size() && text[i + 1] == '{';
    if (c == '\\') {
      if (++i == text.size()) return bad_pattern("ends with a backslash", text);
      pattern.add_literal(text[i]);
    } else if (c == '*') {
      if (pattern.parts_.empty() || pattern.parts_.back().kind != Kind::kAny || pattern.parts_.back().key >= 0)
        pattern.parts_.push_back({Kind::kAny, {}, -1});
    } else if (is_key) {
      const size_t end = text.find('}', i);
      if (end == std::string_view::npos) return bad_pattern("has a key without its closing brace", text);
      std::string name(text.substr(i + 2, end - i - 2));
      if (name.empty()) return bad_pattern("has a key without a name", text);
      if (name.find('{') != std::string::npos) return bad_pattern("has a brace in the name of a key", text);
      for (const Key& other : pattern.keys_)
        if (other.name == name) return bad_pattern(("has the key \"" + name + "\" twice").c_str(), text);
      pattern.parts_.push_back({c == '@' ? Kind::kNumber : Kind::kAny, {}, static_cast<int>(pattern.keys_.size())});
      pattern.keys_.push_back({std::move(name), c == '@'});
      i = end;
    } else {
      pattern.add_literal(c);
    }
  }
  return pattern;
}

/// Which ends of a name fit which ends of a pattern, found from the last part on: without recursion, which a pattern of
/// thousands of parts would make as deep. The time is proportional to parts times characters.
class NamePattern::Matcher {
 public:
  Matcher(const NamePattern& pattern, std::string_view name)
      : parts_(pattern.parts_), name_(name), fits_((parts_.size() + 1) * (name.size() + 1)) {
    fits_[state_of(parts_.size(), name.size())] = true;
    for (size_t part = parts_.size(); part-- > 0;)
      for (size_t at = name.size() + 1; at-- > 0;) fits_[state_of(part, at)] = find(part, at);
  }

  bool match(std::vector<std::string_view>* values) const {
    if (!fits(0, 0)) return false;
    for (size_t part = 0, at = 0; part < parts_.size(); ++part) {
      const size_t end = end_of(part, at);
      const int key = parts_[part].key;
      if (key >= 0) (*values)[static_cast<size_t>(key)] = name_.substr(at, end - at);
      at = end;
    }
    return true;
  }

 private:
  /// Whether the name from `at` on fits `part` and those behind it. That is known of all further positions and parts.
  bool find(size_t part, size_t at) const {
    switch (parts_[part].kind) {
      case Kind::kText: {
        const std::string& text = parts_[part].text;
        return name_.substr(at).starts_with(text) && fits(part + 1, at + text.size());
      }
      case Kind::kAny: return fits(part + 1, at) || (at < name_.size() && fits(part, at + 1));
      case Kind::kNumber:
        return at < name_.size() && is_digit(name_[at]) && (fits(part + 1, at + 1) || fits(part, at + 1));
    }
    return false;
  }

  /// Where `part` ends that begins at `at`, which fits.
  size_t end_of(size_t part, size_t at) const {
    size_t end = at;
    switch (parts_[part].kind) {
      case Kind::kText: end += parts_[part].text.size(); break;
      case Kind::kAny:
        while (!fits(part + 1, end)) ++end;
        break;
      case Kind::kNumber:
        while (end < name_.size() && is_digit(name_[end])) ++end;
        while (!fits(part + 1, end)) --end;
        break;
    }
    return end;
  }

  bool fits(size_t part, size_t at) const { return fits_[state_of(part, at)]; }
  size_t state_of(size_t part, size_t at) const { return part * (name_.size() + 1) + at; }

  const std::vector<Part>& parts_;
  const std::string_view name_;
  std::vector<bool> fits_;  // state_of(part, where it begins)
};

bool NamePattern::match(std::string_view name, std::vector<std::string_view>* values) const {
  values->assign(keys_.size(), {});
  return Matcher(*this, name).match(values);
}

}  // namespace strom::base
