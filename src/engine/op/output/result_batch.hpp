// The results of an execution: batches of rows or groups, and fallback rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/plan/ir.hpp"

namespace strom::engine::op {

/// A row that the engine could not evaluate (overflow, division by zero, ...), so PostgreSQL does.
struct FallbackRow {
  uint32_t pipeline;
  int64_t chunk;
  int64_t row;                      // in the columns of the chunk
  std::vector<int64_t> inner_rows;  // for the first inner_rows.size() joins of the pipeline: the build row that this
                                    // row was combined with, or -1 when it has to be looked up again (unique keys)
  int32_t build_join = -1;  // >= 0: a build row of the pipeline's join at this place that goes on by itself, see
                            // inner_rows; the source and the joins before have no row
};

/// One column of a result batch: dense register values, flags[i] & 1 = null (flags may be null: no nulls).
struct ResultColumn {
  plan::ValueType type;
  const void* values = nullptr;  // phys layout; StrView for text, pointing into stable source memory or the batch
  const uint8_t* flags = nullptr;
};

/// Accumulators of one aggregate: count of non-null inputs (or rows), and value columns by AccKind:
/// kSumI64 and kCountTrue int64, kSumI128 __int128, kSumF32 float, kSumF64 and kAvgF64 double, kSumSquares, kSumDecimal
/// and kMoments and kPairMoments the structs of registry/aggregates.hpp, all others the argument's phys.
struct ResultAggregate {
  const int64_t* counts = nullptr;
  const void* values = nullptr;
};

struct ResultBatch {
  int64_t rows = 0;
  std::vector<ResultColumn> columns;        // kProject: outputs; kAggregate: group keys
  std::vector<ResultAggregate> aggregates;  // kAggregate
  std::vector<uint64_t> places;  // of the rows by the first key of Pipeline::order; empty: the rows are not sorted
  int grouping_set = -1;         // its groups are of this set alone; -1: of each of Pipeline::grouping_sets,
                                 // to be merged by the set's keys
  std::shared_ptr<void> memory;  // owns what the pointers above point to
  int64_t memory_bytes = 0;      // of `memory`
};

}  // namespace strom::engine::op
