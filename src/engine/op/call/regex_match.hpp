// Regular expressions of RE2, which engine/expr/regex.hpp matches.
#pragma once

#include <memory>
#include <string>

#include "engine/op/prepared/prepared_constant.hpp"

namespace strom::engine::op {

/// True when RE2 accepts the pattern. It rejects patterns that would be too large.
bool is_regex(const std::string& pattern, bool any_case);

/// Prepares a translation, which begins with the byte of engine/expr/regex.hpp.
std::unique_ptr<PreparedConstant> prepare_regex(const std::string& translation, bool any_case);

}  // namespace strom::engine::op
