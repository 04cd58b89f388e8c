// Statements that ask how values are stored, which those that come out of the engine no longer tell. May ereport.
#include <utils/fmgroids.h>

#include "pg/compat/tree_walk.hpp"
#include "pg/planner/paths.hpp"

namespace strom::pg::planner {

namespace {

bool tells_stored_form(Oid function, void*) {
#ifdef F_PG_COLUMN_TOAST_CHUNK_ID
  if (function == F_PG_COLUMN_TOAST_CHUNK_ID) return true;
#endif
  return function == F_PG_COLUMN_SIZE || function == F_PG_COLUMN_COMPRESSION;
}

bool has_such_call(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) return compat::walk_query(reinterpret_cast<Query*>(node), has_such_call, context);
  return check_functions_in_node(node, tells_stored_form, context) || compat::walk(node, has_such_call, context);
}

}  // namespace

bool asks_stored_form(Query* statement) { return has_such_call(reinterpret_cast<Node*>(statement), nullptr); }

}  // namespace strom::pg::planner
