// Reads a region by one-sided RDMA: the server's network card answers, without any process of the server. Part of
// libstromkv.
#pragma once

#include <memory>
#include <string>

#include "kv/stromkv.h"
#include "store/region/transport.hpp"

namespace strom::kv {

/// Opens a session of messages with a token of pgstrom.kv_session_tcp(). Through it, connects by RDMA to the same
/// address. `what` gets the reason of a failure. May throw std::bad_alloc.
stromkv_status open_rdma_transport(const char* address, const char* token,
                                   std::unique_ptr<store::region::Transport>* transport, std::string* what);

}  // namespace strom::kv
