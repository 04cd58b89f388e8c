// For which grouping set the current group is handed over: PostgreSQL's final aggregation gets a group of the engine
// once for each set. Knows nothing of PostgreSQL. Used by QueryRun.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace strom::pg::node {

class GroupingCursor {
 public:
  /// `is_empty`: for each set whether it has no keys, and so a group even if there is no row. Without any set each
  /// group is handed over once.
  explicit GroupingCursor(std::vector<bool> is_empty) : is_empty_(std::move(is_empty)) {}

  /// The set that the current group is of.
  size_t set() const { return set_; }

  /// Moves to the group of no rows of the next empty set; false when each has had it.
  bool next_empty() {
    while (asked_ < is_empty_.size()) {
      if (!is_empty_[asked_++]) continue;
      set_ = asked_ - 1;
      return true;
    }
    return false;
  }
  /// Moves on to the next set of the current row; false when it is a new row's turn.
  bool next_of_row() {
    if (!has_all_sets_ || set_ + 1 >= is_empty_.size()) return false;
    ++set_;
    return true;
  }
  /// A new row has become the current one. `own_set`: the only set that it is of; -1: it is of all.
  void begin_row(int own_set) {
    has_all_sets_ = own_set < 0;
    set_ = own_set < 0 ? 0 : static_cast<size_t>(own_set);
  }
  /// There is no current row.
  void end_rows() { has_all_sets_ = false; }
  /// The first group is the next one again.
  void restart() {
    set_ = asked_ = 0;
    has_all_sets_ = false;
  }

 private:
  const std::vector<bool> is_empty_;
  size_t set_ = 0;
  size_t asked_ = 0;           // sets that were asked for a group of no rows
  bool has_all_sets_ = false;  // there is a current row, and it is of all sets
};

}  // namespace strom::pg::node
