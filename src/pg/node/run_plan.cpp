#include "pg/node/run_plan.hpp"

#include "engine/plan/serialize.hpp"
#include "pg/boundary/boundary.hpp"

namespace strom::pg::node {

using namespace planner;

namespace {

std::vector<int> integers(const List* list, int from, int step) {
  std::vector<int> values;
  for (int i = from; i < list_length(list); i += step) values.push_back(list_nth_int(list, i));
  return values;
}

engine::plan::Program program_of(const CustomScan* plan) {
  const auto* literal = static_cast<const Const*>(linitial(plan->custom_private));
  const auto* bytes = reinterpret_cast<const bytea*>(DatumGetPointer(literal->constvalue));
  return boundary::value_or_throw(
      engine::plan::deserialize(std::string_view(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes))));
}

Output output_of(const List* fields, const engine::plan::Program& program) {
  Output output;
  output.kind = static_cast<OutputKind>(list_nth_int(fields, kOutputKind));
  output.index = list_nth_int(fields, kOutputIndex);
  output.length = list_nth_int(fields, kOutputLength);
  const int format = list_nth_int(fields, kOutputFormat);
  const int scale = list_nth_int(fields, kOutputScale);
  if (output.kind == OutputKind::kGrouping) return output;
  if (output.kind == OutputKind::kColumn) {
    output.type = {static_cast<registry::TypeId>(format), static_cast<int16_t>(scale)};
    return output;
  }
  const engine::plan::Aggregate& aggregate = program.pipelines.back().aggregates[static_cast<size_t>(output.index)];
  const bool has_argument = aggregate.arg != engine::plan::kNoNode;
  output.partial = {registry::aggregate_info(aggregate.id).acc, static_cast<registry::PartialFormat>(format),
                    has_argument ? program.nodes[aggregate.arg].type.type : registry::TypeId::kBool, scale,
                    output.length};
  return output;
}

void add_leaves(const List* fields, int offset, PipelineSource* source) {
  if (fields == NIL) return;
  source->leaf_count = linitial_int(fields);
  const int width = 1 + static_cast<int>(source->positions.size());
  for (int i = 1; i < list_length(fields); i += width) {
    LeafTable leaf{static_cast<Index>(list_nth_int(fields, i) + offset), {}};
    for (int j = 1; j < width; ++j) leaf.positions.push_back(list_nth_int(fields, i + j));
    source->leaves.push_back(std::move(leaf));
  }
}

}  // namespace

RunPlan::RunPlan(const CustomScan* plan) : custom_scan(plan), kind(plan_kind(plan)), program(program_of(plan)) {
  const int offset = range_table_offset(plan);
  const List* source_lists = plan_part(plan, kPlanSources);
  int child = 0;
  for (int i = 0; i < list_length(source_lists); ++i) {
    const auto* list = static_cast<const List*>(list_nth(source_lists, i));
    PipelineSource source;
    const int relid = linitial_int(list);
    if (relid < 0)
      source.subplan = -relid;
    else if (relid != 0)
      source.relid = static_cast<Index>(relid + offset);
    else
      source.child = child++;
    source.positions = integers(list, 1, 2);
    source.slots = integers(list, 2, 2);
    source.chooser = intVal(list_nth(plan_part(plan, kPlanChoosers), i));
    add_leaves(static_cast<const List*>(list_nth(plan_part(plan, kPlanLeaves), i)), offset, &source);
    source.pruning = static_cast<PartitionPruneInfo*>(list_nth(plan_part(plan, kPlanPruning), i));
    sources.push_back(std::move(source));
  }
  const List* output_lists = plan_part(plan, kPlanOutputs);
  for (int i = 0; i < list_length(output_lists); ++i)
    outputs.push_back(output_of(static_cast<const List*>(list_nth(output_lists, i)), program));
  const List* order_lists = plan_part(plan, kPlanOrder);
  for (int i = 0; i < list_length(order_lists); ++i) {
    const auto* fields = static_cast<const List*>(list_nth(order_lists, i));
    order.push_back({static_cast<AttrNumber>(list_nth_int(fields, kOrderOutput) + 1),
                     static_cast<Oid>(list_nth_int(fields, kOrderOperator)),
                     static_cast<Oid>(list_nth_int(fields, kOrderCollation)),
                     list_nth_int(fields, kOrderNullsFirst) != 0});
  }
  const List* sets = plan_part(plan, kPlanGroupingSets);
  for (int i = 0; i < list_length(sets); ++i) {
    const auto* set = static_cast<const List*>(list_nth(sets, i));
    grouping_sets.push_back({linitial_int(set) != 0, integers(set, 1, 1)});
  }
  const List* payloads = plan_part(plan, kPlanPayloads);
  for (int i = 0; i < list_length(payloads); ++i)
    payload_slots.push_back(integers(static_cast<const List*>(list_nth(payloads, i)), 0, 1));
}

Node* RunPlan::membership(size_t join) const {
  const auto* data = static_cast<List*>(list_nth(plan_part(custom_scan, kPlanMemberships), static_cast<int>(join)));
  return data == nullptr ? nullptr : static_cast<Node*>(linitial(data));
}

int RunPlan::membership_param(size_t join) const {
  const auto* data = static_cast<List*>(list_nth(plan_part(custom_scan, kPlanMemberships), static_cast<int>(join)));
  return data == nullptr ? -1 : intVal(lsecond(data));
}

List* RunPlan::filters(size_t pipeline) const {
  return static_cast<List*>(list_nth(plan_part(custom_scan, kPlanFilters), static_cast<int>(pipeline)));
}

List* RunPlan::range_filters(size_t pipeline) const {
  return static_cast<List*>(list_nth(plan_part(custom_scan, kPlanRangeFilters), static_cast<int>(pipeline)));
}

}  // namespace strom::pg::node
