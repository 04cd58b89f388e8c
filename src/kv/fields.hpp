// Splits rows into fields, for readers of regions and for sessions of messages. Part of libstromkv.
#pragma once

#include <span>

#include "kv/stromkv.h"
#include "store/rows/cell.hpp"
#include "store/rows/shape.hpp"

namespace strom::kv {

/// `cells` and `fields` have one element for each column.
stromkv_status split_row(const store::rows::Shape& shape, const stromkv_row& row, std::span<store::rows::Cell> cells,
                         stromkv_field* fields);

}  // namespace strom::kv
