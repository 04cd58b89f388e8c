// The client's half of the exchange of a token for a region. Part of libstromkv.
#pragma once

#include <string>

#include "kv/stromkv.h"

namespace strom::kv {

/// A descriptor of the region that `token` (hexadecimal) is for. `what`: why not.
stromkv_status receive_region(const char* socket, const char* token, int* descriptor, std::string* what);

}  // namespace strom::kv
