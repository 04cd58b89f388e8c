// TABLESAMPLE: rows that PostgreSQL's sampling methods choose. Used by HeapRows; main thread.
#pragma once

#include <vector>

#include "pg/table/heap/block_walk.hpp"

namespace strom::pg::table {

/// The parameters are those of when it was made, so that each reading gives the same rows.
class TableSample {
 public:
  /// `scan`: an initialised sample scan, which is never run. Throws PostgresError.
  explicit TableSample(SampleScanState* scan);

  /// Begins anew: the blocks of a table of `count` blocks that have rows of the sample. Throws PostgresError.
  std::vector<BlockRange> blocks(BlockNumber count);

  /// The next item of block `block`, whose last one is `last`, that is in the sample, or InvalidOffsetNumber behind
  /// them. May ereport.
  OffsetNumber next_item(BlockNumber block, OffsetNumber last) const;

 private:
  SampleScanState* scan_;
  std::vector<Datum> params_;
  uint32 seed_;
};

}  // namespace strom::pg::table
