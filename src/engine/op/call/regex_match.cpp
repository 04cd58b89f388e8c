// Matching by RE2.
#include "engine/expr/regex.hpp"

#include <re2/re2.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/op/call/regex_match.hpp"

namespace strom::engine::expr {

namespace {

constexpr int64_t kMemory = 4 << 20;  // of a compiled expression; at this limit RE2 gets slower
constexpr int64_t kUsualMemory = 64 << 10;

re2::RE2::Options options_of(bool any_case) {
  re2::RE2::Options options;
  options.set_dot_nl(true);
  options.set_case_sensitive(!any_case);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(kMemory);
  return options;
}

/// A compiled expression of one worker. Workers do not share it, because they would wait for each other's caches.
class WorkerRegex final : public op::WorkerForm {
 public:
  WorkerRegex(std::string_view pattern, bool any_case, bool ascii_only)
      : regex_(re2::StringPiece(pattern.data(), pattern.size()), options_of(any_case)), ascii_only_(ascii_only) {}
  StrView view() const override { return {reinterpret_cast<const char*>(this), static_cast<int64_t>(sizeof *this)}; }

  const re2::RE2& regex() const { return regex_; }
  bool ascii_only() const { return ascii_only_; }

 private:
  const re2::RE2 regex_;
  const bool ascii_only_;
};

class PreparedRegex final : public op::PreparedConstant {
 public:
  PreparedRegex(std::string translation, bool any_case) : translation_(std::move(translation)), any_case_(any_case) {}

  std::unique_ptr<op::WorkerForm> for_worker() const override {
    auto worker = std::make_unique<WorkerRegex>(std::string_view(translation_).substr(1), any_case_,
                                                translation_[0] == kRegexOfAscii);
    if (!worker->regex().ok()) return nullptr;
    return worker;
  }
  int64_t memory() const override { return static_cast<int64_t>(translation_.capacity()) + kUsualMemory; }

 private:
  const std::string translation_;
  const bool any_case_;
};

/// True when no character's class depends on a collation. It does for characters beyond ASCII, and for separators that
/// only some collations take for blanks.
bool is_plain_ascii(StrView text) {
  for (int64_t i = 0; i < text.len; ++i) {
    const auto c = static_cast<uint8_t>(text.ptr[i]);
    if (c >= 0x80 || (c >= 0x1C && c < 0x20)) return false;
  }
  return true;
}

}  // namespace

bool match_regex(StrView text, StrView regex, uint8_t* matches) {
  *matches = 0;
  if (regex.ptr == nullptr) return true;
  const auto& worker = *reinterpret_cast<const WorkerRegex*>(regex.ptr);
  if (worker.ascii_only() && !is_plain_ascii(text)) return true;
  const re2::StringPiece subject(text.ptr, static_cast<size_t>(text.len));
  *matches = worker.regex().Match(subject, 0, subject.size(), re2::RE2::UNANCHORED, nullptr, 0);
  return false;
}

}  // namespace strom::engine::expr

namespace strom::engine::op {

std::unique_ptr<PreparedConstant> prepare_regex(const std::string& translation, bool any_case) {
  if (translation.empty()) return nullptr;
  return std::make_unique<expr::PreparedRegex>(translation, any_case);
}

bool is_regex(const std::string& pattern, bool any_case) {
  constexpr size_t kMostKnown = 1000;  // kept because the same statements come again
  thread_local std::map<std::pair<std::string, bool>, bool> known;
  if (known.size() > kMostKnown) known.clear();
  const auto [found, is_new] = known.try_emplace({pattern, any_case}, false);
  if (is_new) found->second = re2::RE2(pattern, expr::options_of(any_case)).ok();
  return found->second;
}

}  // namespace strom::engine::op
