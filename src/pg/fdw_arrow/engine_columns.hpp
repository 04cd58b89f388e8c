// The rows of an engine node as columns, in the form in which the engine produces them. Used by INSERT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/codec/column_writer.hpp"

namespace strom::pg::node {
class QueryRun;
}

namespace strom::pg::fdw_arrow {

class EngineColumns {
 public:
  /// The first `count` columns of the rows of `plan`. nullopt unless the rows come from an engine node with nothing
  /// above it but LIMIT and a choice of columns. Evaluates the LIMIT. May throw.
  static std::optional<EngineColumns> of(PlanState* plan, int count);

  /// Moves to the next rows; false at the end. May ereport.
  bool next();
  /// The number of current rows.
  int64_t rows() const { return rows_; }
  /// The columns of the current rows. May throw.
  const std::vector<codec::RegisterColumn>& columns();
  /// A name for the set of rows, if they are plain columns of all rows of a table. Rows with equal names are equal,
  /// apart from their order; see columnar::RowsOrigin. Empty: unknown. Call before next(). May throw.
  std::string origin() const;
  /// Throws when a file has changed, so that the rows so far may be wrong.
  void check() const;

 private:
  /// The source of an attribute: an output of the engine's node, or (-1) a constant.
  struct Item {
    int output = -1;
    Datum constant = 0;
    bool is_null = false;
  };

  bool find_source(PlanState* plan, int count);
  bool take_limit(LimitState* limit);

  std::vector<PlanState*> passed_;  // nodes that are bypassed, and the engine's
  node::QueryRun* run_ = nullptr;
  CustomScanState* source_ = nullptr;
  LimitState* limit_ = nullptr;
  std::vector<Item> items_;
  int64_t left_ = INT64_MAX, rows_ = 0;
  std::vector<codec::RegisterColumn> columns_;
};

}  // namespace strom::pg::fdw_arrow
