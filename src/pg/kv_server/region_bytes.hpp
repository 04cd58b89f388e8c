// Bytes of a published region for clients that cannot map it.
#pragma once

#include <string>
#include <vector>

#include "pg/store/published.hpp"
#include "store/message/message.hpp"

namespace strom::pg::kv_server {

/// What the ranges have at the moment, one after the other, in their order. Zeros where the region has no memory: it is
/// taken as rows need it. May throw.
std::string region_bytes(const store::Region& region, const std::vector<::strom::store::message::Range>& ranges);

}  // namespace strom::pg::kv_server
