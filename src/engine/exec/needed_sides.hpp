// Which inner sides of the last pipeline have to be read, as far as is known of the others: one without rows ends the
// pipeline, and one that no probing row gets to is of no use. Used by execution.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/plan/ir.hpp"

namespace strom::engine::exec {

class NeededSides {
 public:
  explicit NeededSides(const plan::Program& program);

  /// The inner side of `join` has no rows.
  void set_empty(uint32_t join);
  /// Whether a probing row gets as far as `join`.
  void set_reached(uint32_t join, bool is_reached);

  /// A row of the inner side of `join` could get into a result. True for joins of other pipelines.
  bool is_needed(uint32_t join) const;
  /// It is worth asking whether a probing row gets as far as `join`: its inner side is of no use otherwise.
  bool depends_on_reach(uint32_t join) const;
  /// A row of the outer side could get into a result.
  bool is_outer_needed() const;

  /// Place of `join` in the last pipeline; the number of its joins for one of another pipeline.
  size_t place_of(uint32_t join) const;

 private:
  struct Side {
    uint32_t join;
    plan::JoinKind kind;
    bool matches_nothing, is_empty;
  };
  static bool stops(const Side& side);
  static bool emits(const Side& side);

  std::vector<Side> sides_;  // of the joins of the last pipeline
  size_t reached_ = 0;       // rows get as far as the joins before this place
  size_t unreached_;         // none gets as far as the join at this place
};

/// The program with a last pipeline that puts out a constant for each row that gets as far as its join at `place`.
/// Conditions on joined rows count only as far as they read columns that are there.
plan::Program rows_before_join(const plan::Program& program, size_t place);

/// Reading the rows of build pipeline `index` can be an error in PostgreSQL.
bool can_fail(const plan::Program& program, uint32_t index);

}  // namespace strom::engine::exec
