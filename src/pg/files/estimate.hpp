// What planning knows of a foreign table over Arrow files. Kept in RelOptInfo::fdw_private between sizing and path
// making; read by the planner of the engine's nodes as well.
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

/// `rel` is a foreign table of ours; nullptr when it has not been sized, because it is known to have no row of use.
inline const ScanEstimate* estimate_of(const RelOptInfo* rel) {
  return static_cast<const ScanEstimate*>(rel->fdw_private);
}

}  // namespace strom::pg::files
