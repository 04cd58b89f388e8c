// Lowering of arrays. An array that is a literal becomes a comparison with each element. Other arrays are read by
// functions of engine/expr/array.hpp.
#include <cstring>

#include "pg/boundary/boundary.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/planner/lowering/lower.hpp"
#include "registry/functions.hpp"

namespace strom::pg::planner {

using boundary::guard;
using engine::plan::NodeId;
using registry::TypeId;

namespace {

constexpr size_t kMostListed = 64;  // elements of a literal array that become comparisons

Status unsupported(std::string reason) { return Status(ErrorCode::kUnsupported, std::move(reason)); }

Oid element_type_of(const Node* array) {
  return guard([array] { return get_element_type(getBaseType(exprType(array))); });
}

// The engine's type for elements; nullptr if the engine cannot read them.
const registry::TypeInfo* element_info(Oid type) {
  const registry::TypeInfo* info = OidIsValid(type) ? guard([type] { return codec::engine_type(type); }) : nullptr;
  if (info != nullptr && info->id == TypeId::kVarchar) return &registry::type_info(TypeId::kText);
  const TypeId arguments[] = {TypeId::kArray, TypeId::kInt4};
  if (info == nullptr || registry::find_function(std::string(info->pg_name) + " element", arguments, 2) == nullptr)
    return nullptr;
  return info;
}

// Removes a cast that only changes the element type's name, such as varchar[] to text[]. The elements' values stay the
// same.
const Node* without_relabeling(const Node* array) {
  if (!IsA(array, ArrayCoerceExpr)) return array;
  const auto* cast = reinterpret_cast<const ArrayCoerceExpr*>(array);
  const auto* element = reinterpret_cast<const RelabelType*>(cast->elemexpr);
  const bool relabels = IsA(element, RelabelType) && IsA(element->arg, CaseTestExpr);
  return relabels ? reinterpret_cast<const Node*>(cast->arg) : array;
}

// The bits of engine::expr::AnyElement for a comparison function; 0 for other functions.
int32_t wanted_results(const char* name) {
  for (const registry::FunctionInfo& row : registry::kFunctions) {
    if (std::strcmp(row.pg_name, name) != 0) continue;
    if (const int32_t results = registry::compared_results(row.traits); results != 0) return results;
  }
  return 0;
}

constexpr int32_t kAllResults = 7, kEqualOrNot = 5, kEqual = 2;

bool is_integer(TypeId type) { return type == TypeId::kInt2 || type == TypeId::kInt4 || type == TypeId::kInt8; }
bool is_float(TypeId type) { return type == TypeId::kFloat4 || type == TypeId::kFloat8; }
bool is_numeric(TypeId type) { return type == TypeId::kNumeric || type == TypeId::kDecimal; }

}  // namespace

Result<std::vector<NodeId>> Lowering::array_elements(const Node* array) {
  std::vector<NodeId> elements;
  if (IsA(array, Const)) {
    const auto& literal = *reinterpret_cast<const Const*>(array);
    if (literal.constisnull) return unsupported("array that is null");
    struct Elements {
      Datum* values;
      bool* nulls;
      int count;
      Oid type;
      int32_t typmod;
    };
    const auto found = guard([&literal] {
      Elements e{};
      ArrayType* value = DatumGetArrayTypeP(literal.constvalue);
      e.type = ARR_ELEMTYPE(value);
      int16 length;
      bool by_value;
      char alignment;
      get_typlenbyvalalign(e.type, &length, &by_value, &alignment);
      deconstruct_array(value, e.type, length, by_value, alignment, &e.values, &e.nulls, &e.count);
      return e;
    });
    for (int i = 0; i < found.count; ++i) {
      Const element{};
      element.xpr.type = T_Const;
      element.consttype = found.type;
      element.consttypmod = -1;
      element.constisnull = found.nulls[i];
      element.constvalue = found.values[i];
      STROM_ASSIGN(const NodeId id, constant(element));
      elements.push_back(id);
    }
    return elements;
  }
  if (IsA(array, ArrayExpr) && !reinterpret_cast<const ArrayExpr*>(array)->multidims) {
    const List* list = reinterpret_cast<const ArrayExpr*>(array)->elements;
    for (int i = 0; i < list_length(list); ++i) {
      STROM_ASSIGN(const NodeId id, lower(static_cast<const Node*>(list_nth(list, i))));
      elements.push_back(id);
    }
    return elements;
  }
  return unsupported("array that is not a literal");
}

// Lowers x OP ANY (list) with SQL's NULL semantics; ALL is the NOT of ANY with the negator.
Result<NodeId> Lowering::array_op(const ScalarArrayOpExpr& op) {
  const auto* array = static_cast<const Node*>(lsecond(op.args));
  const bool listed = IsA(array, Const) || IsA(array, ArrayExpr);
  if (!listed) return compared_with_array(op, array);
  const Oid oper = op.useOr ? op.opno : guard([&op] { return get_negator(op.opno); });
  if (!OidIsValid(oper)) return unsupported("operator ALL without a negator");
  STROM_ASSIGN(const std::string name, built_in_name(guard([oper] { return get_opcode(oper); })));
  STROM_ASSIGN(const NodeId arg, lower(static_cast<const Node*>(linitial(op.args))));
  STROM_ASSIGN(const std::vector<NodeId> elements, array_elements(array));
  if (!elements.empty()) {  // checks the operator like a single comparison
    STROM_TRY(call(name.c_str(), {arg, elements[0]}, op.inputcollid).status());
  }
  STROM_ASSIGN(const NodeId any, builder_.in_list(name, arg, elements));
  return op.useOr ? any : builder_.logic_not(any);
}

// Lowers x OP ANY (array), where the name of OP's function ends in `name`.
Result<NodeId> Lowering::any_element(int32_t wanted, NodeId x, Oid element, NodeId array, Oid collation) {
  const registry::TypeInfo* info = element_info(element);
  if (info == nullptr) return unsupported("array of such elements");
  const TypeId type = builder_.node(x).type.type;
  if (is_integer(type) && is_integer(info->id)) {
    if (type != TypeId::kInt8) {
      STROM_ASSIGN(x, builder_.call("int8", {x}));
    }
  } else if (is_float(type) && is_float(info->id)) {
    if (type != TypeId::kFloat8) {
      STROM_ASSIGN(x, builder_.call("float8", {x}));
    }
  } else if (is_numeric(type) && is_numeric(info->id)) {
    x = builder_.to_decimal(x);
  } else if (type != info->id) {
    return unsupported("comparison with elements of another type");
  }
  const bool by_order = registry::is_text(info->id) && wanted != kEqual && wanted != kEqualOrNot;
  if (info->id == TypeId::kEnum && wanted != kEqual && wanted != kEqualOrNot)
    return unsupported("order of enum elements");
  const std::string name = std::string(by_order ? "any ordered " : "any ") + info->pg_name;
  return call(name.c_str(), {x, array, integer(wanted)}, collation);
}

Result<NodeId> Lowering::compared_with_array(const ScalarArrayOpExpr& op, const Node* array) {
  const auto* left = static_cast<const Node*>(linitial(op.args));
  STROM_ASSIGN(const std::string name, built_in_name(guard([&op] { return get_opcode(op.opno); })));
  const int32_t wanted = wanted_results(name.c_str());
  if (wanted == 0) return unsupported("function " + name + " with the elements of an array");
  STROM_ASSIGN(const NodeId x, lower(left));
  STROM_ASSIGN(const NodeId value, lower(without_relabeling(array)));
  STROM_ASSIGN(const NodeId any,
               any_element(op.useOr ? wanted : kAllResults ^ wanted, x, element_type_of(array), value, op.inputcollid));
  // The result for an empty array does not depend on x, which may be NULL.
  STROM_ASSIGN(const NodeId count, builder_.call("cardinality", {value}));
  STROM_ASSIGN(const NodeId empty, builder_.call("int4eq", {count, integer(0)}));
  STROM_ASSIGN(const NodeId found, builder_.select(empty, boolean(false), any));
  return op.useOr ? found : builder_.logic_not(found);
}

// Lowers array[index]. As in PostgreSQL, the result is NULL if the array does not have one dimension.
Result<NodeId> Lowering::subscript(const SubscriptingRef& ref) {
  if (ref.refassgnexpr != nullptr || ref.reflowerindexpr != NIL || list_length(ref.refupperindexpr) != 1)
    return unsupported("slice or element of an array of several dimensions");
  const Oid container = guard([&ref] { return getBaseType(ref.refcontainertype); });
  const Oid element = guard([container] { return get_element_type(container); });
  const registry::TypeInfo* info = element_info(element);
  if (info == nullptr) return unsupported("element of such an array");
  STROM_ASSIGN(const NodeId array, lower(reinterpret_cast<const Node*>(ref.refexpr)));
  STROM_ASSIGN(const NodeId index, lower(static_cast<const Node*>(linitial(ref.refupperindexpr))));
  return builder_.call(std::string(info->pg_name) + " element", {array, index});
}

// Lowers array @> list, list <@ array and array && list. No array contains a NULL of the list. A NULL array gives NULL.
Result<NodeId> Lowering::array_has_listed(const Node* array, const Node* list, bool all, Oid collation) {
  STROM_ASSIGN(const NodeId value, lower(without_relabeling(array)));
  STROM_ASSIGN(const std::vector<NodeId> elements, array_elements(list));
  if (elements.size() > kMostListed) return unsupported("list of many elements");
  const Oid element = element_type_of(array);
  NodeId result = boolean(all);
  for (size_t i = 0; i < elements.size(); ++i) {
    STROM_ASSIGN(NodeId has, any_element(kEqual, elements[i], element, value, collation));
    has = builder_.coalesce(has, boolean(false)).value();
    result = i == 0 ? has : all ? builder_.logic_and(result, has) : builder_.logic_or(result, has);
  }
  return builder_.select(builder_.is_null(value), builder_.constant({TypeId::kBool, 0}, true, {}), result);
}

static bool is_listed(const Node* array) { return IsA(array, Const) || IsA(array, ArrayExpr); }

// Lowers @> and <@. Argument number `array` is the containing one.
Result<NodeId> Lowering::array_contains(const FunctionCall& call, size_t array) {
  const Node* list = call.args[1 - array];
  if (is_listed(list)) return array_has_listed(call.args[array], list, true, call.collation);
  return unsupported("function " + call.name + " of two arrays that are no literals");
}

Result<NodeId> Lowering::array_overlap(const FunctionCall& call) {
  for (const size_t list : {1, 0})
    if (is_listed(call.args[list]))
      return array_has_listed(call.args[1 - list], call.args[list], false, call.collation);
  return unsupported("function " + call.name + " of two arrays that are no literals");
}

}  // namespace strom::pg::planner
