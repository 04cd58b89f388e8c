// Translates PostgreSQL's regular expressions to RE2's syntax, where both have the same meaning: characters, `.`,
// brackets, groups, alternatives, greedy quantifiers, anchors and the classes \d \s \w. Only whether a text matches is
// preserved, not where.
#pragma once

#include <string>

namespace strom::pg::planner {

struct TranslatedRegex {
  std::string pattern;      // RE2's syntax, with `.` matching any character
  bool ascii_only = false;  // beyond ASCII the meaning depends on the collation
};

/// Translates an advanced regular expression (ARE, PostgreSQL's default) in UTF-8. False when it is invalid or
/// unsupported.
bool translate_regex(const std::string& regex, bool any_case, TranslatedRegex* translated);

}  // namespace strom::pg::planner
