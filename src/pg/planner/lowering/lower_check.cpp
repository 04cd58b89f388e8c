#include "pg/planner/lowering/lower_check.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/planner/lowering/lower.hpp"
#include "pg/planner/lowering/lower_aggregate.hpp"
#include "registry/functions.hpp"

namespace strom::pg::planner {

using engine::plan::Builder;
using engine::plan::NodeId;
using engine::plan::NodeKind;
using engine::plan::Program;
using engine::plan::ValueType;

namespace {

/// Makes every column of the query available by its type. For the checks here, its origin does not matter.
class AnyColumn : public Scope {
 public:
  AnyColumn(PlannerState* state, Builder& builder) : state_(state), builder_(builder) {}

  Result<NodeId> column(const Var& var) override {
    if (var.varlevelsup != 0) return Status(ErrorCode::kUnsupported, "reference to an outer query");
    if (!is_column(var.varattno)) return Status(ErrorCode::kUnsupported, "system column or whole row");
    const auto ordinal = static_cast<uint32_t>(var.varno) << 16 | (static_cast<uint32_t>(var.varattno) & 0xFFFF);
    const EngineScan* scan = scan_of(state_, var.varno);
    if (scan == nullptr) {
      STROM_ASSIGN(const ValueType type, value_type_of(var.vartype, var.vartypmod));
      return builder_.column(ordinal, type);
    }
    const ColumnFacts* facts = var.varattno <= scan->column_count ? facts_of(scan, var.varattno) : nullptr;
    if (facts == nullptr || !facts->readable)
      return Status(ErrorCode::kUnsupported,
                    facts != nullptr && facts->reason != nullptr ? facts->reason : "column is not read");
    if (facts->char_length == 0) return builder_.column(ordinal, facts->type);
    return char_of_text(builder_, builder_.column(ordinal, {registry::TypeId::kText, 0}), facts->char_length);
  }

 private:
  PlannerState* state_;
  Builder& builder_;
};

char* copy_reason(const std::string& reason) {
  const char* text = reason.c_str();
  return boundary::guard([text] { return pstrdup(text); });
}

int operations_of(const Program& program) {
  int count = 0;
  for (const auto& node : program.nodes)
    if (node.kind != NodeKind::kColumn && node.kind != NodeKind::kPayload && node.kind != NodeKind::kConst) ++count;
  return count;
}

/// Runs `lower` on a temporary program. nullptr when it succeeds, else the reason.
template <class F>
const char* reason_of(PlannerState* state, int* operations, F lower) {
  Program program;
  Builder builder(program);
  AnyColumn scope(state, builder);
  std::vector<const Node*> params;
  Lowering lowering(builder, scope, params, boundary::guard([state] { return most_weight(state); }));
  const Status status = lower(lowering, builder);
  if (!status.is_ok()) {
    if (status.code() == ErrorCode::kUnsupported) return copy_reason(status.message());
    throw boundary::StatusError(status);
  }
  *operations += operations_of(program);
  return nullptr;
}

/// Facts about an expression that depend on nothing else.
struct Judgement {
  const char* reason;  // why the engine cannot compute it
  int operations;
  bool raises, sortable;  // valid if there is no reason
};

Judgement judge_anew(PlannerState* state, const Node* expr) {
  return boundary::entry([&] {
    Judgement found{};
    found.reason = reason_of(state, &found.operations, [&](Lowering& lowering, Builder& builder) -> Status {
      STROM_ASSIGN(const NodeId id, lowering.lower(expr));
      found.raises = builder.raises(id);
      found.sortable = engine::plan::is_sortable(builder.node(id).type.type);
      return Status::ok();
    });
    return found;
  });
}

struct JudgedExpression {
  const Node* expr;  // the key
  Judgement judgement;
};

/// The same expression is asked about for each path, so results are cached by its address. The genetic optimizer frees
/// expressions, so an address could come to stand for another one; results are not cached then.
Judgement judge(PlannerState* state, const Node* expr) {
  if (state->judged == nullptr) {
    HASHCTL control;
    MemSet(&control, 0, sizeof(control));
    control.keysize = sizeof(const Node*);
    control.entrysize = sizeof(JudgedExpression);
    control.hcxt = state->root->planner_cxt;
    state->judged = hash_create("engine expressions", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  }
  auto* known = static_cast<JudgedExpression*>(hash_search(state->judged, &expr, HASH_FIND, nullptr));
  if (known != nullptr) return known->judgement;
  if (state->root->join_search_private != nullptr) return judge_anew(state, expr);
  const MemoryContext caller = MemoryContextSwitchTo(state->root->planner_cxt);
  const Judgement judgement = judge_anew(state, expr);
  MemoryContextSwitchTo(caller);
  known = static_cast<JudgedExpression*>(hash_search(state->judged, &expr, HASH_ENTER, nullptr));
  known->judgement = judgement;
  return judgement;
}

}  // namespace

const char* why_not_lowered(PlannerState* state, const Node* expr, int* operations) {
  const Judgement judgement = judge(state, expr);
  *operations += judgement.operations;
  return judgement.reason;
}

bool can_fail(PlannerState* state, const Node* expr) {
  const Judgement judgement = judge(state, expr);
  return judgement.reason != nullptr || judgement.raises;
}

bool is_sorted_by_engine(PlannerState* state, const Node* expr) {
  const Judgement judgement = judge(state, expr);
  return judgement.reason == nullptr && judgement.sortable;
}

void forget_judgements(PlannerState* state) { state->judged = nullptr; }

namespace {

const char* judge_key(PlannerState* state, const OpExpr* clause, bool right_may_raise, int* operations) {
  return boundary::entry([&]() -> const char* {
    return reason_of(state, operations, [clause, right_may_raise](Lowering& lowering, Builder& builder) -> Status {
      STROM_ASSIGN(const NodeId equals, lowering.lower(reinterpret_cast<const Node*>(clause)));
      const engine::plan::Node node = builder.node(equals);
      if (node.kind != NodeKind::kCall || !registry::is_equality(registry::kFunctions[node.imm].traits))
        return Status(ErrorCode::kUnsupported, "not an equality");
      STROM_ASSIGN(NodeId left, lowering.lower(static_cast<const Node*>(linitial(clause->args))));
      STROM_ASSIGN(NodeId right, lowering.lower(static_cast<const Node*>(lsecond(clause->args))));
      STROM_TRY(Lowering::match_keys(builder, &left, &right));
      // Two values outside of the engine's range could be equal, and the engine could neither store nor look up such a
      // key.
      if (builder.node(left).type.type == registry::TypeId::kNumeric && builder.raises(left) && builder.raises(right))
        return Status(ErrorCode::kUnsupported, "numeric join key that can exceed 38 digits on both sides");
      if (!right_may_raise && builder.raises(right))
        return Status(ErrorCode::kUnsupported, "key of a sub-query that can fail");
      return Status::ok();
    });
  });
}

/// Identifies a join clause that is asked about again. A clause that compares two columns is found by its contents,
/// because the genetic optimizer makes such clauses again each time. Others are found by their address.
struct KeyColumn {
  int relid, attnum;
  Oid type;
  int type_modifier;
};
struct ClauseKey {
  const OpExpr* clause;
  Oid op, collation;
  KeyColumn columns[2];
};

bool set_column(Node* side, KeyColumn* column) {
  column->type = exprType(side);
  column->type_modifier = exprTypmod(side);
  if (IsA(side, RelabelType)) side = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(side)->arg);
  const auto* var = reinterpret_cast<const Var*>(side);
  if (!IsA(var, Var) || var->varlevelsup != 0) return false;
  column->relid = static_cast<int>(var->varno);
  column->attnum = var->varattno;
  return true;
}

/// False when the clause cannot be found again.
bool make_key(const PlannerState* state, const OpExpr* clause, ClauseKey* key) {
  MemSet(key, 0, sizeof(*key));
  key->op = clause->opno;
  key->collation = clause->inputcollid;
  if (list_length(clause->args) == 2 && set_column(static_cast<Node*>(linitial(clause->args)), &key->columns[0]) &&
      set_column(static_cast<Node*>(lsecond(clause->args)), &key->columns[1]))
    return true;
  MemSet(key, 0, sizeof(*key));
  key->clause = clause;
  return state->root->join_search_private == nullptr;
}

}  // namespace

const char* why_not_membership_key(PlannerState* state, const OpExpr* clause, int* operations) {
  return judge_key(state, clause, false, operations);
}

// Results are cached: the same clause is asked about for very many pairs of relations.
const char* why_not_key(PlannerState* state, const OpExpr* clause, int* operations) {
  struct Judged {
    ClauseKey key;
    const char* reason;
    int operations;
  };
  ClauseKey key;
  if (!make_key(state, clause, &key)) return judge_key(state, clause, true, operations);
  if (state->keys == nullptr) {
    HASHCTL control;
    MemSet(&control, 0, sizeof(control));
    control.keysize = sizeof(key);
    control.entrysize = sizeof(Judged);
    control.hcxt = state->root->planner_cxt;
    state->keys = hash_create("engine join keys", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  }
  bool found;
  auto* judged = static_cast<Judged*>(hash_search(state->keys, &key, HASH_ENTER, &found));
  if (!found) {
    MemoryContext caller = MemoryContextSwitchTo(state->root->planner_cxt);
    judged->operations = 0;
    judged->reason = judge_key(state, clause, true, &judged->operations);
    MemoryContextSwitchTo(caller);
  }
  *operations += judged->operations;
  return judged->reason;
}

const char* why_not_aggregated(PlannerState* state, const Aggref* aggregate, int* operations) {
  return boundary::entry([&]() -> const char* {
    return reason_of(state, operations, [aggregate](Lowering& lowering, Builder& builder) -> Status {
      return lower_aggregate(lowering, builder, *aggregate).status();
    });
  });
}

}  // namespace strom::pg::planner
