// The planner's estimates for a foreign table over Arrow files. RelOptInfo::fdw_private holds them between sizing and
// path making. The planner of the engine's nodes reads them as well.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::files {

struct ScanEstimate {
  double rows;
  double rows_left;  // in record batches that statistics do not rule out
  double file_pages;
  double read_pages;  // of the referenced columns
  int workers;        // table option parallel_workers, or -1
};

/// The estimate of `rel`, one of our foreign tables; nullptr when it was not sized, because no row can qualify.
inline const ScanEstimate* estimate_of(const RelOptInfo* rel) {
  return static_cast<const ScanEstimate*>(rel->fdw_private);
}

}  // namespace strom::pg::files
