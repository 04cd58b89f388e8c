// Regular expressions of RE2, which engine/expr/regex.hpp matches.
#pragma once

#include <memory>
#include <string>

#include "engine/op/prepared/prepared_constant.hpp"

namespace strom::engine::op {

/// RE2 takes it; not so when it would be too large.
bool is_regex(const std::string& pattern, bool any_case);

/// Of a translation, with the byte that engine/expr/regex.hpp puts before it.
std::unique_ptr<PreparedConstant> prepare_regex(const std::string& translation, bool any_case);

}  // namespace strom::engine::op
