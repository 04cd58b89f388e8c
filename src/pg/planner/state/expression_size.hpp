// The size of expressions, checked before they are lowered. Expressions that take longer to lower than the engine could
// save are left to PostgreSQL, and so are expressions nested more deeply than the stack allows. May ereport. Used by
// lower.cpp and by the path files.
#pragma once

#include <climits>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// The result of survey().
struct Survey {
  int weight;           // number of nodes; an array counts by its elements, a long literal by its length
  bool is_too_large;    // the limit is exceeded; the rest is not valid
  bool is_too_deep;     // likewise
  List* row_constants;  // of Node*: parts, other than literals, that do not depend on a row and are not volatile
};

/// A limit for expressions that are known to be small enough.
inline constexpr int kAnyWeight = INT_MAX;

/// Examines `expr` and everything below it, until the weight exceeds `most`.
Survey survey(const Node* expr, int most);

/// The weight of all `exprs` together; more than `most` if it exceeds the limit or an expression is nested too deeply.
int weight_of(const List* exprs, int most);

/// The largest weight to lower for a statement over `rows` rows. Lowering takes longer than PostgreSQL's planning of
/// the same expressions; each row that the engine evaluates saves a little time.
int most_weight(double rows);

/// The limit of operations of a plan that fit into a program, see engine::plan::kMostNodes.
inline constexpr int kMostOperations = 2048;
/// The limit of columns of a plan: outputs, keys and payloads.
inline constexpr int kMostColumns = 2048;

}  // namespace strom::pg::planner
