// Regular expressions, by RE2 on the host; devices leave every row to PostgreSQL. The planner translates PostgreSQL's
// (pg/planner/regex_translate.hpp).
#pragma once

#include "engine/expr/element.hpp"

namespace strom::engine::expr {

/// The first byte of a translated expression: whether only texts of plain ASCII are the engine's.
inline constexpr char kRegexOfAscii = 'a', kRegexOfAnyText = 'u';

/// Whether `text` has a match of RE2's expression behind the first byte of `regex`. True when PostgreSQL has to decide.
/// Of engine/op/call/regex_match.cpp.
bool match_regex(StrView text, StrView regex, bool any_case, uint8_t* matches);

template <bool kAnyCase>
struct MatchesRegex {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView text, StrView regex) {
    out = 0;
    if constexpr (!platform::kHostMath)
      return true;
    else
      return match_regex(text, regex, kAnyCase, &out);
  }
};

}  // namespace strom::engine::expr
