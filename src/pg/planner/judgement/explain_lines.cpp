// The lines `Not Offloaded` of EXPLAIN (VERBOSE). For each PostgreSQL node of the plan over tables that the engine can
// read, they give the reasons that were noted during planning. May ereport.
#include <algorithm>
#include <initializer_list>

#include "pg/guc/guc.hpp"
#include "pg/node/node.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/planner/judgement/judgement.hpp"

namespace strom::pg::planner {

namespace {

/// What the plan has below a node.
struct Below {
  List* tables;     // of Alias*
  bool has_engine;  // includes a node of the engine
  bool is_grouped;  // the engine has grouped the rows
};

class Lines {
 public:
  Lines(const PlannedStmt* statement, const Judgements* judgements) : statement_(statement), judgements_(judgements) {}

  Below visit(const Plan* plan) {
    check_stack_depth();
    Below below = {NIL, false, false};
    if (plan == nullptr) return below;
    if (IsA(plan, CustomScan) && node::is_engine_plan(reinterpret_cast<const CustomScan*>(plan)))
      engine(reinterpret_cast<const CustomScan*>(plan), &below);
    else
      scan(plan, &below);
    const Below outer = visit(plan->lefttree), inner = visit(plan->righttree);
    add(&below, outer);
    add(&below, inner);
    children(plan, &below);
    if (IsA(plan, NestLoop) || IsA(plan, MergeJoin) || IsA(plan, HashJoin)) join(outer, inner, below);
    if (IsA(plan, Agg)) aggregation(reinterpret_cast<const Agg*>(plan), below);
    if (IsA(plan, Sort) || IsA(plan, IncrementalSort)) reasons({QueryPart::kOrder}, below.tables, NIL, NIL);
    return below;
  }

  List* take() const { return lines_; }

 private:
  static void add(Below* sum, const Below& more) {
    sum->tables = list_union_ptr(sum->tables, more.tables);
    sum->has_engine = sum->has_engine || more.has_engine;
    sum->is_grouped = sum->is_grouped || more.is_grouped;
  }

  void children_of(const List* plans, Below* below) {
    ListCell* cell;
    foreach (cell, plans) add(below, visit(static_cast<const Plan*>(lfirst(cell))));
  }

  void children(const Plan* plan, Below* below) {
    switch (nodeTag(plan)) {
      case T_Append: children_of(reinterpret_cast<const Append*>(plan)->appendplans, below); break;
      case T_MergeAppend: children_of(reinterpret_cast<const MergeAppend*>(plan)->mergeplans, below); break;
      case T_SubqueryScan: add(below, visit(reinterpret_cast<const SubqueryScan*>(plan)->subplan)); break;
      case T_CustomScan: children_of(reinterpret_cast<const CustomScan*>(plan)->custom_plans, below); break;
      default: break;
    }
  }

  // The table's alias; for a partition, that of its partitioned table.
  Alias* alias_of(Index relid) const {
    Alias* alias = rt_fetch(relid, statement_->rtable)->eref;
    for (int i = 0; i < list_length(judgements_->members); ++i)
      if (list_nth(judgements_->members, i) == alias) return static_cast<Alias*>(list_nth(judgements_->parents, i));
    return alias;
  }

  void engine(const CustomScan* plan, Below* below) {
    const node::PlanSummary summary = node::summary_of(plan);
    ListCell* cell;
    foreach (cell, summary.tables)
      below->tables = list_append_unique_ptr(below->tables, alias_of(static_cast<Index>(lfirst_int(cell))));
    shown_ = list_concat(shown_, summary.reasons);
    below->has_engine = true;
    below->is_grouped = summary.kind == node::PlanKind::kAggregation;
  }

  static Index scanned(const Plan* plan) {
    switch (nodeTag(plan)) {
      case T_SeqScan:
      case T_SampleScan:
      case T_IndexScan:
      case T_IndexOnlyScan:
      case T_BitmapHeapScan:
      case T_TidScan:
      case T_TidRangeScan:
      case T_ForeignScan:
      case T_CustomScan: return reinterpret_cast<const Scan*>(plan)->scanrelid;
      default: return 0;
    }
  }

  void scan(const Plan* plan, Below* below) {
    const Index relid = scanned(plan);
    if (relid == 0) return;
    Alias* table = alias_of(relid);
    below->tables = list_make1(table);
    if (!list_member_ptr(judgements_->known, table) || list_member_ptr(told_, table)) return;
    told_ = lappend(told_, table);
    // Expressions above a table's only scan may be the reason why the engine's scan is not worth it.
    const bool is_told =
        reasons({QueryPart::kColumn, QueryPart::kFilter, QueryPart::kOrder}, below->tables, NIL, NIL) ||
        is_hindered({QueryPart::kGroupKey, QueryPart::kAggregate}, below->tables);
    const char* reason = whole_reason(table);
    if (reason == nullptr && !guc::pg_strom::enable_gpuscan) reason = "pg_strom.enable_gpuscan is off";
    if (reason == nullptr) reason = "costs more in the engine";
    if (!is_told || whole_reason(table) != nullptr)
      line(psprintf("scan of %s", quote_identifier(table->aliasname)), reason);
  }

  const char* whole_reason(const Alias* table) const {
    ListCell* cell;
    foreach (cell, judgements_->all) {
      const auto* judgement = static_cast<const Judgement*>(lfirst(cell));
      if (judgement->part == QueryPart::kScan && linitial(judgement->tables) == table) return judgement->reason;
    }
    return nullptr;
  }

  void join(const Below& outer, const Below& inner, const Below& both) {
    if (!has_known(both.tables)) return;
    if (reasons({QueryPart::kJoin}, both.tables, outer.tables, inner.tables)) return;
    const char* reason = "the engine has no such join of these inputs";
    if (!guc::pg_strom::enable_gpujoin || !guc::pg_strom::enable_gpuhashjoin)
      reason = "pg_strom.enable_gpujoin or pg_strom.enable_gpuhashjoin is off";
    else if (is_offered(both.tables))
      reason = "costs more in the engine";
    else if (!is_read(outer.tables) && !is_read(inner.tables))
      reason = "its inputs do not run in the engine";
    line(psprintf("join of %s", names(both.tables)), reason);
  }

  void aggregation(const Agg* plan, const Below& below) {
    if (plan->aggsplit == AGGSPLIT_INITIAL_SERIAL || below.is_grouped || !has_known(below.tables)) return;
    if (reasons({QueryPart::kGroupKey, QueryPart::kAggregate}, below.tables, NIL, NIL)) return;
    const char* reason = "costs more in the engine";
    ListCell* cell;
    foreach (cell, judgements_->groups) {
      const auto* judgement = static_cast<const Judgement*>(lfirst(cell));
      if (judgement->reason != nullptr && same(judgement->tables, below.tables)) reason = judgement->reason;
    }
    line("aggregation", reason);
  }

  bool has_known(const List* tables) const {
    return list_length(list_difference_ptr(tables, judgements_->known)) < list_length(tables);
  }

  // True if the engine could read all tables.
  bool is_read(const List* tables) const {
    ListCell* cell;
    foreach (cell, tables) {
      const auto* table = static_cast<const Alias*>(lfirst(cell));
      if (!list_member_ptr(judgements_->known, table) || whole_reason(table) != nullptr) return false;
    }
    return true;
  }

  static bool within(const List* some, const List* all) { return list_difference_ptr(some, all) == NIL; }
  static bool same(const List* a, const List* b) { return within(a, b) && within(b, a); }

  bool is_offered(const List* tables) const {
    ListCell* cell;
    foreach (cell, judgements_->joins)
      if (same(static_cast<List*>(lfirst(cell)), tables)) return true;
    return false;
  }

  static bool is_one_of(QueryPart part, std::initializer_list<QueryPart> parts) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  }

  // True if an expression over `tables` has a reason.
  bool is_hindered(std::initializer_list<QueryPart> parts, const List* tables) const {
    ListCell* cell;
    foreach (cell, judgements_->all) {
      const auto* judgement = static_cast<const Judgement*>(lfirst(cell));
      if (is_one_of(judgement->part, parts) && judgement->reason != nullptr && within(judgement->tables, tables))
        return true;
    }
    return false;
  }

  // Writes a line for each expression over `tables` that is not over `left` or `right` alone; false when there are
  // none.
  bool reasons(std::initializer_list<QueryPart> parts, const List* tables, const List* left, const List* right) {
    bool any = false;
    ListCell* cell;
    foreach (cell, judgements_->all) {
      const auto* judgement = static_cast<const Judgement*>(lfirst(cell));
      if (!is_one_of(judgement->part, parts) || judgement->reason == nullptr || !within(judgement->tables, tables))
        continue;
      if ((left != NIL && within(judgement->tables, left)) || (right != NIL && within(judgement->tables, right)))
        continue;
      any = true;
      const char* what =
          judgement->part == QueryPart::kOrder ? psprintf("ORDER BY %s", judgement->text) : judgement->text;
      if (!is_shown(judgement->reason)) line(what, judgement->reason);
    }
    return any;
  }

  // True if a node of the engine already shows the reason.
  bool is_shown(const char* reason) const {
    ListCell* cell;
    foreach (cell, shown_)
      if (strcmp(static_cast<const char*>(lfirst(cell)), reason) == 0) return true;
    return false;
  }

  static const char* names(const List* tables) {
    StringInfoData text;
    initStringInfo(&text);
    ListCell* cell;
    foreach (cell, tables)
      appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "",
                       quote_identifier(static_cast<Alias*>(lfirst(cell))->aliasname));
    return text.data;
  }

  void line(const char* what, const char* reason) {
    char* text = psprintf("%s (%s)", what, reason);
    ListCell* cell;
    foreach (cell, lines_)
      if (strcmp(static_cast<char*>(lfirst(cell)), text) == 0) return;
    lines_ = lappend(lines_, text);
  }

  const PlannedStmt* statement_;
  const Judgements* judgements_;
  List* told_ = NIL;
  List* shown_ = NIL;  // of char*
  List* lines_ = NIL;
};

bool has_engine_node(const Plan* plan, const PlannedStmt* statement, const Judgements* judgements) {
  return Lines(statement, judgements).visit(plan).has_engine;
}

}  // namespace

List* not_offloaded(const PlannedStmt* statement, const Judgements* judgements) {
  if (judgements->known == NIL || statement->planTree == nullptr) return NIL;
  Lines lines(statement, judgements);
  lines.visit(statement->planTree);
  ListCell* cell;
  foreach (cell, statement->subplans) lines.visit(static_cast<const Plan*>(lfirst(cell)));
  return lines.take();
}

bool uses_engine(const PlannedStmt* statement) {
  const Judgements nothing = {};
  if (has_engine_node(statement->planTree, statement, &nothing)) return true;
  ListCell* cell;
  foreach (cell, statement->subplans)
    if (has_engine_node(static_cast<const Plan*>(lfirst(cell)), statement, &nothing)) return true;
  return false;
}

}  // namespace strom::pg::planner
