// Identifiers of queries.
#pragma once

#include "pg/boundary/postgres.hpp"

extern "C" {
#if PG_VERSION_NUM >= 160000
#include "nodes/queryjumble.h"
#else
#include "utils/queryjumble.h"
#endif
}

namespace strom::pg::compat {

/// A place stands for the second and later constants of a list as well (18).
inline bool is_squashed([[maybe_unused]] const LocationLen& place) {
#if PG_VERSION_NUM >= 180000
  return place.squashed;
#else
  return false;
#endif
}

/// A place is a parameter of the statement's own, which keeps its number (18 tells of those, too).
inline bool is_named_parameter([[maybe_unused]] const JumbleState* state, [[maybe_unused]] const LocationLen& place) {
#if PG_VERSION_NUM >= 180000
  return place.extern_param && !state->has_squashed_lists;
#else
  return false;
#endif
}

/// The number of the first $n that stands for a constant, less one.
inline int numbers_taken(const JumbleState* state) {
#if PG_VERSION_NUM >= 180000
  if (state->has_squashed_lists) return 0;
#endif
  return state->highest_extern_param_id;
}

}  // namespace strom::pg::compat
