#include "engine/plan/errors.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "registry/functions.hpp"

namespace strom::engine::plan {

namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// True when the function has a value for all arguments in PostgreSQL, even where the engine makes fallback rows: for
/// other characters, wide numbers, odd spellings.
bool has_value_everywhere(const registry::FunctionInfo& function) {
  using registry::FunctionGroup;
  const std::string_view name = function.pg_name;
  switch (registry::kFunctionPlaces[static_cast<size_t>(function.id)].group) {
    case FunctionGroup::compare:
    case FunctionGroup::date_part:
    case FunctionGroup::array:
    case FunctionGroup::regex: return true;
    case FunctionGroup::text:
      return !is_one_of(name, {"substr", "substring", "split_part", "lpad", "rpad", "repeat", "chr"});
    case FunctionGroup::json:
      return !is_one_of(name, {"jsonb_array_length", "int2", "int4", "int8", "numeric", "float8", "bool"});
    case FunctionGroup::numeric:
      return is_one_of(name, {"numeric_add", "numeric_sub", "numeric_mul", "numeric_uminus", "numeric_abs", "abs"});
    case FunctionGroup::network:
      return name.starts_with("network") || is_one_of(name, {"inet_same_family", "family", "masklen", "host", "text",
                                                             "cidr", "broadcast", "netmask", "hostmask", "inetnot"});
    default: return false;
  }
}

/// True when the pattern has a value for all texts. Only a pattern that ends in an escape character does not.
bool is_sound_pattern(const Program& program, const Node& call) {
  const registry::FunctionInfo& function = registry::kFunctions[call.imm];
  if (!is_one_of(function.pg_name, {"textlike", "textnlike", "bpcharlike", "bpcharnlike"})) return true;
  const Node& pattern = program.nodes[call.args[1]];
  if (pattern.kind != NodeKind::kConst) return false;
  const Constant& constant = program.constants[pattern.imm];
  return constant.param < 0 && !constant.bytes.ends_with('\\');
}

bool is_an_error_itself(const Program& program, const Node& n) {
  if (n.kind == NodeKind::kConst) {
    const Constant& constant = program.constants[n.imm];
    return constant.may_raise && (constant.param >= 0 || constant.unheld);
  }
  if (n.kind == NodeKind::kNumericToInt || n.kind == NodeKind::kFixDecimal) return true;
  if (n.kind != NodeKind::kCall) return false;
  const registry::FunctionInfo& function = registry::kFunctions[n.imm];
  const bool raises = (function.traits & registry::kRaises) != 0;
  return raises && !(has_value_everywhere(function) && is_sound_pattern(program, n));
}

}  // namespace

bool can_be_an_error(const Program& program, NodeId id) {
  bool found = false;
  visit(program, id, [&](NodeId, const Node& n) {
    found = found || is_an_error_itself(program, n);
    return !found;
  });
  return found;
}

}  // namespace strom::engine::plan
