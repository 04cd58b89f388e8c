// Columns as --schema names them.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/schema.hpp"

namespace strom::tool {

/// `NAME:TYPE[:EXTRA;…],…`, e.g. `id:int64:not_null,day:date,price:decimal(10,2)`. kInvalidParameter says what is
/// wrong.
Result<std::vector<columnar::Field>> parse_schema(const std::string& text);

}  // namespace strom::tool
