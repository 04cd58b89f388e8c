// Which inner sides of the last pipeline have to be read, given what is known of the other ones. An inner side without
// rows ends the pipeline, and one that no probing row reaches is not needed. Used by execution.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/plan/ir.hpp"

namespace strom::engine::exec {

class NeededSides {
 public:
  explicit NeededSides(const plan::Program& program);

  /// Tells that the inner side of `join` has no rows.
  void set_empty(uint32_t join);
  /// Tells whether a probing row gets as far as `join`.
  void set_reached(uint32_t join, bool is_reached);

  /// True when a row of the inner side of `join` could get into a result. Always true for joins of other pipelines.
  bool is_needed(uint32_t join) const;
  /// True when the inner side of `join` is needed only if a probing row gets as far as `join`, which is worth finding
  /// out.
  bool depends_on_reach(uint32_t join) const;
  /// True when a row of the outer side could get into a result.
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
  size_t unreached_;         // no row gets as far as the join at this place
};

/// A program whose last pipeline outputs a constant for each row that gets as far as the join at `place`. It keeps only
/// those conditions on joined rows that read columns it has.
plan::Program rows_before_join(const plan::Program& program, size_t place);

/// True when reading the rows of build pipeline `index` can be an error in PostgreSQL.
bool can_fail(const plan::Program& program, uint32_t index);

}  // namespace strom::engine::exec
