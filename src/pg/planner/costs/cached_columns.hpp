// Estimates which of a table's columns devices have cached. Used by device_cost.cpp.
#pragma once

#include <cstdint>

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

struct CachedColumns {
  double bytes = 0;     // of the columns that the scan reads, over all devices; estimated
  uint32_t device = 0;  // the device that a query over the scan would use first
};

/// Uses the service's answer if it is at most a second old, else asks it for at most a few milliseconds. Without an
/// answer, nothing counts as cached. `columns`: the number of columns that the scan reads. May ereport.
CachedColumns cached_columns(const EngineScan* scan, int columns);

}  // namespace strom::pg::planner
