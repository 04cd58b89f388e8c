// Asking for a password.
#pragma once

#include <optional>
#include <string>

namespace strom::tool {

/// Asks on the terminal, whatever standard input is; nothing when there is no terminal.
std::optional<std::string> ask_password(const std::string& user);

}  // namespace strom::tool
