// Reads bytes of a published region for clients that cannot map it.
#pragma once

#include <string>
#include <vector>

#include "pg/store/published.hpp"
#include "store/message/message.hpp"

namespace strom::pg::kv_server {

/// The current bytes of the ranges, concatenated in their order. Parts of the region without memory read as zeros;
/// memory is allocated as rows need it. May throw.
std::string region_bytes(const store::Region& region, const std::vector<::strom::store::message::Range>& ranges);

}  // namespace strom::pg::kv_server
