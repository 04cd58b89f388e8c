// How large expressions are, asked before anything is made of them: what takes longer to lower than it could save stays
// with PostgreSQL, and so does what is nested more deeply than the stack allows. May ereport. Used by lower.cpp and by
// the path files.
#pragma once

#include <climits>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// What survey() finds.
struct Survey {
  int weight;           // nodes; an array counts by its elements, a long literal by its length
  bool is_too_large;    // the limit is exceeded: all else is unknown
  bool is_too_deep;     // likewise
  List* row_constants;  // of Node*: parts other than literals that do not depend on a row, nor are volatile
};

/// For what is known to be small enough: it may be nested as deeply as PostgreSQL allows, too.
inline constexpr int kAnyWeight = INT_MAX;

/// Looks at `expr` and all that is below it, until its weight exceeds `most`.
Survey survey(const Node* expr, int most);

/// The weight of all of `exprs`; more than `most` when it exceeds that, or when one is nested too deeply.
int weight_of(const List* exprs, int most);

/// The most that is lowered of a statement over so many rows. Lowering takes longer than PostgreSQL's planning of the
/// same, and each row that the engine evaluates saves a little of it.
int most_weight(double rows);

/// Of an engine plan's expressions together, what makes op-codes; so many fit into a program, see
/// engine::plan::kMostNodes.
inline constexpr int kMostOperations = 2048;
/// Likewise its columns: outputs, keys, payloads.
inline constexpr int kMostColumns = 2048;

}  // namespace strom::pg::planner
