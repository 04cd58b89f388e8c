// TABLESAMPLE: the rows that PostgreSQL's sampling methods select. Used by HeapRows; main thread.
#pragma once

#include <vector>

#include "pg/table/heap/block_walk.hpp"

namespace strom::pg::table {

/// Parameters are evaluated when the object is made, so that each reading gives the same rows.
class TableSample {
 public:
  /// `scan`: an initialised sample scan, which is never executed. Throws PostgresError.
  explicit TableSample(SampleScanState* scan);

  /// Starts again: returns the blocks with rows of the sample, in a table of `count` blocks. Throws PostgresError.
  std::vector<BlockRange> blocks(BlockNumber count);

  /// The next item of block `block`, behind `last`, that is in the sample; InvalidOffsetNumber when there is none.
  /// May ereport.
  OffsetNumber next_item(BlockNumber block, OffsetNumber last) const;

 private:
  SampleScanState* scan_;
  std::vector<Datum> params_;
  uint32 seed_;
};

}  // namespace strom::pg::table
