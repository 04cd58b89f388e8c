// PostgreSQL's inet and cidr in the form of their send functions. Private to src/format/pgwire.
#pragma once

#include <cstdint>
#include <string>

namespace strom::format::pgwire {

/// Appends the text that PostgreSQL prints; false when the bytes are not an address.
bool network_to_text(const uint8_t* bytes, int64_t size, std::string& out);

}  // namespace strom::format::pgwire
