// Builds expressions of a Program. Only this class knows which nodes an SQL expression needs (numeric scales, argument
// rescaling, IN lists). Used by src/pg/planner to lower PostgreSQL's expressions, and by tests.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "engine/plan/ir.hpp"
#include "registry/functions.hpp"

namespace strom::engine::plan {

/// All functions return kUnsupported with a readable reason when the engine cannot compute the expression.
/// Equal nodes are shared.
class Builder {
 public:
  explicit Builder(Program& program) : program_(program) {}

  NodeId column(uint32_t ordinal, ValueType type);
  NodeId payload(uint32_t join, uint32_t ordinal, ValueType type);
  /// `bytes`: register value of the type's physical kind, or the text. A null constant has empty bytes.
  NodeId constant(ValueType type, bool is_null, std::string bytes);
  NodeId parameter(ValueType type, int32_t param, bool may_raise);

  /// Calls a pg_catalog function with arguments of exactly the signature's types; inserts rescaling for numerics.
  /// `field`: EXTRACT/date_part field name, lower case. numeric(numeric, typmod) needs rescale() instead.
  Result<NodeId> call(std::string_view pg_name, const std::vector<NodeId>& args, std::string_view field = {});
  /// Casts a numeric to another scale. A cast to numeric(p, s) has a precision check.
  Result<NodeId> rescale(NodeId arg, int16_t scale);
  /// IN list: arg = ANY of the values, with NULL rules; `equals` is the name of the equality function.
  Result<NodeId> in_list(std::string_view equals, NodeId arg, const std::vector<NodeId>& values);

  NodeId logic_and(NodeId a, NodeId b);
  NodeId logic_or(NodeId a, NodeId b);
  NodeId logic_not(NodeId a);
  NodeId is_null(NodeId a);
  NodeId is_not_null(NodeId a);
  /// numeric or decimal to decimal.
  NodeId to_decimal(NodeId arg);
  /// Casts a decimal to a numeric of `scale`, rounded or truncated, with at most `precision` digits; 0: any number.
  Result<NodeId> fix_decimal(NodeId arg, int16_t scale, bool truncates, int precision);

  /// Both branches must have one type; numerics of different scales become decimals.
  Result<NodeId> select(NodeId condition, NodeId if_true, NodeId if_false);
  Result<NodeId> coalesce(NodeId a, NodeId b);
  /// `arg` as a value of `type`, which has the same register. Rows are fallback rows unless `condition` is true.
  NodeId assume(NodeId condition, NodeId arg, registry::TypeId type);

  const Node& node(NodeId id) const { return program_.nodes[id]; }
  /// The constant of a node that is one and not a parameter; else nullptr.
  const Constant* literal(NodeId id) const;
  /// True when evaluating the expression can fail for some rows (overflow, division by zero, ...).
  bool raises(NodeId id) const { return can_raise(program_, id); }

 private:
  struct NodeHash {
    size_t operator()(const Node& node) const;
  };
  struct SameNode {
    bool operator()(const Node& a, const Node& b) const;
  };

  NodeId numeric_cast(std::string_view pg_name, NodeId arg);
  void numerics_to_decimals(std::vector<NodeId>* args, std::vector<registry::TypeId>* types);
  Result<const registry::FunctionInfo*> function_for(std::string_view pg_name, std::vector<NodeId>* args,
                                                     std::string_view field);
  Result<int16_t> result_scale(const registry::FunctionInfo& info, std::vector<NodeId>* args);
  Status unify(NodeId* a, NodeId* b);
  NodeId add(const Node& node);
  Program& program_;
  std::unordered_map<Node, NodeId, NodeHash, SameNode> nodes_;
  std::unordered_multimap<size_t, uint32_t> constants_;  // hash of a literal, or of a parameter's number
};

}  // namespace strom::engine::plan
