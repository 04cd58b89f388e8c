// What devices cache of a table's columns, as far as planning knows. Used by device_cost.cpp.
#pragma once

#include <cstdint>

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

struct CachedColumns {
  double bytes = 0;     // of the columns that the scan reads, on all devices together; estimated
  uint32_t device = 0;  // the one that a query over the scan would use first
};

/// What the service has said within the last second; nothing is cached as far as it has not. Asks it when that was
/// longer ago: a few milliseconds at most. `columns`: that the scan reads. May ereport.
CachedColumns cached_columns(const EngineScan* scan, int columns);

}  // namespace strom::pg::planner
