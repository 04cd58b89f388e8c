// Dispatches on PostgreSQL's expression nodes. lower_calls.cpp lowers functions, operators and constants; control flow
// is lowered below.
#include "pg/planner/lowering/lower.hpp"

#include <algorithm>

#include "base/int128.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/compat/tree_walk.hpp"

namespace strom::pg::planner {

using boundary::guard;
using engine::plan::kNoNode;
using engine::plan::NodeId;
using engine::plan::ValueType;
using registry::TypeId;

namespace {

Status unsupported(std::string reason) { return Status(ErrorCode::kUnsupported, std::move(reason)); }

std::vector<const Node*> nodes_of(const List* list) {
  std::vector<const Node*> nodes;
  nodes.reserve(static_cast<size_t>(list_length(list)));
  for (int i = 0; i < list_length(list); ++i) nodes.push_back(static_cast<const Node*>(list_nth(list, i)));
  return nodes;
}

std::string type_text(Oid type) { return codec::type_name({type, -1}); }

// For expressions without columns. False for leakproof functions, which raise no errors, and for functions without
// arguments.
bool may_raise_errors(Node* node, void* context) {
  if (node == nullptr) return false;
  const auto is_risky = [](Oid function, void*) {
    return get_func_nargs(function) > 0 && !get_func_leakproof(function);
  };
  if (IsA(node, CoerceToDomain) || check_functions_in_node(node, is_risky, nullptr)) return true;
  return compat::walk(node, may_raise_errors, context);
}

bool is_same(const Node* a, const Node* b) {
  if (nodeTag(a) != nodeTag(b)) return false;
  const auto *x = reinterpret_cast<const Param*>(a), *y = reinterpret_cast<const Param*>(b);
  if (IsA(a, Param) && (x->paramid != y->paramid || x->paramkind != y->paramkind)) return false;
  return guard([a, b] { return equal(a, b); });
}

const char* kind_of_expression(const Node* expr) {
  switch (nodeTag(expr)) {
    case T_SubPlan:
    case T_AlternativeSubPlan: return "subquery";
    case T_Aggref: return "aggregate";
    case T_WindowFunc: return "window function";
    case T_ArrayExpr:
    case T_ArrayCoerceExpr: return "array";
    case T_RowExpr:
    case T_RowCompareExpr:
    case T_FieldSelect: return "row value";
    case T_XmlExpr: return "XML expression";
    default: return "kind of expression";
  }
}

}  // namespace

Result<NodeId> char_of_text(engine::plan::Builder& builder, NodeId text, int32_t length) {
  const NodeId wanted =
      builder.constant({TypeId::kInt4, 0}, false, std::string(reinterpret_cast<const char*>(&length), sizeof length));
  return builder.call("char of text", {text, wanted});
}

// Surveys the whole expression: its size, and the parts that do not depend on a row and are worth evaluating once.
Status Lowering::look_over(const Node* expr) {
  const Survey found = guard([expr, this] { return survey(expr, most_weight_); });
  if (found.is_too_large) return unsupported("expression is too large for the rows that are expected");
  if (found.is_too_deep) return unsupported("expression is nested too deeply");
  for (int i = 0; i < list_length(found.row_constants); ++i)
    row_constants_.insert(static_cast<const Node*>(list_nth(found.row_constants, i)));
  return Status::ok();
}

Result<NodeId> Lowering::lower(const Node* expr) {
  if (IsA(expr, RestrictInfo))
    return lower(reinterpret_cast<const Node*>(reinterpret_cast<const RestrictInfo*>(expr)->clause));
  const std::pair<const Node*, NodeId> place(expr, case_value_);
  if (const auto known = lowered_.find(place); known != lowered_.end()) return known->second;
  boundary::check_for_interrupts();
  if (depth_ == 0) STROM_TRY(look_over(expr));
  ++depth_;
  Result<NodeId> result = lower_node(expr);
  --depth_;
  if (result.is_ok()) lowered_.emplace(place, result.value());
  return result;
}

Result<NodeId> Lowering::lower_node(const Node* expr) {
  switch (nodeTag(expr)) {
    case T_Var: return scope_.column(*reinterpret_cast<const Var*>(expr));
    case T_Const: return constant(*reinterpret_cast<const Const*>(expr));
    case T_PlaceHolderVar:  // no outer join that offer_join() takes makes it NULL
      return lower(reinterpret_cast<const Node*>(reinterpret_cast<const PlaceHolderVar*>(expr)->phexpr));
    case T_CaseTestExpr:
      if (case_value_ == kNoNode) return unsupported("CASE value outside of CASE");
      return case_value_;
    default: return row_constants_.count(expr) != 0 ? run_time_constant(expr) : operation(expr);
  }
}

Result<NodeId> Lowering::operation(const Node* expr) {
  switch (nodeTag(expr)) {
    case T_FuncExpr: {
      const auto& call = *reinterpret_cast<const FuncExpr*>(expr);
      if (call.funcretset) return unsupported("set-returning function");
      if (call.funcvariadic) return unsupported("VARIADIC array");
      return function(call.funcid, nodes_of(call.args), call.inputcollid);
    }
    case T_OpExpr: {
      auto& op = *reinterpret_cast<OpExpr*>(const_cast<Node*>(expr));
      if (!OidIsValid(op.opfuncid)) guard([&op] { set_opfuncid(&op); });
      return function(op.opfuncid, nodes_of(op.args), op.inputcollid);
    }
    case T_RelabelType: return relabel(*reinterpret_cast<const RelabelType*>(expr));
    case T_BoolExpr: return logic(*reinterpret_cast<const BoolExpr*>(expr));
    case T_NullTest: {
      const auto& test = *reinterpret_cast<const NullTest*>(expr);
      if (test.argisrow) return unsupported("row value");
      STROM_ASSIGN(const NodeId arg, lower(reinterpret_cast<const Node*>(test.arg)));
      return test.nulltesttype == IS_NULL ? builder_.is_null(arg) : builder_.is_not_null(arg);
    }
    case T_BooleanTest: return boolean_test(*reinterpret_cast<const BooleanTest*>(expr));
    case T_SubscriptingRef: return subscript(*reinterpret_cast<const SubscriptingRef*>(expr));
    case T_ScalarArrayOpExpr: return array_op(*reinterpret_cast<const ScalarArrayOpExpr*>(expr));
    case T_CaseExpr: return case_of(*reinterpret_cast<const CaseExpr*>(expr));
    case T_CoalesceExpr: return coalesce(*reinterpret_cast<const CoalesceExpr*>(expr));
    case T_MinMaxExpr: return min_max(*reinterpret_cast<const MinMaxExpr*>(expr));
    case T_CoerceViaIO: return cast_through_text(*reinterpret_cast<const CoerceViaIO*>(expr));
    case T_NullIfExpr: return null_if(*reinterpret_cast<const OpExpr*>(expr));
    case T_DistinctExpr: return distinct_from(*reinterpret_cast<const OpExpr*>(expr));
    default: return unsupported(std::string(kind_of_expression(expr)) + " is not supported");
  }
}

NodeId Lowering::integer(int32_t value) {
  return builder_.constant({TypeId::kInt4, 0}, false, std::string(reinterpret_cast<const char*>(&value), sizeof value));
}

NodeId Lowering::boolean(bool value) {
  return builder_.constant({TypeId::kBool, 0}, false, std::string(1, value ? '\1' : '\0'));
}

Result<NodeId> Lowering::run_time_constant(const Node* expr) {
  const Oid type = guard([expr] { return exprType(expr); });
  const int32_t typmod = guard([expr] { return exprTypmod(expr); });
  const bool is_numeric = guard([=] { return getBaseType(type) == NUMERICOID; });
  STROM_ASSIGN(const ValueType value,
               is_numeric ? value_type_of(NUMERICOID, -1) : value_type_of(type, typmod));  // may exceed typmod
  const bool may_raise = guard([expr] { return may_raise_errors(const_cast<Node*>(expr), nullptr); });
  constexpr size_t kCompared = 64;  // compared with the last ones only, to save time
  size_t i = params_.size() - std::min(params_.size(), kCompared);
  while (i < params_.size() && !is_same(params_[i], expr)) ++i;
  if (i == params_.size()) params_.push_back(expr);
  return builder_.parameter(value, static_cast<int32_t>(i), may_raise);
}

// Supports only casts between types whose values the engine treats alike.
Result<NodeId> Lowering::relabel(const RelabelType& relabel) {
  STROM_ASSIGN(const NodeId arg, lower(reinterpret_cast<const Node*>(relabel.arg)));
  const registry::TypeInfo* info = guard([&relabel] { return codec::engine_type(relabel.resulttype); });
  const TypeId have = builder_.node(arg).type.type;
  TypeId want = info != nullptr ? info->id : TypeId::kBool;
  if (want == TypeId::kVarchar) want = TypeId::kText;
  if (want == TypeId::kCidr) want = TypeId::kInet;
  if (want == TypeId::kNumeric && have == TypeId::kDecimal) return arg;
  if (info == nullptr || want != have) return unsupported("cast to " + type_text(relabel.resulttype));
  return arg;
}

Result<NodeId> Lowering::logic(const BoolExpr& expr) {
  const std::vector<const Node*> args = nodes_of(expr.args);
  STROM_ASSIGN(NodeId result, lower(args[0]));
  if (expr.boolop == NOT_EXPR) return builder_.logic_not(result);
  for (size_t i = 1; i < args.size(); ++i) {
    STROM_ASSIGN(const NodeId next, lower(args[i]));
    result = expr.boolop == AND_EXPR ? builder_.logic_and(result, next) : builder_.logic_or(result, next);
  }
  return result;
}

Result<NodeId> Lowering::boolean_test(const BooleanTest& test) {
  STROM_ASSIGN(const NodeId arg, lower(reinterpret_cast<const Node*>(test.arg)));
  switch (test.booltesttype) {
    case IS_UNKNOWN: return builder_.is_null(arg);
    case IS_NOT_UNKNOWN: return builder_.is_not_null(arg);
    case IS_TRUE: return builder_.coalesce(arg, boolean(false));
    case IS_FALSE: return builder_.coalesce(builder_.logic_not(arg), boolean(false));
    case IS_NOT_TRUE: return builder_.coalesce(builder_.logic_not(arg), boolean(true));
    case IS_NOT_FALSE: return builder_.coalesce(arg, boolean(true));
  }
  return unsupported("test of a boolean");
}

Result<NodeId> Lowering::case_of(const CaseExpr& expr) {
  const NodeId outer_value = case_value_;
  if (expr.arg != nullptr) {
    STROM_ASSIGN(case_value_, lower(reinterpret_cast<const Node*>(expr.arg)));
  }
  std::vector<std::pair<NodeId, NodeId>> branches;
  for (const Node* node : nodes_of(expr.args)) {
    const auto& when = *reinterpret_cast<const CaseWhen*>(node);
    STROM_ASSIGN(const NodeId condition, lower(reinterpret_cast<const Node*>(when.expr)));
    const NodeId value_inside = case_value_;
    case_value_ = outer_value;
    auto result = lower(reinterpret_cast<const Node*>(when.result));
    case_value_ = value_inside;
    if (!result.is_ok()) return result;
    branches.emplace_back(condition, result.value());
  }
  case_value_ = outer_value;
  NodeId value;
  if (expr.defresult != nullptr) {
    STROM_ASSIGN(value, lower(reinterpret_cast<const Node*>(expr.defresult)));
  } else {
    value = builder_.constant(builder_.node(branches.back().second).type, true, {});
  }
  for (size_t i = branches.size(); i-- > 0;) {
    STROM_ASSIGN(value, builder_.select(branches[i].first, branches[i].second, value));
  }
  return value;
}

Result<NodeId> Lowering::coalesce(const CoalesceExpr& expr) {
  const std::vector<const Node*> args = nodes_of(expr.args);
  STROM_ASSIGN(NodeId value, lower(args.back()));
  for (size_t i = args.size() - 1; i-- > 0;) {
    STROM_ASSIGN(const NodeId earlier, lower(args[i]));
    STROM_ASSIGN(value, builder_.coalesce(earlier, value));
  }
  return value;
}

// NULLs are ignored. Of equal values the first one wins. The arguments are split into halves, so that the result is not
// nested deeply.
Result<NodeId> Lowering::min_max(const MinMaxExpr& expr) {
  const Oid less = guard([&expr] { return get_opcode(lookup_type_cache(expr.minmaxtype, TYPECACHE_LT_OPR)->lt_opr); });
  const char* name = guard([less] { return get_func_name(less); });
  if (name == nullptr) return unsupported("GREATEST or LEAST of a type without an order");
  std::vector<NodeId> values;
  for (const Node* arg : nodes_of(expr.args)) {
    STROM_ASSIGN(const NodeId value, lower(arg));
    values.push_back(value);
  }
  while (values.size() > 1) {
    std::vector<NodeId> winners;
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      const NodeId a = values[i], b = values[i + 1];
      const bool greatest = expr.op == IS_GREATEST;
      STROM_ASSIGN(const NodeId later, call(name, {greatest ? a : b, greatest ? b : a}, expr.inputcollid));
      STROM_ASSIGN(const NodeId first, builder_.coalesce(a, b));
      STROM_ASSIGN(const NodeId winner, builder_.select(later, b, first));
      winners.push_back(winner);
    }
    if (values.size() % 2) winners.push_back(values.back());
    values = std::move(winners);
  }
  return values[0];
}

// Supports casts to text from types that the engine prints, and from text to types that it parses.
Result<NodeId> Lowering::cast_through_text(const CoerceViaIO& cast) {
  STROM_ASSIGN(const NodeId arg, lower(reinterpret_cast<const Node*>(cast.arg)));
  const TypeId type = builder_.node(arg).type.type;
  if (cast.resulttype != TEXTOID && cast.resulttype != VARCHAROID) {
    const registry::TypeInfo* to = registry::find_type(cast.resulttype);
    if (type != TypeId::kText || to == nullptr) return unsupported("cast through text");
    return builder_.call(to->pg_name, {arg});
  }
  if (registry::is_text(type) || type == TypeId::kBool || type == TypeId::kInet || type == TypeId::kJsonb ||
      type == TypeId::kChar)
    return unsupported("cast through text");
  return builder_.call("text", {arg});
}

Result<NodeId> Lowering::null_if(const OpExpr& expr) {
  auto& op = const_cast<OpExpr&>(expr);
  guard([&op] { set_opfuncid(&op); });
  const std::vector<const Node*> args = nodes_of(expr.args);
  STROM_ASSIGN(const NodeId equals, function(op.opfuncid, args, expr.inputcollid));
  STROM_ASSIGN(const NodeId value, lower(args[0]));
  return builder_.select(equals, builder_.constant(builder_.node(value).type, true, {}), value);
}

// `equals` is NULL if at least one side is NULL. So COALESCE takes NOT (a = b), else NOT (both are NULL).
Result<NodeId> Lowering::distinct_from(const OpExpr& expr) {
  auto& op = const_cast<OpExpr&>(expr);
  guard([&op] { set_opfuncid(&op); });
  const std::vector<const Node*> args = nodes_of(expr.args);
  STROM_ASSIGN(const NodeId equals, function(op.opfuncid, args, expr.inputcollid));
  STROM_ASSIGN(const NodeId a, lower(args[0]));
  STROM_ASSIGN(const NodeId b, lower(args[1]));
  const NodeId both_null = builder_.logic_and(builder_.is_null(a), builder_.is_null(b));
  return builder_.coalesce(builder_.logic_not(equals), builder_.logic_not(both_null));
}

}  // namespace strom::pg::planner
