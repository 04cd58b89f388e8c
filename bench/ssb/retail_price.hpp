// Retail price of a part, a pure function of its key (TPC-H clause 4.2.3), in cents. Used for lineorder's prices.
#pragma once

#include <cstdint>

namespace strom::ssb {

constexpr int32_t retail_price(int32_t partkey) { return 90000 + partkey / 10 % 20001 + partkey % 1000 * 100; }

}  // namespace strom::ssb
