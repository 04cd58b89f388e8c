// The client's half of the exchange of a token for a region, and of the beginning of messages. Part of libstromkv.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "kv/stromkv.h"

namespace strom::kv {

/// The bytes of a token in hexadecimal digits. False: it is none.
bool parse_token(const char* text, uint8_t* bytes);

/// A connection to a server's socket: a path, or tcp:HOST:PORT. -1, and `what` says why there is none.
int connect_to(const char* path, std::string* what);

/// A descriptor of the region that `token` (hexadecimal) is for. `what`: why not.
stromkv_status receive_region(const char* socket, const char* token, base::Descriptor* descriptor, std::string* what);

}  // namespace strom::kv
