#include "pg/planner/lowering/lower_aggregate.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/compat/collation.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::planner {

using boundary::guard;
using engine::plan::Aggregate;
using engine::plan::Builder;
using engine::plan::NodeId;
using registry::kAnyValue;
using registry::TypeId;

namespace {

/// codec::numeric_from_int128() supports scales up to twice this value.
constexpr int kMaxSquareScale = 31;

Status unsupported(std::string reason) { return Status(ErrorCode::kUnsupported, std::move(reason)); }

const Node* argument_of(const Aggref& aggregate, int number) {
  return reinterpret_cast<const Node*>(static_cast<const TargetEntry*>(list_nth(aggregate.args, number))->expr);
}

/// Rejects forms of aggregates that the engine does not have, whatever their arguments are.
Status check_form(const Aggref& aggregate, const std::string& name) {
  const Oid function = aggregate.aggfnoid;
  if (guard([function] { return get_func_namespace(function); }) != PG_CATALOG_NAMESPACE)
    return unsupported("aggregate " + name + " is not built in");
  if (aggregate.aggdistinct != NIL) return unsupported("aggregate with DISTINCT");
  if (aggregate.aggorder != NIL) return unsupported("aggregate with ORDER BY");
  if (aggregate.aggkind != AGGKIND_NORMAL) return unsupported("ordered-set aggregate");
  if (list_length(aggregate.args) > 2) return unsupported("aggregate " + name + " of several arguments");
  return Status::ok();
}

/// Lowers the arguments, which have the same type; *type gets it if there are arguments.
Status lower_arguments(Lowering& lowering, Builder& builder, const Aggref& aggregate, const std::string& name,
                       Aggregate* result, TypeId* type) {
  const int nargs = list_length(aggregate.args);
  if (nargs >= 1) {
    STROM_ASSIGN(result->arg, lowering.lower(argument_of(aggregate, 0)));
    *type = builder.node(result->arg).type.type;
  }
  if (nargs == 2) {
    STROM_ASSIGN(result->second, lowering.lower(argument_of(aggregate, 1)));
    if (builder.node(result->second).type.type != *type) return unsupported("aggregate " + name + " of several types");
  }
  const bool is_numeric = *type == TypeId::kNumeric || *type == TypeId::kDecimal;
  if (is_numeric && name != "count" && !guc::pg_strom::enable_numeric_aggfuncs)
    return unsupported("pg_strom.enable_numeric_aggfuncs is off");
  return Status::ok();
}

/// For min, max (`any` is false) and any_value: checks that the engine's order of registers is the order of the
/// argument.
Status check_order(Builder& builder, const Aggref& aggregate, TypeId type, bool any, NodeId* arg) {
  if (!any && registry::type_info(type).phys == registry::Phys::kStr &&
      !guard([&aggregate] { return compat::collation_orders_bytes(aggregate.inputcollid); }))
    return unsupported("collation orders text differently from bytes");
  const Node* argument = argument_of(aggregate, 0);
  if (type == TypeId::kBpchar && guard([argument] { return exprTypmod(argument); }) < VARHDRSZ)
    return unsupported("char of unknown length, whose blanks are told apart");
  if (any || type != TypeId::kEnum) return Status::ok();
  STROM_TRY(check_enum_order(guard([argument] { return exprType(argument); })));
  // Comparing a value with itself makes a fallback row where the order of the value has to be looked up.
  STROM_ASSIGN(const NodeId ordered, builder.call("enum_le", {*arg, *arg}));
  const NodeId yes = builder.constant({TypeId::kBool, 0}, false, std::string(1, '\1'));
  STROM_ASSIGN(const NodeId known, builder.coalesce(ordered, yes));
  *arg = builder.assume(known, *arg, TypeId::kEnum);
  return Status::ok();
}

}  // namespace

const registry::AggregateInfo* aggregate_of(std::string_view name, int nargs, TypeId type) {
  return registry::find_aggregate(name == kAnyValue ? "min" : name, nargs, type);
}

Result<Aggregate> lower_aggregate(Lowering& lowering, Builder& builder, const Aggref& aggregate) {
  const Oid function = aggregate.aggfnoid;
  const char* looked_up = guard([function] { return get_func_name(function); });
  const std::string name = looked_up != nullptr ? looked_up : "?";
  STROM_TRY(check_form(aggregate, name));
  Aggregate result;
  TypeId type = TypeId::kBool;
  STROM_TRY(lower_arguments(lowering, builder, aggregate, name, &result, &type));
  const int nargs = list_length(aggregate.args);
  const registry::AggregateInfo* info = aggregate_of(name, nargs, type);
  if (info == nullptr) {
    const std::string signature = nargs == 0 ? "*" : registry::type_info(type).pg_name;
    return unsupported("aggregate " + name + "(" + signature + ") is not supported");
  }
  if (info->format == registry::PartialFormat::kNumericVarState &&
      builder.node(result.arg).type.scale > kMaxSquareScale)
    return unsupported("squares of numeric scale " + std::to_string(builder.node(result.arg).type.scale));
  if (info->acc == registry::AccKind::kMin || info->acc == registry::AccKind::kMax)
    STROM_TRY(check_order(builder, aggregate, type, name == kAnyValue, &result.arg));
  result.id = info->id;
  if (aggregate.aggfilter != nullptr) {
    STROM_ASSIGN(result.filter, lowering.lower(reinterpret_cast<const Node*>(aggregate.aggfilter)));
  }
  return result;
}

}  // namespace strom::pg::planner
