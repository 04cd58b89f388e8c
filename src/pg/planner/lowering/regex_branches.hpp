// Regular expressions that LIKE can say: for the planner's lowering.
#pragma once

#include <string>
#include <vector>

namespace strom::pg::planner {

/// LIKE patterns, one for each branch, of which a text matches one exactly when it matches the advanced regular
/// expression `regex`. False when there are none, or when that is not certain: literal characters, `.`, `.*`, `.+`,
/// escaped punctuation, anchors at the ends of branches, and `|` between them are understood.
bool like_branches(const std::string& regex, std::vector<std::string>* patterns);

}  // namespace strom::pg::planner
