// One-sided reads of a region by RDMA: the server's network card answers them, and no process of the server. Part of
// libstromkv.
#pragma once

#include <memory>
#include <string>

#include "kv/stromkv.h"
#include "store/region/transport.hpp"

namespace strom::kv {

/// Opens a session of messages with a token of pgstrom.kv_session_tcp(), and by it a connection by RDMA to the same
/// address. `what`: why there is none. May throw std::bad_alloc.
stromkv_status open_rdma_transport(const char* address, const char* token,
                                   std::unique_ptr<store::region::Transport>* transport, std::string* what);

}  // namespace strom::kv
