#include "pg/planner/lowering/regex_branches.hpp"

#include <cstring>

namespace strom::pg::planner {

namespace {

constexpr size_t kMostBranches = 50;

void append_literal(char c, std::string* pattern) {
  if (std::strchr("%_\\", c) != nullptr) *pattern += '\\';
  *pattern += c;
}

bool is_punctuation(char c) {
  return c > ' ' && c < 127 && std::strchr("!\"#%&',-./:;<=>@`~^$*+?()[]{}|\\_", c) != nullptr;
}

/// Reads the branch that begins at `*at`, and moves `*at` to its end.
bool take_branch(const std::string& regex, size_t* at, std::string* pattern) {
  size_t i = *at;
  const size_t begin = i;
  const bool from_start = i < regex.size() && regex[i] == '^';
  if (from_start) ++i;
  pattern->assign(from_start ? "" : "%");
  bool to_end = false;
  for (; i < regex.size() && regex[i] != '|' && !to_end; ++i) {
    const char c = regex[i];
    if (c == '$') {
      to_end = true;
    } else if (c == '.') {
      const char next = i + 1 < regex.size() ? regex[i + 1] : '\0';
      *pattern += next == '*' ? "%" : next == '+' ? "_%" : "_";
      if (next == '*' || next == '+') ++i;
    } else if (c == '\\') {
      if (i + 1 == regex.size() || !is_punctuation(regex[i + 1])) return false;  // classes, back references, ...
      append_literal(regex[++i], pattern);
    } else if (std::strchr("^*+?()[]{}", c) != nullptr) {
      return false;
    } else {
      append_literal(c, pattern);
    }
  }
  if (i < regex.size() && regex[i] != '|') return false;  // something follows the end anchor
  if (!to_end) *pattern += '%';
  const bool empty = i == begin;
  *at = i;
  return !empty || regex.empty();
}

}  // namespace

bool like_branches(const std::string& regex, std::vector<std::string>* patterns) {
  patterns->clear();
  for (size_t at = 0;; ++at) {
    std::string pattern;
    if (patterns->size() == kMostBranches || !take_branch(regex, &at, &pattern)) return false;
    patterns->push_back(pattern);
    if (at == regex.size()) return true;
  }
}

}  // namespace strom::pg::planner
