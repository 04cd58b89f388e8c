// Paths of a kind that the user has switched off. Versions before 18 mark them by a high cost only. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// The number of switched-off nodes in `path`; 0 in versions that do not count them.
inline int disabled_parts([[maybe_unused]] const Path* path) {
#if PG_VERSION_NUM >= 180000
  return path->disabled_nodes;
#else
  return 0;
#endif
}

inline void set_disabled_parts([[maybe_unused]] Path* path, [[maybe_unused]] int count) {
#if PG_VERSION_NUM >= 180000
  path->disabled_nodes = count;
#endif
}

}  // namespace strom::pg::compat
