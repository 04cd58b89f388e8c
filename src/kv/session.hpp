// What the rest of libstromkv asks of a session of messages.
#pragma once

#include <cstdint>
#include <span>

#include "kv/stromkv.h"
#include "store/region/transport.hpp"

namespace strom::kv {

/// Reads pieces of the table's region. `number`: of the region that has to be read, 0 for any; which one it was comes
/// back. STROMKV_MOVED: another one.
stromkv_status read_region(stromkv_session* session, std::span<const store::region::Piece> pieces, uint32_t* number);

}  // namespace strom::kv
