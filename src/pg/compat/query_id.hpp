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

/// True if `place` stands for the second or a later constant of a list (18).
inline bool is_squashed([[maybe_unused]] const LocationLen& place) {
#if PG_VERSION_NUM >= 180000
  return place.squashed;
#else
  return false;
#endif
}

/// True if `place` is a parameter of the statement itself, which keeps its number (18 records those as well).
inline bool is_named_parameter([[maybe_unused]] const JumbleState* state, [[maybe_unused]] const LocationLen& place) {
#if PG_VERSION_NUM >= 180000
  return place.extern_param && !state->has_squashed_lists;
#else
  return false;
#endif
}

/// The number of the first $n that stands for a constant, minus one.
inline int numbers_taken(const JumbleState* state) {
#if PG_VERSION_NUM >= 180000
  if (state->has_squashed_lists) return 0;
#endif
  return state->highest_extern_param_id;
}

}  // namespace strom::pg::compat
