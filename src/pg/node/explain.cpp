#include "pg/node/explain.hpp"

#include <cstdio>

#include "engine/plan/print.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/compat/explain.hpp"
#include "pg/explain/lines.hpp"
#include "pg/guc/guc.hpp"
#include "pg/node/node.hpp"

namespace strom::pg::node {

using boundary::guard;

namespace {

constexpr size_t kShownAtEachEnd = 2;  // shown at each end of a long list of partitions
constexpr size_t kShortenFrom = 6;

/// Numbers of rows that entered and left a stage; negative: unknown.
struct RowCounts {
  double plan_in = -1, plan_out = -1;
  int64_t exec_in = -1, exec_out = -1;
};

class Explainer {
 public:
  Explainer(CustomScanState* state, QueryRun& run, List* ancestors, ExplainState* es)
      : state_(state), run_(run), plan_(run.plan()), scan_(run.plan().custom_scan), es_(es) {
    auto* plan = state->ss.ps.plan;
    context_ = guard([=] { return set_deparse_context_plan(es->deparse_cxt, plan, ancestors); });
    prefix_ = es->verbose || compat::explained_tables(es) > 1;
    hide_ = guc::pg_strom::regression_test_mode;
    if (es->analyze) stats_ = run.stats();
  }

  void print() {
    expressions(device("Projection"), output_exprs());
    filter(device("Scan Quals"), probing(), counts_of_scan());
    for (size_t i = 0; i < plan_.joins.size(); ++i) join(i);
    List* join_filters = plan_.join_filters;
    if (join_filters != NIL) text(device("Join Filter"), conjunction(join_filters));
    expressions(device("Group Key"), plan_.group_keys);
    if (!plan_.grouping_sets.empty())
      number("Grouping Sets", nullptr, static_cast<int64_t>(plan_.grouping_sets.size()));
    if (const engine::plan::TopRows& top = plan_.program.pipelines.back().top; top.rows > 0)
      number(top.partition.empty() ? "Top Rows" : "Top Rows of Each Partition", nullptr, top.rows);
    sort_keys();
    block_ranges(probing());
    runs(probing());
    tables(probing());
    for (size_t i = 0; i < plan_.joins.size(); ++i) inner(i);
    unsupported();
    device_choice();
    if (es_->analyze) execution();
    if (es_->verbose) op_codes();
  }

 private:
  size_t probing() const { return plan_.pipelines.size() - 1; }

  std::string device(const std::string& what) const { return (is_gpu_plan(scan_) ? "GPU " : "CPU ") + what; }

  void text(const std::string& label, const std::string& value) {
    guard([&] { ExplainPropertyText(label.c_str(), value.c_str(), es_); });
  }

  void number(const std::string& label, const char* unit, int64_t value) {
    guard([&] { ExplainPropertyInteger(label.c_str(), unit, value, es_); });
  }

  std::string deparse(const void* expr) {
    return guard(
        [&] { return deparse_expression(static_cast<Node*>(const_cast<void*>(expr)), context_, prefix_, false); });
  }

  std::string conjunction(List* exprs) {
    return deparse(guard([exprs] { return make_ands_explicit(exprs); }));
  }

  List* output_exprs() {
    const List* tlist = scan_->custom_scan_tlist;
    const int count = static_cast<int>(plan_.outputs.size());
    return guard([=] {
      List* exprs = NIL;
      for (int i = 0; i < count; ++i) exprs = lappend(exprs, static_cast<TargetEntry*>(list_nth(tlist, i))->expr);
      return exprs;
    });
  }

  void expressions(const std::string& label, const List* exprs) {
    if (exprs == NIL) return;
    std::vector<std::string> texts;
    texts.reserve(list_length(exprs));
    for (int i = 0; i < list_length(exprs); ++i) texts.push_back(deparse(list_nth(exprs, i)));
    list_of(label, texts);
  }

  void list_of(const std::string& label, const std::vector<std::string>& texts) {
    guard([&] {
      List* list = NIL;
      for (const std::string& one : texts) list = lappend(list, const_cast<char*>(one.c_str()));
      ExplainPropertyList(label.c_str(), list, es_);
    });
  }

  void set_executed(RowCounts* counts, size_t pipeline, const std::string& stage) const {
    if (!es_->analyze || pipeline >= stats_.stages.size()) return;
    for (const auto& one : stats_.stages[pipeline]) {
      if (one.name != stage) continue;
      if (counts->exec_in < 0) counts->exec_in = one.rows_in;  // each conjunct may be a stage
      counts->exec_out = one.rows_out;
    }
  }

  void set_left(RowCounts* counts, const std::string& stage) const {
    RowCounts last;
    set_executed(&last, probing(), stage);
    if (last.exec_in >= 0) counts->exec_out = last.exec_out;
  }

  const char* kind_of(size_t join) const {
    using engine::plan::JoinKind;
    switch (plan_.program.joins[join].kind) {
      case JoinKind::kInner: return "";
      case JoinKind::kLeft: return "Left Outer ";
      case JoinKind::kSemi: return "Semi ";
      case JoinKind::kAnti: return "Anti ";
      case JoinKind::kRight: return "Right Outer ";
      case JoinKind::kFull: return "Full Outer ";
      case JoinKind::kRightSemi: return "Right Semi ";
      case JoinKind::kRightAnti: return "Right Anti ";
    }
    return "";
  }

  RowCounts counts_of_scan() const {
    RowCounts counts;
    counts.plan_in = plan_.rows_in;
    counts.plan_out = plan_.rows_out;
    set_executed(&counts, probing(), "filter");
    return counts;
  }

  // Appends "[plan: A -> B, exec: A -> B]" to the text, or writes separate properties.
  void counted(const std::string& label, std::string value, const RowCounts& counts) {
    const bool planned = counts.plan_in >= 0 && es_->costs, executed = counts.exec_in >= 0;
    if (es_->format != EXPLAIN_FORMAT_TEXT) {
      text(label, value);
      if (planned) number(label + " Plan Rows In", nullptr, static_cast<int64_t>(counts.plan_in));
      if (planned) number(label + " Plan Rows Out", nullptr, static_cast<int64_t>(counts.plan_out));
      if (executed) number(label + " Exec Rows In", nullptr, counts.exec_in);
      if (executed) number(label + " Exec Rows Out", nullptr, counts.exec_out);
      return;
    }
    const auto arrow = [](int64_t in, int64_t out) { return std::to_string(in) + " -> " + std::to_string(out); };
    if (planned || executed) value += " [";
    if (planned) value += "plan: " + arrow(static_cast<int64_t>(counts.plan_in), static_cast<int64_t>(counts.plan_out));
    if (planned && executed) value += ", ";
    if (executed) value += "exec: " + arrow(counts.exec_in, counts.exec_out);
    if (planned || executed) value += "]";
    text(label, value);
  }

  // Removes filters that are shown as joins.
  List* without_memberships(List* filters) {
    for (size_t i = 0; i < plan_.joins.size(); ++i)
      if (Node* filter = plan_.joins[i].membership)
        filters = guard([=] { return list_delete(list_copy(filters), filter); });
    return filters;
  }

  void filter(const std::string& label, size_t pipeline, const RowCounts& counts) {
    List* filters = pipeline == probing() ? without_memberships(plan_.pipelines[pipeline].filters)
                                          : plan_.pipelines[pipeline].filters;
    if (filters != NIL) counted(label, conjunction(filters), counts);
  }

  static const char* key_name(engine::plan::SpatialMatch match, bool inner) {
    switch (match) {
      case engine::plan::SpatialMatch::kNone: return "Hash";
      case engine::plan::SpatialMatch::kNear: return "Point";
      case engine::plan::SpatialMatch::kOverlaps: return "Box";
      default: return inner ? "Polygon" : "Point";
    }
  }

  void join(size_t index) {
    const std::string number = " [" + std::to_string(index + 1) + "]";
    const JoinSpec& spec = plan_.joins[index];
    const List *outer = spec.outer_keys, *inner = spec.inner_keys;
    List* further = spec.match_filters;
    std::string clauses;
    const engine::plan::SpatialMatch match = plan_.program.joins[index].spatial;
    const bool spatial = match != engine::plan::SpatialMatch::kNone;
    for (int i = 0; i < list_length(outer); ++i)
      if (inner != NIL && !spatial)
        clauses += (i > 0 ? " AND (" : "(") + deparse(list_nth(outer, i)) + " = " + deparse(list_nth(inner, i)) + ")";
    if (further != NIL) clauses += (clauses.empty() ? "" : " AND ") + conjunction(further);
    if (spec.membership != nullptr) clauses = deparse(spec.membership);
    if (clauses.empty()) clauses = "true";
    RowCounts counts;
    counts.plan_in = index == 0 ? plan_.rows_out : plan_.joins[index - 1].rows;
    counts.plan_out = spec.rows;
    const std::string stage = "join " + std::to_string(index + 1);
    set_executed(&counts, probing(), stage);
    set_left(&counts, stage + " matches");
    if (engine::plan::ends_probing(plan_.program.joins[index].kind)) {
      counts.exec_out = std::min<int64_t>(counts.exec_in, 0);
      set_left(&counts, stage + " matched");
      set_left(&counts, stage + " unmatched");
    }
    counted(device(std::string(kind_of(index)) + (spatial ? "GiST Join" : "Join Quals") + number), clauses, counts);
    expressions(device("Outer " + std::string(key_name(match, false)) + number), outer);
    expressions(device("Inner " + std::string(key_name(match, true)) + number), inner);
  }

  // The conditions of BRIN indexes, and the numbers of blocks that they kept and ruled out.
  void block_ranges(size_t pipeline) {
    List* filters = plan_.pipelines[pipeline].range_filters;
    if (filters == NIL) return;
    std::string value = conjunction(filters);
    const source::RowSource* rows = es_->analyze ? run_.sources().input(pipeline).rows() : nullptr;
    const auto [fetched, skipped] = rows != nullptr ? rows->blocks_read() : source::RowSource::Blocks();
    const bool plain = es_->format == EXPLAIN_FORMAT_TEXT;
    if (fetched >= 0 && plain)
      value += " [fetched: " + std::to_string(fetched) + ", skipped: " + std::to_string(skipped) + "]";
    text("Brin Quals", value);
    if (fetched < 0 || plain) return;
    number("Brin Blocks Fetched", nullptr, fetched);
    number("Brin Blocks Skipped", nullptr, skipped);
  }

  // The lines of the source about its run: values from caches, devices.
  void runs(size_t pipeline) {
    if (!es_->analyze || guc::pg_strom::regression_test_mode) return;
    if (const source::RowSource* rows = run_.sources().input(pipeline).rows()) rows->explain_runs(es_);
  }

  // "2 of 5 (one, two)": how many partitions remain, and the first and last of their names.
  void leaves(size_t pipeline) {
    const Partitions* partitions = run_.sources().input(pipeline).partitions();
    if (partitions == nullptr) return;
    const PipelineSpec& source = plan_.pipelines[pipeline];
    const size_t count = partitions->left().size();
    const bool shorten = count >= kShortenFrom && !guc::pg_strom::explain_developer_mode;
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      if (shorten && i == kShownAtEachEnd) {
        names.push_back("...");
        i = count - kShownAtEachEnd;
      }
      names.push_back(table_name(source.leaves[partitions->left()[i]].relid));
    }
    const bool executed = es_->analyze && partitions->prunes_scans();
    if (es_->format == EXPLAIN_FORMAT_TEXT) {
      std::string line = std::to_string(count) + " of " + std::to_string(source.leaf_count);
      for (size_t i = 0; i < names.size(); ++i) line += (i == 0 ? " (" : ", ") + names[i];
      if (!names.empty()) line += ")";
      if (executed) line += " [exec: " + std::to_string(partitions->read_count()) + "]";
      text("Partitions", line);
      return;
    }
    list_of("Partitions", names);
    number("Partitions Left", nullptr, static_cast<int64_t>(count));
    number("Partitions Before Pruning", nullptr, source.leaf_count);
    if (executed) number("Partitions Read", nullptr, static_cast<int64_t>(partitions->read_count()));
  }

  std::string table_name(Index relid) {
    return guard([&] {
      const Oid table = exec_rt_fetch(relid, state_->ss.ps.state)->relid;
      const char* schema = es_->verbose ? get_namespace_name_or_temp(get_rel_namespace(table)) : nullptr;
      return quote_qualified_identifier(schema, get_rel_name(table));
    });
  }

  // The conditions and joins that statistics of files can decide, and the numbers of record batches that they kept and
  // ruled out. Joins rule out batches of the probing side only.
  void statistics(size_t pipeline) {
    PipelineInput& input = run_.sources().input(pipeline);
    const std::optional<PipelineInput::Pruning> asked = input.pruning();
    const PipelineInput::Pruning pruning = asked.value_or(PipelineInput::Pruning());
    PipelineInput::BatchCounts counts = asked ? input.batch_counts() : PipelineInput::BatchCounts();
    if (asked && pipeline == probing()) {
      counts.chosen = stats_.chunks_loaded;
      counts.skipped += stats_.chunks_skipped;
    }
    std::vector<std::string> conditions;
    for (const Node* clause : pruning.clauses) {
      const std::string condition = deparse(clause);
      conditions.push_back(condition.starts_with('(') ? condition : "(" + condition + ")");
    }
    for (const engine::plan::KeyColumn& key : pruning.keys) {
      const auto at = static_cast<int>(key.key);
      const List *outer = plan_.joins[key.join].outer_keys, *inner = plan_.joins[key.join].inner_keys;
      if (inner != NIL)
        conditions.push_back("(" + deparse(list_nth(outer, at)) + " = " + deparse(list_nth(inner, at)) + ")");
      else if (Node* membership = plan_.joins[key.join].membership)
        conditions.push_back(deparse(membership));
    }
    explain::explain_statistics(conditions, es_->analyze ? counts.chosen : -1, counts.skipped, es_);
  }

  void tables(size_t pipeline) {
    statistics(pipeline);
    leaves(pipeline);
    if (const source::RowSource* table = run_.sources().input(pipeline).explained_table()) table->explain_table(es_);
  }

  void sort_keys() {
    const std::vector<engine::plan::SortKey>& order = plan_.program.pipelines.back().order;
    if (order.empty()) return;
    std::vector<std::string> keys;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto* entry = static_cast<TargetEntry*>(list_nth(scan_->custom_scan_tlist, plan_.order[i].output));
      const bool usual = order[i].nulls_first == order[i].descending;
      keys.push_back(deparse(entry->expr) + (order[i].descending ? " DESC" : "") +
                     (usual                  ? ""
                      : order[i].nulls_first ? " NULLS FIRST"
                                             : " NULLS LAST"));
    }
    list_of(device("Sort Key"), keys);
    if (es_->analyze && run_.sorted_by() != nullptr) text("Sorted by", run_.sorted_by());
  }

  // A relation that the engine reads itself. No PostgreSQL node shows it.
  void inner(size_t index) {
    const PipelineSpec& source = plan_.pipelines[index];
    if (source.relid == 0) return;
    const auto* names = es_->rtable_names;
    const std::string name = static_cast<char*>(list_nth(names, static_cast<int>(source.relid) - 1));
    const std::string label = "inner " + std::to_string(index + 1);
    const bool plain = es_->format == EXPLAIN_FORMAT_TEXT;
    guard([&] {
      if (plain) {
        ExplainPropertyText(label.c_str(), name.c_str(), es_);
        ++es_->indent;
      } else {
        ExplainOpenGroup(label.c_str(), label.c_str(), true, es_);
        ExplainPropertyText("Relation", name.c_str(), es_);
      }
    });
    RowCounts counts;
    set_executed(&counts, index, "filter");
    filter(device("Scan Quals"), index, counts);
    block_ranges(index);
    runs(index);
    tables(index);
    guard([&] {
      if (plain)
        --es_->indent;
      else
        ExplainCloseGroup(label.c_str(), label.c_str(), true, es_);
    });
  }

  // The expressions have the range table indexes of planning time.
  void unsupported() {
    const int offset = plan_.relid_offset;
    std::vector<std::string> lines;
    for (const UnsupportedSpec& one : plan_.unsupported) {
      if (one.expr == nullptr) {
        lines.emplace_back(strVal(one.reason));
        continue;
      }
      Node* expr = guard([&] {
        auto* copy = static_cast<Node*>(copyObjectImpl(one.expr));
        OffsetVarNodes(copy, offset, 0);
        return copy;
      });
      lines.push_back(deparse(expr) + " (" + strVal(one.reason) + ")");
    }
    if (es_->format == EXPLAIN_FORMAT_TEXT) {
      for (const std::string& line : lines) text("Not Offloaded", line);
    } else if (!lines.empty()) {
      list_of("Not Offloaded", lines);
    }
  }

  // Why the planner chose the device, if it had a choice.
  void device_choice() {
    const bool on_gpu = is_gpu_plan(scan_);
    const bool has_costs = !plan_.device_costs.empty();
    if (!has_costs && !on_gpu) return;
    std::string choice = on_gpu ? "GPU" : "CPU";
    const auto [cpu, gpu, cached] = has_costs ? plan_.device_costs.front() : DeviceCostSpec();
    const bool is_told = on_gpu && (!has_costs || gpu >= cpu);
    const bool shows_costs = es_->costs && !hide_ && has_costs;
    if (es_->format != EXPLAIN_FORMAT_TEXT) {
      text("Device Choice", choice);
      if (!shows_costs) return;
      guard([this, &costs = plan_.device_costs.front()] {
        ExplainPropertyFloat("CPU Cost", nullptr, costs.cpu, 2, es_);
        ExplainPropertyFloat("GPU Cost", nullptr, costs.gpu, 2, es_);
        if (costs.cached_bytes > 0) ExplainPropertyFloat("GPU Bytes Kept", nullptr, costs.cached_bytes, 0, es_);
      });
      return;
    }
    if (is_told) choice += ", by pg_strom.device";
    if (shows_costs) {
      char figures[96];
      std::snprintf(figures, sizeof figures, " (cost on CPU: %.2f, on GPU: %.2f", cpu, gpu);
      choice += figures;
      if (cached > 0) choice += ", kept there: " + explain::format_bytes(static_cast<int64_t>(cached));
      choice += ")";
    }
    text("Device Choice", choice);
  }

  void execution() {
    if (run_.fallback_rows() > 0) number("Rechecked", nullptr, run_.fallback_rows());
    if (stats_.partial_flushes > 0 && !hide_) number("Group Table Flushes", nullptr, stats_.partial_flushes);
    if (stats_.passes > 1 && !hide_) number("Join Passes", nullptr, stats_.passes);
    if (hide_) return;
    if (stats_.device_rows > 0)
      text("Device", gpus());
    else if (stats_.threads > 0)
      text("Device", std::string("CPU (") + engine::exec::isa_name(engine::exec::best_isa()) + ", " +
                         std::to_string(stats_.threads) + (stats_.threads == 1 ? " thread)" : " threads)"));
    if (stats_.device_rows > 0) device_bytes();
    if (stats_.device_joins.built + stats_.device_joins.cached > 0) device_joins();
    if (stats_.device_file_bytes > 0) {
      if (es_->format == EXPLAIN_FORMAT_TEXT)
        text("GPU-Direct SQL", explain::format_bytes(stats_.device_file_bytes));
      else
        number("GPU-Direct SQL", "B", stats_.device_file_bytes);
    }
    if (stats_.peak_memory > 0) {
      if (es_->format == EXPLAIN_FORMAT_TEXT)
        text("Engine Memory", explain::format_bytes(stats_.peak_memory));
      else
        number("Engine Memory", "B", stats_.peak_memory);
    }
    if (!es_->timing) return;
    for (size_t i = 0; i < stats_.milliseconds.size(); ++i) {
      const std::string label =
          i + 1 == stats_.milliseconds.size() ? "Engine Time" : "Build Time [" + std::to_string(i + 1) + "]";
      const double value = stats_.milliseconds[i];
      guard([&] { ExplainPropertyFloat(label.c_str(), "ms", value, 3, es_); });
    }
  }

  /// The names of the GPUs that processed rows.
  std::string gpus() const {
    std::string names;
    for (size_t i = 0; i < std::min(run_.devices().size(), stats_.rows_by_device.size()); ++i) {
      const service::RemoteDevice& device = *run_.devices()[i];
      if (stats_.rows_by_device[i] > 0)
        names += (names.empty() ? "GPU" : ", GPU") + std::to_string(device.number()) + " (" + device.name() + ")";
    }
    return names;
  }

  // Bytes of columns that were cached on the GPU, and bytes that were copied to it.
  void device_bytes() {
    const engine::op::DeviceBytes& bytes = stats_.device_bytes;
    explain::explain_counts(es_, "GPU Columns", "GPU Columns", "B", {{"Kept", bytes.cached}, {"Copied", bytes.copied}});
  }

  // Join tables that the GPU had cached from earlier queries, and those that this query built.
  void device_joins() {
    const engine::op::DeviceJoins& joins = stats_.device_joins;
    explain::explain_counts(es_, "GPU Join Tables", "GPU Join Tables", nullptr,
                            {{"Kept", joins.cached}, {"Built", joins.built}});
  }

  void nodes(const std::string& label, const std::vector<engine::plan::NodeId>& ids) {
    if (!ids.empty()) text(label, "{" + engine::plan::print_nodes(plan_.program, ids) + "}");
  }

  // "column 0: int4 fact.k": maps the numbers in other lines to columns.
  void load_codes(size_t pipeline, const std::string& index) {
    const PipelineSpec& source = plan_.pipelines[pipeline];
    const auto& types = plan_.program.sources[plan_.program.pipelines[pipeline].source].columns;
    std::string slots, columns;
    for (size_t i = 0; i < types.size(); ++i) {
      const std::string number = std::to_string(i), type = registry::type_info(types[i].type).pg_name;
      columns += (i == 0 ? "column " : ", column ") + number + ": " + type;
      slots += (i == 0 ? "<slot=" : ", <slot=") + number + ", type='" + type + "'";
      if (i < source.slots.size() && source.slots[i] > 0) {
        const auto* entry = static_cast<TargetEntry*>(list_nth(scan_->custom_scan_tlist, source.slots[i] - 1));
        const std::string expr = deparse(entry->expr);
        columns += " " + expr;
        slots += ", expr='" + expr + "'";
      }
      slots += ">";
    }
    if (columns.empty()) return;
    text("KVars-Slot" + index, slots);
    text("LoadVars OpCode" + index, "{" + columns + "}");
  }

  void op_codes() {
    const engine::plan::Program& program = plan_.program;
    const engine::plan::Pipeline& probe = program.pipelines.back();
    load_codes(probing(), "");
    for (size_t i = 0; i < plan_.joins.size(); ++i) load_codes(i, " [" + std::to_string(i + 1) + "]");
    nodes("Scan Quals OpCode", probe.quals);
    for (size_t i = 0; i < probe.joins.size(); ++i) {
      const std::string index = " [" + std::to_string(i + 1) + "]";
      const engine::plan::Join& join = program.joins[probe.joins[i]];
      nodes("Inner Quals OpCode" + index, program.pipelines[join.build_pipeline].quals);
      nodes("Join HashValue OpCode" + index, join.outer_keys);
      nodes("Inner HashValue OpCode" + index, join.inner_keys);
      nodes("Match Quals OpCode" + index, join.quals);
    }
    nodes("Join Quals OpCode", probe.join_quals);
    nodes("Projection OpCode", probe.outputs);
    if (!probe.grouping_sets.empty())
      text("Grouping Sets OpCode", "{" + engine::plan::print_sets(probe.grouping_sets) + "}");
    if (probe.top.rows > 0) text("Top Rows OpCode", "{" + engine::plan::print_top(program, probe.top) + "}");
    nodes("Group-By Key OpCode", probe.group_keys);
    std::string aggregates;
    for (const engine::plan::Aggregate& aggregate : probe.aggregates) {
      aggregates += aggregates.empty() ? "{" : ", ";
      aggregates += registry::aggregate_info(aggregate.id).name + 1;
      aggregates +=
          "(" + (aggregate.arg == engine::plan::kNoNode ? "*" : engine::plan::print_node(program, aggregate.arg)) + ")";
      if (aggregate.second != engine::plan::kNoNode)
        aggregates.insert(aggregates.size() - 1, ", " + engine::plan::print_node(program, aggregate.second));
      if (aggregate.filter != engine::plan::kNoNode)
        aggregates += " filter " + engine::plan::print_node(program, aggregate.filter);
    }
    if (!aggregates.empty()) text("Partial Aggregation OpCode", aggregates + "}");
  }

  CustomScanState* state_;
  QueryRun& run_;
  const PlanSpec& plan_;
  const CustomScan* scan_;
  ExplainState* es_;
  List* context_;
  bool prefix_, hide_;
  engine::exec::Stats stats_;
};

}  // namespace

void explain_run(CustomScanState* state, QueryRun& run, List* ancestors, ExplainState* es) {
  Explainer(state, run, ancestors, es).print();
}

}  // namespace strom::pg::node
