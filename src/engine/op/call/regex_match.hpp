// Regular expressions of RE2, which engine/expr/regex.hpp matches.
#pragma once

#include <string>

namespace strom::engine::exec {

/// RE2 takes it; not so when it would be too large.
bool is_regex(const std::string& pattern, bool any_case);

}  // namespace strom::engine::exec
