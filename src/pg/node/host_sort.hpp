// Sorts a node's rows by PostgreSQL's sort, for rows that exceed the engine's memory and for fallback rows. Used by
// QueryRun. C++ code: throws PostgresError.
#pragma once

#include <memory>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/node/plan_spec.hpp"

namespace strom::pg::node {

class HostSort {
 public:
  /// end() frees its memory, or the end of the query does.
  HostSort(CustomScanState* state, const std::vector<SortSpec>& order);

  /// May ereport.
  void put(TupleTableSlot* row) { tuplesort_puttupleslot(sort_, row); }
  /// Sorts. All rows have been put.
  void sort();
  /// Makes the next row in order the current one; false when there is none.
  bool next();
  /// Copies the current row, which stays until next(). May ereport.
  void fill(TupleTableSlot* slot) const;
  void end();

 private:
  Tuplesortstate* sort_;
  TupleTableSlot* row_;
};

}  // namespace strom::pg::node
