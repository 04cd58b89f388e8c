// Converts regular expressions to LIKE patterns for the planner's lowering.
#pragma once

#include <string>
#include <vector>

namespace strom::pg::planner {

/// LIKE patterns, one for each branch. A text matches the advanced regular expression `regex` exactly if it matches one
/// of them. False when there are no such patterns, or when it is uncertain. Supported: literal characters, `.`, `.*`,
/// `.+`, escaped punctuation, anchors at the ends of branches, and `|` between branches.
bool like_branches(const std::string& regex, std::vector<std::string>* patterns);

}  // namespace strom::pg::planner
