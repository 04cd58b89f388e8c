// Rows of a plan that are those of an engine node, as the columns in which the engine hands them over. Used by INSERT.
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
  /// For `count` first columns of the rows of `plan`; none when they are not an engine node's with nothing to be done
  /// to them but LIMIT and the choice of columns. A LIMIT is evaluated. May throw.
  static std::optional<EngineColumns> of(PlanState* plan, int count);

  /// Moves to the next rows; false at the end. May ereport.
  bool next();
  /// How many rows there are.
  int64_t rows() const { return rows_; }
  /// The columns of these rows. May throw.
  const std::vector<codec::RegisterColumn>& columns();
  /// Names what the rows hold, but not their order, when they are plain columns of all rows of a table: rows with the
  /// same name are the same, as columnar::RowsOrigin says. Empty: it is not known. Before next(). May throw.
  std::string origin() const;
  /// Throws when the rows so far may not be those of the files that were opened.
  void check() const;

 private:
  /// What an attribute is: an output of the engine's node, or (-1) a constant.
  struct Item {
    int output = -1;
    Datum constant = 0;
    bool is_null = false;
  };

  bool find_source(PlanState* plan, int count);
  bool take_limit(LimitState* limit);

  std::vector<PlanState*> passed_;  // nodes that are not asked for rows, and the engine's
  node::QueryRun* run_ = nullptr;
  CustomScanState* source_ = nullptr;
  LimitState* limit_ = nullptr;
  std::vector<Item> items_;
  int64_t left_ = INT64_MAX, rows_ = 0;
  std::vector<codec::RegisterColumn> columns_;
};

}  // namespace strom::pg::fdw_arrow
