// PostgreSQL's inet and cidr as their send functions write them. Private to src/format/pgwire.
#pragma once

#include <cstdint>
#include <string>

namespace strom::format::pgwire {

/// As PostgreSQL prints them; false when the bytes are no address.
bool network_to_text(const uint8_t* bytes, int64_t size, std::string& out);

}  // namespace strom::format::pgwire
