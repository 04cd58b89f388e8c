// Values of published rows as text, and keys from text.
#pragma once

#include <span>
#include <string>

#include "base/status.hpp"
#include "kv/stromkv.h"
#include "strom-kv/text_codec.hpp"

namespace strom::kv_tool {

/// The bytes of a key. Types without a rule take \x and hexadecimal digits. Errors: kInvalidParameter.
Result<std::string> key_bytes(const stromkv_column& column, const std::string& text, const TextCodec& codec);

/// A row as JSON, from its columns and their values; NULL is null. Types without a rule are text of \x and hexadecimal
/// digits. Errors: TextCodec's.
Result<std::string> json_row(std::span<const stromkv_column* const> columns, std::span<const stromkv_field> fields,
                             const TextCodec& codec);

}  // namespace strom::kv_tool
