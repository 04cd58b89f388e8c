// Regular expressions of PostgreSQL in RE2's syntax, as far as both mean the same by them: characters, `.`, brackets,
// groups, alternatives, greedy quantifiers, anchors and the classes \d \s \w. Only whether there is a match counts, not
// where.
#pragma once

#include <string>

namespace strom::pg::planner {

struct TranslatedRegex {
  std::string pattern;      // RE2's syntax, with `.` matching any character
  bool ascii_only = false;  // the meaning beyond ASCII text is a matter of the collation
};

/// An advanced regular expression (AREs, PostgreSQL's default) in UTF-8. False when it is none, or has something else.
bool translate_regex(const std::string& regex, bool any_case, TranslatedRegex* translated);

}  // namespace strom::pg::planner
