// Reads of a region by messages to the server, where it cannot be mapped: over TCP. Two-sided: each read costs the
// server a message. Part of libstromkv.
#pragma once

#include <memory>
#include <string>

#include "kv/stromkv.h"
#include "store/region/transport.hpp"

namespace strom::kv {

/// Opens a session with a token of pgstrom.kv_session_tcp(). `what`: why there is none. May throw std::bad_alloc.
stromkv_status open_message_transport(const char* address, const char* token,
                                      std::unique_ptr<store::region::Transport>* transport, std::string* what);

/// What a failure of a transport is to a caller of the library.
stromkv_status status_of(store::region::Reach reach);

/// What an answer of the server is to a reader of the region. Throws std::bad_alloc where there was no memory.
store::region::Reach reach_of(stromkv_status status);

}  // namespace strom::kv
