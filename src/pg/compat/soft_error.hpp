// Errors of input functions. Since PostgreSQL 16 a caller may ask for a report instead of an error: pg_input_is_valid()
// and COPY's ON_ERROR do.
#pragma once

#include "pg/boundary/postgres.hpp"

#if PG_VERSION_NUM >= 160000
extern "C" {
#include "nodes/miscnodes.h"
}
#define STROM_INPUT_ERROR(fcinfo, ...) ereturn((fcinfo)->context, Datum{0}, __VA_ARGS__)
#else
#define STROM_INPUT_ERROR(fcinfo, ...) ereport(ERROR, __VA_ARGS__)
#endif

namespace strom::pg::compat {

/// Parses the integer that an input function has got as text; false when an error has been reported.
inline bool read_int32(FunctionCallInfo fcinfo, const char* text, int32_t* value) {
#if PG_VERSION_NUM >= 160000
  *value = pg_strtoint32_safe(text, fcinfo->context);
  return !SOFT_ERROR_OCCURRED(fcinfo->context);
#else
  (void)fcinfo;
  *value = pg_strtoint32(text);
  return true;
#endif
}

}  // namespace strom::pg::compat
