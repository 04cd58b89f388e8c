// Finds statements that ask how values are stored. Values from the engine have lost their stored form. May ereport.
#include "pg/planner/stored_form.hpp"

#include <utils/fmgroids.h>

#include "pg/compat/toast_chunk.hpp"
#include "pg/compat/tree_walk.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "nodes/readfuncs.h"
#include "utils/builtins.h"
}

namespace strom::pg::planner {

namespace {

bool has_such_call(Node* node, void* context);

/// True if the function's body asks for it. In a body that is text, only names are searched. `seen`: List of functions
/// that were examined already.
bool body_asks(Oid function, List** seen) {
  if (list_member_oid(*seen, function)) return false;
  *seen = lappend_oid(*seen, function);
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return false;
  const Oid language = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prolang;
  bool asks = false;
  if (language != INTERNALlanguageId && language != ClanguageId) {
    bool is_null = true;
    const Datum tree = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosqlbody, &is_null);
    if (!is_null) {
      asks = has_such_call(static_cast<Node*>(stringToNode(TextDatumGetCString(tree))), seen);
    } else {
      const Datum source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &is_null);
      asks = !is_null && strstr(TextDatumGetCString(source), "pg_column_") != nullptr;
    }
  }
  ReleaseSysCache(tuple);
  return asks;
}

bool tells_stored_form(Oid function, void* seen) {
  if (function >= FirstNormalObjectId) return body_asks(function, static_cast<List**>(seen));
  return function == F_PG_COLUMN_SIZE || function == F_PG_COLUMN_COMPRESSION || compat::is_toast_chunk_id(function);
}

bool has_such_call(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) return compat::walk_query(reinterpret_cast<Query*>(node), has_such_call, context);
  return check_functions_in_node(node, tells_stored_form, context) || compat::walk(node, has_such_call, context);
}

}  // namespace

bool asks_stored_form(Query* statement) {
  List* seen = NIL;
  return has_such_call(reinterpret_cast<Node*>(statement), &seen);
}

}  // namespace strom::pg::planner
