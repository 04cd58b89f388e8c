// Which extension a function comes from.
#pragma once

#include <string>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::codec {

/// The name of the extension that a function belongs to; empty for others. Throws PostgresError.
const std::string& extension_of_function(Oid function);

}  // namespace strom::pg::codec
