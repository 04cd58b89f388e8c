// The client's side of exchanging a token for a region, and of opening a session of messages. Part of libstromkv.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.hpp"
#include "kv/stromkv.h"

namespace strom::kv {

/// Parses a token in hexadecimal digits. False: it is invalid.
bool parse_token(const char* text, uint8_t* bytes);

/// Connects to a server's socket: a path, or tcp:HOST:PORT. -1 on failure; `what` gets the reason.
int connect_to(const char* path, std::string* what);

/// Gets the descriptor of the region for `token` (hexadecimal). `what` gets the reason of a failure.
stromkv_status receive_region(const char* socket, const char* token, base::Descriptor* descriptor, std::string* what);

}  // namespace strom::kv
