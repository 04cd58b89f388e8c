// Names of output files that are made of a pattern: parts of the time, what a tool adds, and numbers for files of one
// name. Used by the tools that receive for long.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace strom::tool {

/// What stands for a letter that is a tool's own.
using NamePart = std::function<std::string(char letter)>;

/// kInvalidParameter for a % that is followed by none of Y, y, m, d, H, M, S, % and `letters`, which are the tool's
/// own. `also` names them, and what else the tool knows, for the hint.
Status check_name_pattern(const std::string& pattern, std::string_view letters, const std::string& also);
/// The pattern with the parts of the local time at `time_s` (seconds since 1970) and of the tool.
std::string name_of(const std::string& pattern, int64_t time_s, const NamePart& part);
/// `path` with a number before its suffix: capture-1.arrow. `path` itself for 0.
std::string numbered(const std::string& path, int64_t number);
/// The same with any text as the number.
std::string with_number(const std::string& path, std::string_view number);

}  // namespace strom::tool
