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

/// Tries the parts one after another. A part that has failed at a position of the name is not tried there again. The
/// time is proportional to parts times characters.
class NamePattern::Matcher {
 public:
  Matcher(const NamePattern& pattern, std::string_view name, std::vector<std::string_view>* values)
      : pattern_(pattern), name_(name), values_(values), failed_((pattern.parts_.size() + 1) * (name.size() + 1)) {
    values_->assign(pattern.keys_.size(), {});
    digits_end_.resize(name.size() + 1, name.size());
    for (size_t i = name.size(); i-- > 0;) digits_end_[i] = is_digit(name[i]) ? digits_end_[i + 1] : i;
  }

  bool match(size_t part, size_t at) {
    if (part == pattern_.parts_.size()) return at == name_.size();
    if (failed_[state_of(part, at)]) return false;
    const bool fits = match_part(part, at);
    failed_[state_of(part, at)] = !fits;
    return fits;
  }

 private:
  bool match_part(size_t index, size_t at) {
    const Part& part = pattern_.parts_[index];
    switch (part.kind) {
      case Kind::kText: return name_.substr(at).starts_with(part.text) && match(index + 1, at + part.text.size());
      case Kind::kAny:
        for (size_t end = at; end <= name_.size() && !failed_[state_of(index, end)]; ++end) {
          if (take(index, at, end)) return true;
          failed_[state_of(index, end)] = true;  // all that could be tried from here on has been tried, or is next
        }
        return false;
      case Kind::kNumber: {
        const size_t last = digits_end_[at];
        // An attempt that failed from the next digit on has tried all ends but the first.
        const bool tried = at + 1 < last && failed_[state_of(index, at + 1)];
        for (size_t end = tried ? at + 1 : last; end > at; --end)
          if (take(index, at, end)) return true;
        for (size_t begin = at; begin < last && !failed_[state_of(index, begin)]; ++begin)
          failed_[state_of(index, begin)] = true;  // by the same ends
        return false;
      }
    }
    return false;
  }

  size_t state_of(size_t part, size_t at) const { return part * (name_.size() + 1) + at; }

  bool take(size_t index, size_t begin, size_t end) {
    if (!match(index + 1, end)) return false;
    const int key = pattern_.parts_[index].key;
    if (key >= 0) (*values_)[static_cast<size_t>(key)] = name_.substr(begin, end - begin);
    return true;
  }

  const NamePattern& pattern_;
  const std::string_view name_;
  std::vector<std::string_view>* values_;
  std::vector<bool> failed_;
  std::vector<size_t> digits_end_;  // of the digits that begin there
};

bool NamePattern::match(std::string_view name, std::vector<std::string_view>* values) const {
  return Matcher(*this, name, values).match(0, 0);
}

}  // namespace strom::base
