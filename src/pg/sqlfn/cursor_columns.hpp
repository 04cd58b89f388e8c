// Reads a cursor's rows as columns, without the executor. The plan must be an engine node, or must just read a table's
// pages. The executor has been started: it has done planning, privileges, row security, locks and the snapshot. Only
// the remaining work is done here, for many rows at a time. See docs/dev/tools.md. Used by arrow_export.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/codec/column_writer.hpp"
#include "pg/sqlfn/row_sink.hpp"

namespace strom::pg::sqlfn {

/// Rows in blocks of several rows. Functions may throw. Main thread only.
class ColumnRows {
 public:
  virtual ~ColumnRows() = default;
  /// Moves to the next rows; false at the end.
  virtual bool next() = 0;
  /// The number of current rows.
  virtual int64_t rows() const = 0;
  virtual const std::vector<codec::RegisterColumn>& columns() = 0;
  /// The number of rows from `row` on that columns() has. Either at least one, or 0: then row() returns row `row`.
  virtual int64_t run_from(int64_t row) const { return rows() - row; }
  struct Values {
    const Datum* values;
    const bool* nulls;
  };
  virtual Values row(int64_t row) {
    (void)row;
    return {};
  }
  /// See EngineColumns::origin().
  virtual std::string origin() const { return {}; }
  /// Throws when a file has changed, so that the rows so far may be wrong.
  virtual void check() const {}
};

class CursorColumns {
 public:
  /// nullptr: the executor has to run the plan, as it always has when pg_strom.enabled is off. `portal` has not
  /// returned rows yet. The result belongs to the portal's query. May throw.
  static CursorColumns* of(Portal portal);
  explicit CursorColumns(std::unique_ptr<ColumnRows> rows) : rows_(std::move(rows)) {}

  /// A name for the set of rows, without their order: rows with equal names, of any query in any session of this
  /// server, are equal. Empty: unknown. Call before fetch(). May throw; the portal has failed then.
  std::string origin(Portal portal) const;
  /// Adds rows to `output` until it is full; if `flushes`, adds all rows. False at the end. May throw; the portal has
  /// failed then.
  bool fetch(Portal portal, RowSink* output, bool flushes);

 private:
  void add_some(RowSink* output);

  std::unique_ptr<ColumnRows> rows_;
  int64_t at_ = 0;  // position in the current rows
};

}  // namespace strom::pg::sqlfn
