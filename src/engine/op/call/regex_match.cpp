// Matching by RE2. Each thread keeps the expressions that it has used last, as they are compiled for a text and not
// shared well: threads would wait for each other's caches.
#include "engine/expr/regex.hpp"

#include <re2/re2.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/op/call/regex_match.hpp"

namespace strom::engine::expr {

namespace {

constexpr int64_t kMemory = 4 << 20;  // of a compiled expression; RE2 gets slower rather than use more

std::unique_ptr<re2::RE2> compile(std::string_view pattern, bool any_case) {
  re2::RE2::Options options;
  options.set_dot_nl(true);
  options.set_case_sensitive(!any_case);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(kMemory);
  auto regex = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  return regex->ok() ? std::move(regex) : nullptr;
}

/// The expressions that a thread has used last.
class Compiled {
 public:
  /// nullptr when it is none of RE2's.
  const re2::RE2* find(std::string_view pattern, bool any_case) {
    for (const Entry& entry : entries_)
      if (entry.any_case == any_case && entry.used && entry.pattern == pattern) return entry.regex.get();
    Entry& entry = entries_[next_++ % entries_.size()];
    entry = {};
    entry.regex = compile(pattern, any_case);
    entry.pattern = pattern;
    entry.any_case = any_case;
    entry.used = true;
    return entry.regex.get();
  }

 private:
  struct Entry {
    std::string pattern;
    bool any_case = false, used = false;
    std::unique_ptr<re2::RE2> regex;
  };
  std::array<Entry, 8> entries_;
  size_t next_ = 0;
};

/// Characters whose classes depend on a collation: those beyond ASCII, and separators that only some take for blanks.
bool is_plain_ascii(StrView text) {
  for (int64_t i = 0; i < text.len; ++i) {
    const auto c = static_cast<uint8_t>(text.ptr[i]);
    if (c >= 0x80 || (c >= 0x1C && c < 0x20)) return false;
  }
  return true;
}

}  // namespace

bool match_regex(StrView text, StrView regex, bool any_case, uint8_t* matches) {
  *matches = 0;
  if (regex.len < 1 || (regex.ptr[0] == kRegexOfAscii && !is_plain_ascii(text))) return true;
  thread_local Compiled compiled;
  const re2::RE2* found = compiled.find({regex.ptr + 1, static_cast<size_t>(regex.len - 1)}, any_case);
  if (found == nullptr) return true;
  const re2::StringPiece subject(text.ptr, static_cast<size_t>(text.len));
  *matches = found->Match(subject, 0, subject.size(), re2::RE2::UNANCHORED, nullptr, 0);
  return false;
}

}  // namespace strom::engine::expr

namespace strom::engine::exec {

bool is_regex(const std::string& pattern, bool any_case) {
  constexpr size_t kMostKnown = 1000;  // the same statements come again
  thread_local std::map<std::pair<std::string, bool>, bool> known;
  if (known.size() > kMostKnown) known.clear();
  const auto [found, is_new] = known.try_emplace({pattern, any_case}, false);
  if (is_new) found->second = expr::compile(pattern, any_case) != nullptr;
  return found->second;
}

}  // namespace strom::engine::exec
