// Texts as PostgreSQL can have them: UTF-8 without NUL. Used by everything that takes texts of events.
#pragma once

#include <string>
#include <string_view>

namespace strom::format::forward {

bool is_valid_text(std::string_view text);
/// The text with each NUL, and each byte that is not UTF-8, replaced by U+FFFD.
std::string valid_text(std::string_view text);

}  // namespace strom::format::forward
