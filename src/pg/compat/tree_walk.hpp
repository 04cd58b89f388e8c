// PostgreSQL's expression walkers, whose function types differ between versions. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

using Walker = bool (*)(Node* node, void* context);
using Mutator = Node* (*)(Node* node, void* context);

/// expression_tree_walker(): calls `visit` for each child of `node` until it returns true.
inline bool walk(Node* node, Walker visit, void* context) {
#if PG_VERSION_NUM >= 160000
  return expression_tree_walker_impl(node, visit, context);
#else
  return expression_tree_walker(node, reinterpret_cast<bool (*)()>(reinterpret_cast<void*>(visit)), context);
#endif
}

/// query_tree_walker(): the same for the parts of a query, including sub-queries in FROM and common table expressions.
inline bool walk_query(Query* query, Walker visit, void* context) {
#if PG_VERSION_NUM >= 160000
  return query_tree_walker_impl(query, visit, context, 0);
#else
  return query_tree_walker(query, reinterpret_cast<bool (*)()>(reinterpret_cast<void*>(visit)), context, 0);
#endif
}

/// expression_tree_mutator(): a copy of `node` in which each child is replaced by the result of `change`.
inline Node* mutate(Node* node, Mutator change, void* context) {
#if PG_VERSION_NUM >= 160000
  return expression_tree_mutator_impl(node, change, context);
#else
  return expression_tree_mutator(node, reinterpret_cast<Node* (*)()>(reinterpret_cast<void*>(change)), context);
#endif
}

}  // namespace strom::pg::compat
