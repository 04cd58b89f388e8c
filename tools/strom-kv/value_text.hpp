// Values of published rows as text, and keys from text.
#pragma once

#include <string>

#include "base/status.hpp"
#include "kv/stromkv.h"

namespace strom::kv_tool {

/// The bytes of a key. Types without a rule take \x and hexadecimal digits. Errors: kInvalidParameter.
Result<std::string> key_bytes(const stromkv_column& column, const std::string& text);

/// A value as JSON; NULL is null. Types without a rule are text of \x and hexadecimal digits.
std::string json_value(const stromkv_column& column, const stromkv_field& field);

}  // namespace strom::kv_tool
