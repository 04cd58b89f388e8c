// PostgreSQL's sort of a node's rows, for those that the engine cannot keep in memory, or that PostgreSQL decides. Used
// by QueryRun. C++ code: throws PostgresError.
#pragma once

#include <memory>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/node/plan_spec.hpp"

namespace strom::pg::node {

class HostSort {
 public:
  /// What it takes up is freed by end(), or with the query.
  HostSort(CustomScanState* state, const std::vector<SortSpec>& order);

  /// May ereport.
  void put(TupleTableSlot* row) { tuplesort_puttupleslot(sort_, row); }
  /// There are no more rows.
  void sort();
  /// The next row in order becomes the current one; false when there is none.
  bool next();
  /// Copies the current row, which stays until next(). May ereport.
  void fill(TupleTableSlot* slot) const;
  void end();

 private:
  Tuplesortstate* sort_;
  TupleTableSlot* row_;
};

}  // namespace strom::pg::node
