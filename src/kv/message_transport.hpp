// Reads a region that cannot be mapped by messages to the server, over TCP. Two-sided: each read costs the server a
// message. Part of libstromkv.
#pragma once

#include <memory>
#include <string>

#include "kv/stromkv.h"
#include "store/region/transport.hpp"

namespace strom::kv {

/// Opens a session with a token of pgstrom.kv_session_tcp(). `what` gets the reason of a failure. May throw
/// std::bad_alloc.
stromkv_status open_message_transport(const char* address, const char* token,
                                      std::unique_ptr<store::region::Transport>* transport, std::string* what);

/// Converts a transport's failure to the status for a caller of the library.
stromkv_status status_of(store::region::Reach reach);

/// Converts the server's answer to the result for a reader of the region. Throws std::bad_alloc if memory was
/// exhausted.
store::region::Reach reach_of(stromkv_status status);

}  // namespace strom::kv
