// What the rest of libstromkv asks of a session of messages.
#pragma once

#include <cstdint>
#include <span>

#include "kv/stromkv.h"
#include "store/message/message.hpp"
#include "store/region/transport.hpp"

struct sockaddr_storage;

namespace strom::kv {

/// Reads pieces of the table's region. `number`: of the region that has to be read, 0 for any; which one it was comes
/// back. STROMKV_MOVED: another one.
stromkv_status read_region(stromkv_session* session, std::span<const store::region::Piece> pieces, uint32_t* number);

/// How the table's region is read by RDMA, and its number. Where that fails, stromkv_session_error() says more.
stromkv_status ask_far_memory(stromkv_session* session, store::message::FarMemory* memory, uint32_t* number);

/// The address of the server, of a session by TCP. False: it cannot be told.
bool peer_of(const stromkv_session* session, struct sockaddr_storage* address);

}  // namespace strom::kv
