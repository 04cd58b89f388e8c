#include "pg/planner/state/expression_size.hpp"

#include <algorithm>

#include "pg/compat/stack_depth.hpp"
#include "pg/compat/tree_walk.hpp"

namespace strom::pg::planner {

namespace {

constexpr int kMostDepth = 256;  // nesting depth
/// The most stack that lowering uses for each level, and a reserve for PostgreSQL functions that it calls.
constexpr int64_t kLevelBytes = 4 << 10, kSpareBytes = 64 << 10;

int deepest() {
  return static_cast<int>(std::clamp<int64_t>((compat::stack_left() - kSpareBytes) / kLevelBytes, 0, kMostDepth));
}

// An array is compared element by element; other literals are just copied.
int weight_of_literal(const Const* literal) {
  constexpr Size kShort = 128, kBytes = 64;
  constexpr int kOfElement = 2;
  if (literal->constisnull || literal->constlen != -1) return 1;
  const auto* value = reinterpret_cast<const varlena*>(DatumGetPointer(literal->constvalue));
  const Size size = VARSIZE_ANY(value);
  if (size <= kShort) return 1;
  if (!OidIsValid(get_element_type(literal->consttype))) return 1 + static_cast<int>(size / kBytes);
  const ArrayType* array = DatumGetArrayTypeP(literal->constvalue);
  return 1 + kOfElement * ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

bool is_volatile_function(Oid function, void*) { return func_volatile(function) == PROVOLATILE_VOLATILE; }

// True if the node itself depends on the row, regardless of its children.
bool depends_on_row(Node* node) {
  switch (nodeTag(node)) {
    case T_Var:
    case T_PlaceHolderVar:
    case T_CurrentOfExpr:
    case T_Aggref:
    case T_GroupingFunc:
    case T_WindowFunc:
    case T_SubLink:
    case T_SubPlan:
    case T_AlternativeSubPlan:
    case T_NextValueExpr:
    case T_CaseTestExpr: return true;
    default: return false;
  }
}

// True for a cast of each element of an array that does not depend on the row. Its CaseTestExpr stands for an element.
bool casts_elements(const Node* node) {
  return IsA(node, ArrayCoerceExpr) &&
         !contain_volatile_functions(reinterpret_cast<Node*>(reinterpret_cast<const ArrayCoerceExpr*>(node)->elemexpr));
}

struct Walk {
  Survey found;
  int most, deepest, depth;
  bool depends;  // something seen on this level depends on the row
};

bool visit(Node* node, void* context) {
  auto* walk = static_cast<Walk*>(context);
  if (node == nullptr) return false;
  walk->found.weight += IsA(node, Const) ? weight_of_literal(reinterpret_cast<const Const*>(node)) : 1;
  walk->found.is_too_large = walk->found.weight > walk->most;
  walk->found.is_too_deep = walk->depth > walk->deepest;
  if (walk->found.is_too_large || walk->found.is_too_deep) return true;
  if (IsA(node, Const) || IsA(node, Param)) {
    if (IsA(node, Param)) walk->found.row_constants = lappend(walk->found.row_constants, node);
    return false;
  }
  const bool before = walk->depends;
  walk->depends = depends_on_row(node);
  ++walk->depth;
  const bool stopped = casts_elements(node)
                           ? visit(reinterpret_cast<Node*>(reinterpret_cast<ArrayCoerceExpr*>(node)->arg), context)
                           : compat::walk(node, visit, context);
  --walk->depth;
  if (stopped) return true;
  if (!walk->depends && check_functions_in_node(node, is_volatile_function, nullptr)) walk->depends = true;
  if (!walk->depends) walk->found.row_constants = lappend(walk->found.row_constants, node);
  walk->depends = walk->depends || before;
  return false;
}

}  // namespace

Survey survey(const Node* expr, int most) {
  Walk walk = {{0, false, false, NIL}, most, most == kAnyWeight ? INT_MAX : deepest(), 0, false};
  CHECK_FOR_INTERRUPTS();
  visit(const_cast<Node*>(expr), &walk);
  return walk.found;
}

int weight_of(const List* exprs, int most) {
  int weight = 0;
  ListCell* cell;
  foreach (cell, exprs) {
    const auto* expr = static_cast<const Node*>(lfirst(cell));
    if (IsA(expr, RestrictInfo)) expr = reinterpret_cast<Node*>(reinterpret_cast<const RestrictInfo*>(expr)->clause);
    const Survey found = survey(expr, most - weight);
    if (found.is_too_large || found.is_too_deep) return most + 1;
    weight += found.weight;
  }
  return weight;
}

int most_weight(double rows) {
  constexpr double kAtOnce = 500, kRowsForEach = 100, kMost = 8192;
  return static_cast<int>(std::min(kAtOnce + rows / kRowsForEach, kMost));
}

}  // namespace strom::pg::planner
