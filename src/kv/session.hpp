// The interface of a session of messages for the rest of libstromkv.
#pragma once

#include <cstdint>
#include <span>

#include "kv/stromkv.h"
#include "store/message/message.hpp"
#include "store/region/transport.hpp"

struct sockaddr_storage;

namespace strom::kv {

/// Reads pieces of the table's region. `number`: in, the region to read, or 0 for any; out, the region that was read.
/// STROMKV_MOVED: the table has another region.
stromkv_status read_region(stromkv_session* session, std::span<const store::region::Piece> pieces, uint32_t* number);

/// Gets the addresses of the table's region for RDMA, and its number. On failure see stromkv_session_error().
stromkv_status ask_far_memory(stromkv_session* session, store::message::FarMemory* memory, uint32_t* number);

/// The server's address, for a session by TCP. False: it is unknown.
bool peer_of(const stromkv_session* session, struct sockaddr_storage* address);

}  // namespace strom::kv
