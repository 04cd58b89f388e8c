// Rows of PostgreSQL's plans without the codec: what was added to them. Stands for source/collected_rows.cpp in tests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace strom::pg::node::test {

/// What happened to CollectedRows since the test began.
struct CollectedLog {
  std::vector<std::vector<std::optional<int64_t>>> rows;  // nothing: NULL
  std::vector<bool> sets;                                 // for each that was made, whether it is a set
  int finished = 0, spilled = 0;
  int64_t memory = 0;  // that each says it takes
};
extern CollectedLog collected;

}  // namespace strom::pg::node::test
