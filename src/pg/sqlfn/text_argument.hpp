// Converts arguments of SQL functions to C++ values.
#pragma once

#include <string>

#include "pg/boundary/boundary.hpp"

namespace strom::pg::sqlfn {

/// An argument of type text; it must not be NULL. May throw.
inline std::string text_argument(FunctionCallInfo fcinfo, int index) {
  return boundary::guard([=] { return text_to_cstring(PG_GETARG_TEXT_PP(index)); });
}

}  // namespace strom::pg::sqlfn
