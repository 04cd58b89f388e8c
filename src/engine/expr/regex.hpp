// Regular expressions, by RE2 on the host; on devices every row is a fallback row. The planner translates PostgreSQL's
// expressions (pg/planner/lowering/regex_translate.hpp).
#pragma once

#include "engine/expr/element.hpp"

namespace strom::engine::expr {

/// The first byte of a translated expression: whether it is for texts of plain ASCII only, or for any text.
inline constexpr char kRegexOfAscii = 'a', kRegexOfAnyText = 'u';

/// *matches: whether `text` has a match. `regex` is the worker's form of the expression (plan::PreparedForm::kRegex),
/// made of its translation. True when the row is a fallback row. Defined in engine/op/call/regex_match.cpp.
bool match_regex(StrView text, StrView regex, uint8_t* matches);

struct MatchesRegex {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView text, StrView regex) {
    out = 0;
    if constexpr (!platform::kHostMath)
      return true;
    else
      return match_regex(text, regex, &out);
  }
};

}  // namespace strom::engine::expr
