// A cursor's rows as columns, past the executor: of a plan that reads a table's pages and nothing else, or that is an
// engine node. Planning, privileges, row security, locks and the snapshot are the executor's, which has been started;
// what it would do from there on is done here, for many rows at a time. See docs/dev/tools.md. Used by
// arrow_export.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/codec/column_writer.hpp"
#include "pg/sqlfn/row_sink.hpp"

namespace strom::pg::sqlfn {

/// Some rows at a time. Functions may throw. Main thread only.
class ColumnRows {
 public:
  virtual ~ColumnRows() = default;
  /// Moves to the next rows; false at the end.
  virtual bool next() = 0;
  /// Their number.
  virtual int64_t rows() const = 0;
  virtual const std::vector<codec::RegisterColumn>& columns() = 0;
  /// How many rows from `row` on are in columns(): at least one, or none when row() has the first.
  virtual int64_t run_from(int64_t row) const { return rows() - row; }
  struct Values {
    const Datum* values;
    const bool* nulls;
  };
  virtual Values row(int64_t row) {
    (void)row;
    return {};
  }
  /// As EngineColumns::origin().
  virtual std::string origin() const { return {}; }
  /// Throws when the rows so far may not be those that were opened.
  virtual void check() const {}
};

class CursorColumns {
 public:
  /// nullptr: the executor has to do it, as always when pg_strom.enabled is off. `portal` has not given rows yet, and
  /// what is returned is its query's. May throw.
  static CursorColumns* of(Portal portal);
  explicit CursorColumns(std::unique_ptr<ColumnRows> rows) : rows_(std::move(rows)) {}

  /// Names what the rows hold, but not their order: rows with the same name, of any query of any session of this
  /// server, are the same. Empty: it is not known. Before fetch(). May throw; then the portal has failed.
  std::string origin(Portal portal) const;
  /// Adds rows to `output` until it is full or, where `flushes`, all that there are. False at the end. May throw; then
  /// the portal has failed.
  bool fetch(Portal portal, RowSink* output, bool flushes);

 private:
  void add_some(RowSink* output);

  std::unique_ptr<ColumnRows> rows_;
  int64_t at_ = 0;  // of the rows at hand
};

}  // namespace strom::pg::sqlfn
