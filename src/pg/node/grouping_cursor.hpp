// Tracks the grouping set for which the current group is returned. PostgreSQL's final aggregation gets each group of
// the engine once for each set. Independent of PostgreSQL. Used by QueryRun.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace strom::pg::node {

class GroupingCursor {
 public:
  /// `is_empty`: for each set whether it has no keys; such a set has a group even if there is no row. Without sets,
  /// each group is returned once.
  explicit GroupingCursor(std::vector<bool> is_empty) : is_empty_(std::move(is_empty)) {}

  /// The set to which the current group belongs.
  size_t set() const { return set_; }

  /// Moves to the next empty set, for its group of no rows; false when there is no further one.
  bool next_empty() {
    while (asked_ < is_empty_.size()) {
      if (!is_empty_[asked_++]) continue;
      set_ = asked_ - 1;
      return true;
    }
    return false;
  }
  /// Moves to the next set of the current row; false when the row has had all its sets.
  bool next_of_row() {
    if (!has_all_sets_ || set_ + 1 >= is_empty_.size()) return false;
    ++set_;
    return true;
  }
  /// Starts with a new row. `own_set`: the only set to which it belongs; -1: it belongs to all.
  void begin_row(int own_set) {
    has_all_sets_ = own_set < 0;
    set_ = own_set < 0 ? 0 : static_cast<size_t>(own_set);
  }
  /// Ends the current row; there is no next one.
  void end_rows() { has_all_sets_ = false; }
  /// Starts again with the first group.
  void restart() {
    set_ = asked_ = 0;
    has_all_sets_ = false;
  }

 private:
  const std::vector<bool> is_empty_;
  size_t set_ = 0;
  size_t asked_ = 0;           // sets for which next_empty() has returned true
  bool has_all_sets_ = false;  // the current row belongs to all sets
};

}  // namespace strom::pg::node
