// Readable op-codes of a program, for EXPLAIN VERBOSE, logs and tests.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/ir.hpp"

namespace strom::engine::plan {

/// One expression, e.g. `Int4Mul(column 2, column 3)`. A very long one is cut off.
std::string print_node(const Program& program, NodeId id);
/// The expressions of a list, joined by `, `.
std::string print_nodes(const Program& program, const std::vector<NodeId>& ids);
/// The order of a projection's rows, e.g. `10 by column 2 descending`.
std::string print_order(const std::vector<SortKey>& order);
std::string print_top(const Program& program, const TopRows& top);
/// Grouping sets as the numbers of their keys, e.g. `(0, 1), (0), ()`.
std::string print_sets(const std::vector<uint64_t>& sets);
/// The whole program, one line per pipeline part.
std::string print_program(const Program& program);

}  // namespace strom::engine::plan
