// Lowers PostgreSQL expressions to expressions of an engine program. The path files use it to ask whether the engine
// can compute something, and make_plan.cpp to write the program. C++ code: throws PostgresError. An expression that
// cannot be lowered gives ErrorCode::kUnsupported with a reason for EXPLAIN.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "engine/plan/builder.hpp"
#include "geo/float_box.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/planner/state/expression_size.hpp"
#include "pg/table/value_type.hpp"
#include "registry/zoned.hpp"

namespace strom::pg::planner {

/// Maps columns of the query to nodes in the current pipeline.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual Result<engine::plan::NodeId> column(const Var& var) = 0;
};

using table::value_type_of;

/// kUnsupported for enum types with values that were inserted between others: PostgreSQL looks up the order of such
/// values.
Status check_enum_order(Oid type);

/// Converts a text of any length to char(length).
Result<engine::plan::NodeId> char_of_text(engine::plan::Builder& builder, engine::plan::NodeId text, int32_t length);

/// A call of a function of pg_catalog, or of another extension. In the latter case the name is "EXTENSION.NAME".
struct FunctionCall {
  const std::string name;
  const std::vector<const Node*>& args;
  const Oid collation;
  const Oid function;
};

/// One of the operators ~, !~, ~* and !~*.
struct RegexOperator {
  bool any_case, negated;
};

class Lowering {
 public:
  /// Expressions that become parameters are appended to `params`; the index there is the parameter's number.
  /// Expressions that are larger than `most_weight` or nested too deeply are unsupported.
  Lowering(engine::plan::Builder& builder, Scope& scope, std::vector<const Node*>& params, int most_weight = kAnyWeight)
      : builder_(builder), scope_(scope), params_(params), most_weight_(most_weight) {}

  /// Lowers an expression. A part that occurs several times (at the same address) is lowered once.
  Result<engine::plan::NodeId> lower(const Node* expr);

  /// Converts both sides of a hash join's key to one physical type and scale. Errors: kUnsupported.
  static Status match_keys(engine::plan::Builder& builder, engine::plan::NodeId* left, engine::plan::NodeId* right);

 private:
  using NodeId = engine::plan::NodeId;

  Status look_over(const Node* expr);
  Result<NodeId> lower_node(const Node* expr);
  Result<NodeId> operation(const Node* expr);
  Result<NodeId> constant(const Const& value);
  Result<NodeId> run_time_constant(const Node* expr);
  Result<NodeId> function(Oid function, const std::vector<const Node*>& args, Oid collation);
  Result<NodeId> plain_call(const FunctionCall& call);
#define STROM_LOWERING(member, ...) Result<NodeId> member(const FunctionCall& call __VA_OPT__(, ) __VA_ARGS__);
#define STROM_LOWERED(...)
#include "registry/lowered.def"
#undef STROM_LOWERING
#undef STROM_LOWERED
  /// A point as two numbers, or as a geometry (in `x`; there is no `y`).
  struct PointNodes {
    NodeId x = engine::plan::kNoNode, y = engine::plan::kNoNode;
    int32_t srid = 0;
    bool is_numbers() const { return y != engine::plan::kNoNode; }
  };
  Result<PointNodes> point_nodes(const Node* arg);
  Result<NodeId> point_value(const PointNodes& point);
  Result<NodeId> with_polygon(const Node* polygon, const Node* other, const std::string& relation);
  Result<NodeId> call_of_both(const std::string& name, const Node* a, const Node* b);
  Result<NodeId> printed(const Node* arg);
  Result<NodeId> bucket_between(NodeId before, NodeId behind, NodeId bucket, int32_t count);
  Result<NodeId> call(const char* name, const std::vector<NodeId>& args, Oid collation, const char* field = "");
  const std::string* case_table_of(const char* name, const std::vector<NodeId>& args, Oid collation);
  Result<NodeId> call_in_zone(const registry::ZonedFunction& function, std::vector<NodeId> args, const char* field);
  Result<NodeId> session_zone_stays();
  Result<NodeId> relabel(const RelabelType& relabel);
  Result<NodeId> logic(const BoolExpr& expr);
  Result<NodeId> boolean_test(const BooleanTest& test);
  Result<std::string> built_in_name(Oid function);
  Result<NodeId> array_op(const ScalarArrayOpExpr& op);
  Result<NodeId> any_element(int32_t wanted, NodeId x, Oid element, NodeId array, Oid collation);
  Result<NodeId> compared_with_array(const ScalarArrayOpExpr& op, const Node* array);
  Result<NodeId> subscript(const SubscriptingRef& ref);
  Result<NodeId> array_has_listed(const Node* array, const Node* list, bool all, Oid collation);
  Result<std::vector<NodeId>> array_elements(const Node* array);
  Result<std::vector<NodeId>> literal_keys(const Node* array);
  Result<NodeId> case_of(const CaseExpr& expr);
  Result<NodeId> coalesce(const CoalesceExpr& expr);
  Result<NodeId> min_max(const MinMaxExpr& expr);
  Result<NodeId> cast_through_text(const CoerceViaIO& cast);
  Result<NodeId> null_if(const OpExpr& expr);
  Result<NodeId> distinct_from(const OpExpr& expr);
  NodeId boolean(bool value);
  NodeId integer(int32_t value);

  engine::plan::Builder& builder_;
  Scope& scope_;
  std::vector<const Node*>& params_;
  const int most_weight_;
  int regexes_ = 0;                            // number of regular expressions that were compiled
  int depth_ = 0;                              // nesting depth of lower()
  NodeId case_value_ = engine::plan::kNoNode;  // operand of the innermost CASE x WHEN ...
  std::unordered_set<const Node*> row_constants_;
  std::map<const std::string*, NodeId> tables_;               // one literal for each table of case_table.hpp
  std::map<std::pair<const Node*, NodeId>, NodeId> lowered_;  // by expression and case_value_
};

}  // namespace strom::pg::planner
