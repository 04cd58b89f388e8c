// In PostgreSQL's place under parts of src/pg/node that are tested without a server: lists, slots and plan states that
// these parts read, and what they call.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node::test {

/// What was called, in order, e.g. "rescan".
extern std::vector<std::string> calls;

/// A List of pointers, which lives as long as this.
class FakeList {
 public:
  explicit FakeList(std::vector<void*> items);
  List* list() { return list_.get(); }

 private:
  std::vector<ListCell> cells_;
  std::unique_ptr<List> list_ = std::make_unique<List>();
};

/// A virtual slot with `columns` values.
class FakeSlot {
 public:
  explicit FakeSlot(int columns);
  TupleTableSlot* slot() { return &slot_; }
  void set(size_t column, Datum value, bool is_null = false) {
    values_[column] = value;
    nulls_[column] = is_null;
  }

 private:
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
  std::unique_ptr<TupleDescData> descriptor_;
  TupleTableSlot slot_{};
};

/// The state of a plan that gives some rows of whole numbers, again after each rescan.
class FakePlan {
 public:
  using Row = std::vector<std::pair<int64_t, bool>>;  // values, and whether they are null
  FakePlan(Plan* plan, std::vector<Row> rows, int columns);
  FakePlan(const FakePlan&) = delete;
  FakePlan& operator=(const FakePlan&) = delete;
  PlanState* state() { return &state_.plan; }
  int reads() const { return reads_; }

 private:
  struct State {
    PlanState plan;  // first, so that PostgreSQL sees it
    FakePlan* owner;
  };
  static TupleTableSlot* next(PlanState* state);

  State state_{};
  EState estate_{};
  std::vector<Row> rows_;
  FakeSlot slot_;
  size_t at_ = 0;
  int reads_ = 0;
};

}  // namespace strom::pg::node::test
