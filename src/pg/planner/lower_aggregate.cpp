#include "pg/planner/lower_aggregate.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/compat/collation.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::planner {

using boundary::guard;
using engine::plan::Aggregate;
using engine::plan::Builder;
using engine::plan::NodeId;
using registry::TypeId;

namespace {

/// Twice this scale is the most that codec::numeric_from_int128() writes.
constexpr int kMaxSquareScale = 31;

Status unsupported(std::string reason) { return Status(ErrorCode::kUnsupported, std::move(reason)); }

constexpr std::string_view kAnyValue = "any_value";

}  // namespace

const registry::AggregateInfo* aggregate_of(std::string_view name, int nargs, TypeId type) {
  return registry::find_aggregate(name == kAnyValue ? "min" : name, nargs, type);
}

Result<Aggregate> lower_aggregate(Lowering& lowering, Builder& builder, const Aggref& aggregate) {
  const Oid function = aggregate.aggfnoid;
  const char* looked_up = guard([function] { return get_func_name(function); });
  const std::string name = looked_up != nullptr ? looked_up : "?";
  if (guard([function] { return get_func_namespace(function); }) != PG_CATALOG_NAMESPACE)
    return unsupported("aggregate " + name + " is not built in");
  if (aggregate.aggdistinct != NIL) return unsupported("aggregate with DISTINCT");
  if (aggregate.aggorder != NIL) return unsupported("aggregate with ORDER BY");
  if (aggregate.aggkind != AGGKIND_NORMAL) return unsupported("ordered-set aggregate");
  const int nargs = list_length(aggregate.args);
  if (nargs > 2) return unsupported("aggregate " + name + " of several arguments");

  Aggregate result;
  TypeId type = TypeId::kBool;
  if (nargs >= 1) {
    const auto* argument = static_cast<const TargetEntry*>(linitial(aggregate.args));
    STROM_ASSIGN(result.arg, lowering.lower(reinterpret_cast<const Node*>(argument->expr)));
    type = builder.node(result.arg).type.type;
  }
  if (nargs == 2) {
    const auto* argument = static_cast<const TargetEntry*>(lsecond(aggregate.args));
    STROM_ASSIGN(result.second, lowering.lower(reinterpret_cast<const Node*>(argument->expr)));
    if (builder.node(result.second).type.type != type) return unsupported("aggregate " + name + " of several types");
  }
  const bool is_numeric = type == TypeId::kNumeric || type == TypeId::kDecimal;
  if (is_numeric && name != "count" && !guc::pg_strom::enable_numeric_aggfuncs)
    return unsupported("pg_strom.enable_numeric_aggfuncs is off");
  const registry::AggregateInfo* info = aggregate_of(name, nargs, type);
  if (info == nullptr) {
    const std::string signature = nargs == 0 ? "*" : registry::type_info(type).pg_name;
    return unsupported("aggregate " + name + "(" + signature + ") is not supported");
  }
  const bool by_order = info->acc == registry::AccKind::kMin || info->acc == registry::AccKind::kMax;
  const bool any = name == kAnyValue;
  if (by_order && !any && registry::type_info(type).phys == registry::Phys::kStr &&
      !guard([&aggregate] { return compat::collation_orders_bytes(aggregate.inputcollid); }))
    return unsupported("collation orders text differently from bytes");
  if (by_order && type == TypeId::kBpchar) {
    const auto* argument = static_cast<const TargetEntry*>(linitial(aggregate.args))->expr;
    if (guard([argument] { return exprTypmod(reinterpret_cast<const Node*>(argument)); }) < VARHDRSZ)
      return unsupported("char of unknown length, whose blanks are told apart");
  }
  if (info->format == registry::PartialFormat::kNumericVarState &&
      builder.node(result.arg).type.scale > kMaxSquareScale)
    return unsupported("squares of numeric scale " + std::to_string(builder.node(result.arg).type.scale));
  if (by_order && !any && type == TypeId::kEnum) {
    const auto* argument = static_cast<const TargetEntry*>(linitial(aggregate.args));
    STROM_TRY(check_enum_order(guard([argument] { return exprType(reinterpret_cast<Node*>(argument->expr)); })));
    // A comparison with itself declines the values whose order is looked up.
    STROM_ASSIGN(const NodeId ordered, builder.call("enum_le", {result.arg, result.arg}));
    const NodeId yes = builder.constant({TypeId::kBool, 0}, false, std::string(1, '\1'));
    STROM_ASSIGN(const NodeId known, builder.coalesce(ordered, yes));
    result.arg = builder.assume(known, result.arg, TypeId::kEnum);
  }
  result.id = info->id;
  if (aggregate.aggfilter != nullptr) {
    STROM_ASSIGN(result.filter, lowering.lower(reinterpret_cast<const Node*>(aggregate.aggfilter)));
  }
  return result;
}

}  // namespace strom::pg::planner
