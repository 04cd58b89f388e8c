// How the build rows of a join are found: one interface, and an implementation for each block::JoinTableKind. An
// index is what one kind of join has of its own: the arrays of its table, what they take, how tiles probe them, how the
// host looks rows up. choose_join_index.cpp alone knows all kinds. Used by join_table.cpp and join_writer.cpp.
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

/// What the probing pipeline asks of a table.
struct JoinNeeds {
  bool any_match = false;               // one row of each key is enough
  bool matches = false;                 // which build rows have had a match; all rows are kept
  bool rows = false;                    // build rows: payload is read or the join is not a mere filter
  std::vector<uint32_t> group_columns;  // payload ordinals that are grouped by, coded together
  plan::SpatialMatch spatial = plan::SpatialMatch::kNone;  // of plan::Join
  int32_t srid = 0;
};

class JoinIndex {
 public:
  /// `rows` are those of the build side; they and `needs` stay where they are as long as the index lives.
  JoinIndex(const JoinRows& rows, const JoinNeeds& needs) : rows_(rows), needs_(needs) {}
  JoinIndex(const JoinIndex&) = delete;
  JoinIndex& operator=(const JoinIndex&) = delete;
  virtual ~JoinIndex() = default;

  // ---- on the host ----

  /// Bytes that build() takes at most.
  virtual int64_t wanted_memory() const = 0;
  /// Indexes all rows, whose group codes are `codes` (empty: there are none), and fills in the members of `table` that
  /// belong to its kind, and `kind`, `unique` and `next`. May take `threads` threads, the calling one included.
  virtual Status build(const std::vector<uint32_t>& codes, int threads, block::JoinTable* table) = 0;
  virtual int64_t memory() const = 0;
  /// Appends the build rows that can match a row with these keys (columns of one value, none of them null). On the
  /// calling thread.
  virtual void find(const std::vector<HostColumn>& keys, std::vector<int64_t>* found) const = 0;

  // ---- as tile code, of the join at `position` of the writer's pipeline; all return registers ----

  /// What a probe costs beside others, for the order of the joins: 1 is that of a join that multiplies rows.
  virtual double probe_cost() const = 0;
  /// First candidate of each row to register `rows`, kNoRow for none. A mask that is true where there is one, with the
  /// errors of the keys.
  virtual int write_candidates(JoinWriter* writer, size_t position, int rows) const = 0;
  /// The type of JoinWriter::more_register(), in which write_candidates() says what write_following() needs; none for
  /// indexes that need nothing.
  virtual std::optional<registry::Phys> more_phys() const { return std::nullopt; }
  /// The candidate behind that in register `rows`, of rows that have one there; -1: JoinTable::next says it.
  virtual int write_following(JoinWriter*, size_t, int) const { return -1; }
  /// Whether the table alone can say which rows have a match, before anything is looked up.
  virtual bool has_test() const { return false; }
  /// With has_test(): a mask of these rows, with the errors of the keys.
  virtual int write_test(JoinWriter*, size_t) const { return -1; }
  /// With has_test() and keys that are unique: the build rows of rows that have passed it.
  virtual int write_row(JoinWriter*, size_t) const { return -1; }
  /// The same for their group codes.
  virtual int write_code(JoinWriter*, size_t) const { return -1; }

 protected:
  const JoinRows& rows_;
  const JoinNeeds& needs_;
};

/// The index for `rows`: of a kind that takes at most `memory_limit` bytes together with `memory`, if there is one.
std::unique_ptr<JoinIndex> choose_join_index(const JoinRows& rows, const JoinNeeds& needs, int64_t memory,
                                             int64_t memory_limit);
/// The index of a table that was built before, and whose arrays somebody else owns.
std::unique_ptr<JoinIndex> join_index_of(const block::JoinTable& built, const JoinRows& rows, const JoinNeeds& needs);

/// An array that a member of a table points to.
struct TableArray {
  size_t member;   // offset of the pointer in block::JoinTable
  uint64_t bytes;  // if it is there
};
/// Those of a table: the arrays of its kind, and those that all kinds have.
std::vector<TableArray> arrays_of(const block::JoinTable& table);

}  // namespace strom::engine::op
