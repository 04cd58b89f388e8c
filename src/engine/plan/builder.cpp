#include "engine/plan/builder.hpp"

#include <algorithm>
#include <cstring>

#include "base/int128.hpp"
#include "engine/expr/row_decimal.hpp"
#include "registry/functions.hpp"

namespace strom::engine::plan {

using registry::FunctionInfo;
using registry::TypeId;

namespace {

constexpr ValueType kBoolType{TypeId::kBool, 0};

Status unsupported(std::string reason) { return Status(ErrorCode::kUnsupported, std::move(reason)); }

/// The types by which a call is looked up: char(n) and text differ, varchar and text do not.
std::vector<TypeId> types_of(const Program& program, const std::vector<NodeId>& ids) {
  std::vector<TypeId> types;
  types.reserve(ids.size());
  for (NodeId id : ids) types.push_back(program.nodes[id].type.type);
  return types;
}

}  // namespace

size_t Builder::NodeHash::operator()(const Node& node) const {
  uint64_t hash = static_cast<uint64_t>(node.kind) << 48 | static_cast<uint64_t>(node.type.type) << 32 | node.imm;
  for (const NodeId arg : node.args) hash = (hash ^ (hash >> 29) ^ arg) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 32);
}

bool Builder::SameNode::operator()(const Node& a, const Node& b) const {
  return a.kind == b.kind && a.type == b.type && a.imm == b.imm && std::memcmp(a.args, b.args, sizeof a.args) == 0;
}

NodeId Builder::add(const Node& node) {
  const auto [known, is_new] = nodes_.try_emplace(node, static_cast<NodeId>(program_.nodes.size()));
  if (is_new) program_.nodes.push_back(node);
  return known->second;
}

NodeId Builder::column(uint32_t ordinal, ValueType type) { return add({NodeKind::kColumn, type, ordinal}); }

NodeId Builder::payload(uint32_t join, uint32_t ordinal, ValueType type) {
  return add({NodeKind::kPayload, type, join << 16 | ordinal});
}

NodeId Builder::constant(ValueType type, bool is_null, std::string bytes) {
  const size_t hash = std::hash<std::string>()(bytes);
  const auto [begin, end] = constants_.equal_range(hash);
  for (auto known = begin; known != end; ++known) {
    const Constant& c = program_.constants[known->second];
    if (c.param < 0 && c.type == type && c.is_null == is_null && c.bytes == bytes)
      return add({NodeKind::kConst, type, known->second});
  }
  const auto index = static_cast<uint32_t>(program_.constants.size());
  program_.constants.push_back({type, is_null, -1, std::move(bytes)});
  constants_.emplace(hash, index);
  return add({NodeKind::kConst, type, index});
}

NodeId Builder::parameter(ValueType type, int32_t param, bool may_raise) {
  const auto hash = static_cast<size_t>(param);
  const auto [begin, end] = constants_.equal_range(hash);
  for (auto known = begin; known != end; ++known)
    if (const Constant& c = program_.constants[known->second]; c.param == param && c.type == type)
      return add({NodeKind::kConst, type, known->second});
  const auto index = static_cast<uint32_t>(program_.constants.size());
  program_.constants.push_back({type, false, param, {}, false, may_raise});
  constants_.emplace(hash, index);
  return add({NodeKind::kConst, type, index});
}

const Constant* Builder::literal(NodeId id) const {
  const Node& node = program_.nodes[id];
  if (node.kind != NodeKind::kConst || program_.constants[node.imm].param >= 0) return nullptr;
  return &program_.constants[node.imm];
}

Result<NodeId> Builder::rescale(NodeId arg, int16_t scale) {
  const Node source = program_.nodes[arg];
  if (source.type.type != TypeId::kNumeric) return unsupported("rescaling of a non-numeric value");
  if (scale < 0 || scale > base::kMaxDecimalDigits) return unsupported("numeric scale " + std::to_string(scale));
  if (source.type.scale == scale) return arg;
  const ValueType type{TypeId::kNumeric, scale};
  if (source.kind == NodeKind::kConst && program_.constants[source.imm].param < 0) {
    const Constant& c = program_.constants[source.imm];
    if (c.is_null) return constant(type, true, {});
    __int128 value;
    std::memcpy(&value, c.bytes.data(), sizeof value);
    if (base::rescale_decimal(&value, source.type.scale, scale))
      return constant(type, false, std::string(reinterpret_cast<const char*>(&value), sizeof value));
  }
  return add({NodeKind::kRescale, type, 0, {arg, kNoNode, kNoNode}});
}

NodeId Builder::to_decimal(NodeId arg) {
  const Node source = program_.nodes[arg];
  const ValueType type{TypeId::kDecimal, 0};
  if (source.type == type) return arg;
  if (source.kind == NodeKind::kConst && program_.constants[source.imm].param < 0) {
    const Constant& c = program_.constants[source.imm];
    if (c.is_null) return constant(type, true, {});
    __int128 value;
    std::memcpy(&value, c.bytes.data(), sizeof value);
    if (base::make_decimal(value, source.type.scale, &value))
      return constant(type, false, std::string(reinterpret_cast<const char*>(&value), sizeof value));
  }
  return add({NodeKind::kToDecimal, type, 0, {arg, kNoNode, kNoNode}});
}

Result<NodeId> Builder::fix_decimal(NodeId arg, int16_t scale, bool truncates, int precision) {
  if (program_.nodes[arg].type.type != TypeId::kDecimal) return unsupported("fixing the scale of a non-numeric value");
  if (scale < 0 || scale > base::kMaxDecimalDigits) return unsupported("numeric scale " + std::to_string(scale));
  const uint32_t imm = static_cast<uint32_t>(scale) | static_cast<uint32_t>(precision) << expr::kFixPrecisionShift |
                       (truncates ? expr::kFixTruncates : 0);
  return add({NodeKind::kFixDecimal, {TypeId::kNumeric, scale}, imm, {arg, kNoNode, kNoNode}});
}

// Casts from numeric have node kinds of their own. kNoNode: `pg_name` is not such a cast.
NodeId Builder::numeric_cast(std::string_view pg_name, NodeId arg) {
  if (pg_name == "int2") return add({NodeKind::kNumericToInt, {TypeId::kInt2, 0}, 0, {arg, kNoNode, kNoNode}});
  if (pg_name == "int4") return add({NodeKind::kNumericToInt, {TypeId::kInt4, 0}, 0, {arg, kNoNode, kNoNode}});
  if (pg_name == "int8") return add({NodeKind::kNumericToInt, {TypeId::kInt8, 0}, 0, {arg, kNoNode, kNoNode}});
  if (pg_name == "float8") return add({NodeKind::kNumericToFloat, {TypeId::kFloat8, 0}, 0, {arg, kNoNode, kNoNode}});
  return kNoNode;
}

void Builder::numerics_to_decimals(std::vector<NodeId>* args, std::vector<TypeId>* types) {
  for (NodeId& arg : *args)
    if (program_.nodes[arg].type.type == TypeId::kNumeric) arg = to_decimal(arg);
  *types = types_of(program_, *args);
}

// Arguments become decimals if only a function of decimals exists.
Result<const FunctionInfo*> Builder::function_for(std::string_view pg_name, std::vector<NodeId>* args,
                                                  std::string_view field) {
  std::vector<TypeId> types = types_of(program_, *args);
  const auto has = [&types](TypeId type) { return std::find(types.begin(), types.end(), type) != types.end(); };
  const auto find = [&] {
    return registry::find_function(pg_name, types.data(), static_cast<int>(types.size()), field);
  };
  if (has(TypeId::kDecimal)) numerics_to_decimals(args, &types);
  const FunctionInfo* info = find();
  if (info == nullptr && has(TypeId::kNumeric)) {
    numerics_to_decimals(args, &types);
    info = find();
  }
  if (info != nullptr) return info;
  std::string signature(pg_name);
  signature += '(';
  for (size_t i = 0; i < types.size(); ++i)
    signature.append(i ? ", " : "").append(registry::type_info(types[i]).pg_name);
  return unsupported("function " + signature + ")" + (field.empty() ? "" : " of field " + std::string(field)) +
                     " is not supported");
}

// The scale of the function's result, if it is a numeric. Arguments get one scale where the function needs that.
Result<int16_t> Builder::result_scale(const FunctionInfo& info, std::vector<NodeId>* args) {
  int16_t scale = 0;
  if (info.traits & registry::kSameScale) {
    for (NodeId arg : *args) scale = std::max(scale, program_.nodes[arg].type.scale);
    for (NodeId& arg : *args) {
      STROM_ASSIGN(arg, rescale(arg, scale));
    }
  } else if (info.traits & registry::kScaleSum) {
    for (NodeId arg : *args) scale = static_cast<int16_t>(scale + program_.nodes[arg].type.scale);
    if (scale > base::kMaxDecimalDigits) return unsupported("numeric product of scale " + std::to_string(scale));
  }
  if (info.traits & registry::kScale0) scale = 0;
  if (info.traits & registry::kScale3) scale = 3;
  if (info.traits & registry::kScale6) scale = 6;
  return info.result == TypeId::kNumeric ? scale : int16_t{0};
}

Result<NodeId> Builder::call(std::string_view pg_name, const std::vector<NodeId>& given, std::string_view field) {
  if (given.size() == 1 && program_.nodes[given[0]].type.type == TypeId::kNumeric)
    if (const NodeId cast = numeric_cast(pg_name, given[0]); cast != kNoNode) return cast;
  std::vector<NodeId> args = given;
  STROM_ASSIGN(const FunctionInfo* info, function_for(pg_name, &args, field));
  STROM_ASSIGN(const int16_t scale, result_scale(*info, &args));
  Node node{NodeKind::kCall, {info->result, scale}, static_cast<uint32_t>(info->id)};
  for (size_t i = 0; i < args.size(); ++i) node.args[i] = args[i];
  return add(node);
}

Result<NodeId> Builder::in_list(std::string_view equals, NodeId arg, const std::vector<NodeId>& values) {
  constexpr size_t kMaxValues = 1000;
  if (values.empty()) return constant(kBoolType, false, std::string(1, '\0'));
  if (values.size() > kMaxValues) return unsupported("IN list of more than 1000 values");
  std::vector<NodeId> terms;
  for (NodeId value : values) {
    STROM_ASSIGN(NodeId term, call(equals, {arg, value}));
    terms.push_back(term);
  }
  while (terms.size() > 1) {  // a balanced tree, so that depth and live registers stay small
    std::vector<NodeId> next;
    for (size_t i = 0; i + 1 < terms.size(); i += 2) next.push_back(logic_or(terms[i], terms[i + 1]));
    if (terms.size() % 2) next.push_back(terms.back());
    terms = std::move(next);
  }
  return terms[0];
}

NodeId Builder::logic_and(NodeId a, NodeId b) { return add({NodeKind::kAnd, kBoolType, 0, {a, b, kNoNode}}); }
NodeId Builder::logic_or(NodeId a, NodeId b) { return add({NodeKind::kOr, kBoolType, 0, {a, b, kNoNode}}); }
NodeId Builder::logic_not(NodeId a) { return add({NodeKind::kNot, kBoolType, 0, {a, kNoNode, kNoNode}}); }
NodeId Builder::is_null(NodeId a) { return add({NodeKind::kIsNull, kBoolType, 0, {a, kNoNode, kNoNode}}); }
NodeId Builder::is_not_null(NodeId a) { return add({NodeKind::kIsNotNull, kBoolType, 0, {a, kNoNode, kNoNode}}); }

namespace {

/// A null literal gets the other side's scale, so that CASE over numerics works without ELSE.
bool is_null_literal(const Program& program, const Node& node) {
  return node.kind == NodeKind::kConst && program.constants[node.imm].param < 0 && program.constants[node.imm].is_null;
}

}  // namespace

/// Brings two branches to one type.
Status Builder::unify(NodeId* a, NodeId* b) {
  const ValueType x = node(*a).type, y = node(*b).type;
  if (x == y) return Status::ok();
  auto numeric = [](ValueType type) { return type.type == TypeId::kNumeric || type.type == TypeId::kDecimal; };
  if (!numeric(x) || !numeric(y)) return unsupported("branches of different types");
  if (is_null_literal(program_, node(*b))) {
    *b = constant(x, true, {});
  } else if (is_null_literal(program_, node(*a))) {
    *a = constant(y, true, {});
  } else {
    *a = to_decimal(*a);
    *b = to_decimal(*b);
  }
  return Status::ok();
}

Result<NodeId> Builder::select(NodeId condition, NodeId if_true, NodeId if_false) {
  STROM_TRY(unify(&if_true, &if_false));
  return add({NodeKind::kSelect, node(if_true).type, 0, {condition, if_true, if_false}});
}

Result<NodeId> Builder::coalesce(NodeId a, NodeId b) {
  STROM_TRY(unify(&a, &b));
  return add({NodeKind::kCoalesce, node(a).type, 0, {a, b, kNoNode}});
}

NodeId Builder::assume(NodeId condition, NodeId arg, TypeId type) {
  return add({NodeKind::kAssume, {type, node(arg).type.scale}, 0, {arg, condition, kNoNode}});
}

}  // namespace strom::engine::plan
