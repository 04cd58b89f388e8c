// How the build rows of a join are found: one interface, and an implementation for each block::JoinTableKind. An index
// is the part that differs between kinds of joins: the arrays of the table, their sizes, how tiles probe them, and how
// the host looks up rows. Only choose_join_index.cpp knows all kinds. Used by join_table.cpp and join_writer.cpp.
#pragma once

#include <optional>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "engine/block/join_table.hpp"
#include "engine/op/join/join_rows.hpp"

namespace strom::engine::op {

class JoinWriter;

/// What the probing pipeline needs of a table.
struct JoinNeeds {
  bool any_match = false;               // one row of each key is enough
  bool matches = false;                 // marks of matched build rows; all rows are kept
  bool rows = false;                    // build rows: payload is read, or the join is not a mere filter
  std::vector<uint32_t> group_columns;  // ordinals of grouped payload columns, which share one code
  plan::SpatialMatch spatial = plan::SpatialMatch::kNone;  // of plan::Join
  int32_t srid = 0;
};

class JoinIndex {
 public:
  /// `rows` are the build side's. `rows` and `needs` must outlive the index.
  JoinIndex(const JoinRows& rows, const JoinNeeds& needs) : rows_(rows), needs_(needs) {}
  JoinIndex(const JoinIndex&) = delete;
  JoinIndex& operator=(const JoinIndex&) = delete;
  virtual ~JoinIndex() = default;

  // ---- on the host ----

  /// The most bytes that build() takes.
  virtual int64_t wanted_memory() const = 0;
  /// Indexes all rows, whose group codes are `codes` (empty: no codes). Fills the members of `table` that belong to its
  /// kind, and `kind`, `unique` and `next`. May use `threads` threads, the calling one included.
  virtual Status build(const std::vector<uint32_t>& codes, int threads, block::JoinTable* table) = 0;
  virtual int64_t memory() const = 0;
  /// Appends the build rows that can match a row with these keys (columns of one value, none of them null). On the
  /// calling thread.
  virtual void find(const std::vector<HostColumn>& keys, std::vector<int64_t>* found) const = 0;

  // ---- as tile code, for the join at `position` of the writer's pipeline; all functions return registers ----

  /// The cost of a probe, for the order of the joins: 1 is the cost of a join that multiplies rows.
  virtual double probe_cost() const = 0;
  /// Writes the first candidate of each row to register `rows`, kNoRow without one. Returns a mask that is true where
  /// there is a candidate, with the errors of the keys.
  virtual int write_candidates(JoinWriter* writer, size_t position, int rows) const = 0;
  /// The type of JoinWriter::more_register(), by which write_candidates() hands on what write_following() needs; none
  /// if nothing is needed.
  virtual std::optional<registry::Phys> more_phys() const { return std::nullopt; }
  /// The next candidate after the one in register `rows`, for rows that have one there; -1: JoinTable::next has it.
  virtual int write_following(JoinWriter*, size_t, int) const { return -1; }
  /// True when the table alone can tell which rows have a match, before anything is looked up.
  virtual bool has_test() const { return false; }
  /// With has_test(): a mask of the rows that have a match, with the errors of the keys.
  virtual int write_test(JoinWriter*, size_t) const { return -1; }
  /// With has_test() and unique keys: the build rows of rows that have passed the test.
  virtual int write_row(JoinWriter*, size_t) const { return -1; }
  /// The same for their group codes.
  virtual int write_code(JoinWriter*, size_t) const { return -1; }

 protected:
  const JoinRows& rows_;
  const JoinNeeds& needs_;
};

/// Chooses the index for `rows`: a kind that takes at most `memory_limit` bytes together with `memory`, if there is
/// one.
std::unique_ptr<JoinIndex> choose_join_index(const JoinRows& rows, const JoinNeeds& needs, int64_t memory,
                                             int64_t memory_limit);
/// The index of a table that was built before. Somebody else owns the table's arrays.
std::unique_ptr<JoinIndex> join_index_of(const block::JoinTable& built, const JoinRows& rows, const JoinNeeds& needs);

/// An array that a member of a table points to.
struct TableArray {
  size_t member;   // offset of the pointer in block::JoinTable
  uint64_t bytes;  // unless the pointer is null
};
/// The arrays of a table: those of its kind, and those that all kinds have.
std::vector<TableArray> arrays_of(const block::JoinTable& table);

}  // namespace strom::engine::op
