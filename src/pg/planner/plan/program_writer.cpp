#include "pg/planner/plan/program_writer.hpp"

#include "engine/plan/verify.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/planner/lowering/lower_aggregate.hpp"

namespace strom::pg::planner {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;
using engine::plan::Aggregate;
using engine::plan::NodeId;
using engine::plan::ValueType;
using node::OutputKind;

namespace {

bool is_float_average(const Aggref& aggregate) {
  return aggregate.aggfnoid == F_AVG_FLOAT4 || aggregate.aggfnoid == F_AVG_FLOAT8;
}

/// True if PostgreSQL uses one transition state for the average and a variance. The average's own state has no squares.
bool shares_state_with_variance(const Aggref& average, const List* outputs) {
  if (!is_float_average(average)) return false;
  for (int i = 0; i < list_length(outputs); ++i) {
    const auto* other = static_cast<const Aggref*>(list_nth(outputs, i));
    if (IsA(other, Aggref) && other->aggtransno == average.aggtransno && !is_float_average(*other)) return true;
  }
  return false;
}

/// The type of a column, whatever provides it. It has to be the type that paths were made with (lower_check.cpp).
Result<ValueType> column_type(PlannerState* state, const Var& var) {
  if (const EngineScan* scan = scan_of(state, static_cast<Index>(var.varno))) return facts_of(scan, var.varattno)->type;
  return value_type_of(var.vartype, var.vartypmod);
}

/// The n of char(n); -1 for other types.
int blank_padded_length(const Node* expr, registry::TypeId type) {
  if (type != registry::TypeId::kBpchar) return -1;
  const codec::SqlType declared = guard([expr] { return codec::SqlType{exprType(expr), exprTypmod(expr)}; });
  const int32_t typmod = codec::domain_base(declared).typmod;
  return typmod >= VARHDRSZ ? typmod - VARHDRSZ : -1;
}

// The position of a column among a node's outputs.
int output_of(const List* outputs, const Var* column) {
  for (int i = 0; i < list_length(outputs); ++i) {
    const auto* output = static_cast<const Var*>(list_nth(outputs, i));
    if (IsA(output, Var) && output->varno == column->varno && output->varattno == column->varattno) return i;
  }
  throw boundary::StatusError(Status(ErrorCode::kInternal, "sort key is not among the outputs of an engine plan"));
}

}  // namespace

/// The columns that a pipeline sees: those of its own source, and for the probing pipeline the payloads of its joins.
/// `tried_join`: the join whose conditions are being written.
class PipelineScope : public Scope {
 public:
  PipelineScope(ProgramWriter& writer, uint32_t pipeline, uint32_t tried_join = UINT32_MAX)
      : writer_(writer), pipeline_(pipeline), tried_join_(tried_join) {}

  Result<NodeId> column(const Var& var) override {
    SourceColumnRef ref;
    return pipeline_ == writer_.joins_.size() ? writer_.probing_column(var, tried_join_)
                                              : writer_.source_column(pipeline_, var, &ref);
  }

 private:
  ProgramWriter& writer_;
  uint32_t pipeline_, tried_join_;
};

ProgramWriter::ProgramWriter(PlannerState* state, const EngineInput* input, const List* child_plans)
    : state_(state), input_(input), builder_(program_) {
  int child = 0;
  for (int i = 0; i < list_length(input->joins); ++i) {
    joins_.push_back(static_cast<const EngineJoin*>(list_nth(input->joins, i)));
    const EngineJoin* join = joins_.back();
    const bool is_child = join->scan == nullptr && join->membership == nullptr;
    child_plans_.push_back(is_child ? static_cast<const Plan*>(list_nth(child_plans, child++)) : nullptr);
  }
  program_.sources.resize(joins_.size() + 1);
  program_.pipelines.resize(joins_.size() + 1);
  program_.joins.resize(joins_.size());
  sources_.resize(joins_.size() + 1);
  payloads_.resize(joins_.size());
  membership_params_.resize(joins_.size(), -1);
}

NodeId ProgramWriter::lower(uint32_t pipeline, const void* expr, uint32_t tried_join) {
  PipelineScope scope(*this, pipeline, tried_join);
  Lowering lowering(builder_, scope, params_);
  return value_or_throw(lowering.lower(static_cast<const Node*>(expr)));
}

// A column of the pipeline's own source; it is added to the source if it is new.
Result<NodeId> ProgramWriter::source_column(uint32_t pipeline, const Var& var, SourceColumnRef* ref) {
  *ref = {static_cast<Index>(var.varno), var.varattno, var.varattno};
  STROM_ASSIGN(ValueType type, column_type(state_, var));
  const EngineScan* scan = pipeline < joins_.size() ? joins_[pipeline]->scan : input_->scan;
  const int32_t char_length = scan != nullptr ? facts_of(scan, var.varattno)->char_length : 0;
  if (char_length > 0) type = {registry::TypeId::kText, 0};
  const uint64_t column = uint64_t{ref->varno} << 16 | static_cast<uint16_t>(ref->attnum);
  const auto [place, is_new] =
      source_places_.try_emplace({pipeline, column}, static_cast<uint32_t>(sources_[pipeline].size()));
  if (!is_new) {
    ref->position = sources_[pipeline][place->second].position;
  } else if (child_plans_.size() > pipeline && child_plans_[pipeline] != nullptr) {
    const List* tlist = child_plans_[pipeline]->targetlist;
    const TargetEntry* entry = nullptr;
    // Not equal(): since PostgreSQL 16 a column has different Vars above and below an outer join.
    for (int i = 0; i < list_length(tlist) && entry == nullptr; ++i) {
      const auto* candidate = static_cast<const TargetEntry*>(list_nth(tlist, i));
      const auto* column = reinterpret_cast<const Var*>(candidate->expr);
      if (IsA(column, Var) && column->varno == var.varno && column->varattno == var.varattno) entry = candidate;
    }
    if (entry == nullptr) return Status(ErrorCode::kInternal, "column of an inner relation is not delivered");
    ref->position = entry->resno;
  }
  if (is_new) {
    sources_[pipeline].push_back(*ref);
    program_.sources[pipeline].columns.push_back(type);
  }
  const NodeId stored = builder_.column(place->second, type);
  return char_length > 0 ? char_of_text(builder_, stored, char_length) : Result<NodeId>(stored);
}

Result<NodeId> ProgramWriter::probing_column(const Var& var, uint32_t tried_join) {
  SourceColumnRef ref;
  for (uint32_t i = 0; i < joins_.size(); ++i) {
    if (!bms_is_member(var.varno, joins_[i]->inner->relids)) continue;
    if (joins_[i]->kind == engine::plan::JoinKind::kAnti && i != tried_join) {  // the remaining rows have no match
      STROM_ASSIGN(const ValueType type, column_type(state_, var));
      return builder_.constant(type, true, {});
    }
    STROM_ASSIGN(const NodeId source, source_column(i, var, &ref));
    std::vector<NodeId>& payload = program_.joins[i].payload;
    const auto [place, is_new] = payload_places_.try_emplace({i, source}, static_cast<uint32_t>(payload.size()));
    if (is_new) {
      payload.push_back(source);
      payloads_[i].push_back(ref);
    }
    return builder_.payload(i, place->second, builder_.node(source).type);
  }
  return source_column(static_cast<uint32_t>(joins_.size()), var, &ref);
}

void ProgramWriter::write_join(uint32_t index) {
  const EngineJoin& join = *joins_[index];
  engine::plan::Pipeline& build = program_.pipelines[index];
  build.source = index;
  build.sink = engine::plan::SinkKind::kBuild;
  if (join.scan != nullptr)
    for (int i = 0; i < list_length(join.scan->quals); ++i)
      build.quals.push_back(lower(index, list_nth(join.scan->quals, i)));
  const auto probing = static_cast<uint32_t>(joins_.size());
  program_.joins[index].build_pipeline = index;
  if (join.spatial != engine::plan::SpatialMatch::kNone) write_spatial_keys(join, index);
  for (int i = 0; join.spatial == engine::plan::SpatialMatch::kNone && i < list_length(join.outer_keys); ++i) {
    NodeId outer = lower(probing, list_nth(join.outer_keys, i));
    NodeId inner = lower(index, list_nth(join.inner_keys, i));
    throw_if_failed(Lowering::match_keys(builder_, &outer, &inner));
    program_.joins[index].outer_keys.push_back(outer);
    program_.joins[index].inner_keys.push_back(inner);
  }
  program_.joins[index].kind = join.kind;
  for (int i = 0; i < list_length(join.match_quals); ++i)
    program_.joins[index].quals.push_back(lower(probing, list_nth(join.match_quals, i), index));
  program_.pipelines[probing].joins.push_back(index);
  if (join.membership != nullptr && join.membership->negated) write_null_rules(join, index);
}

void ProgramWriter::write_spatial_keys(const EngineJoin& join, uint32_t index) {
  const auto probing = static_cast<uint32_t>(joins_.size());
  for (int i = 0; i < list_length(join.outer_keys); ++i)
    program_.joins[index].outer_keys.push_back(lower(probing, list_nth(join.outer_keys, i)));
  for (int i = 0; i < list_length(join.inner_keys); ++i) {
    program_.joins[index].inner_keys.push_back(lower(index, list_nth(join.inner_keys, i)));
    lower(probing, list_nth(join.inner_keys, i), index);  // makes it a payload, which fallback rows need
  }
  program_.joins[index].spatial = join.spatial;
  program_.joins[index].srid = join.srid;
}

// Writes the rules of NOT IN about NULLs.
void ProgramWriter::write_null_rules(const EngineJoin& join, uint32_t index) {
  membership_params_[index] = static_cast<int>(params_.size());
  NodeId facts[node::kMembershipParamCount];
  for (int i = 0; i < node::kMembershipParamCount; ++i) {
    facts[i] = builder_.parameter({registry::TypeId::kBool, 0}, static_cast<int32_t>(params_.size()), false);
    params_.push_back(reinterpret_cast<const Node*>(join.membership->subplan));
  }
  engine::plan::Pipeline& probing = program_.pipelines.back();
  const NodeId key = lower(static_cast<uint32_t>(joins_.size()), join.membership->outer_key);
  probing.quals.push_back(facts[node::kHasNoNull]);
  probing.quals.push_back(builder_.logic_or(facts[node::kIsEmpty], builder_.is_not_null(key)));
}

void ProgramWriter::add_aggregate(const Aggref& aggregate, const List* outputs) {
  engine::plan::Pipeline& pipeline = program_.pipelines.back();
  PipelineScope scope(*this, static_cast<uint32_t>(joins_.size()));
  Lowering lowering(builder_, scope, params_);
  Aggregate lowered = value_or_throw(lower_aggregate(lowering, builder_, aggregate));
  if (shares_state_with_variance(aggregate, outputs))
    lowered.id = registry::find_aggregate("var_pop", 1, builder_.node(lowered.arg).type.type)->id;
  const registry::AggregateInfo& info = registry::aggregate_info(lowered.id);
  size_t index = 0;
  for (; index < pipeline.aggregates.size(); ++index) {  // sum(x) and avg(x) share an accumulator
    const Aggregate& known = pipeline.aggregates[index];
    if (registry::aggregate_info(known.id).acc == info.acc && known.arg == lowered.arg &&
        known.filter == lowered.filter && known.second == lowered.second)
      break;
  }
  if (index == pipeline.aggregates.size()) {
    pipeline.aggregates.push_back(lowered);
    const auto* argument = aggregate.args != NIL ? static_cast<const TargetEntry*>(linitial(aggregate.args)) : nullptr;
    const bool is_pair = lowered.second != engine::plan::kNoNode;
    const auto* second = is_pair ? static_cast<const TargetEntry*>(lsecond(aggregate.args)) : nullptr;
    aggregates_.push_back({argument != nullptr ? reinterpret_cast<const Node*>(argument->expr) : nullptr,
                           second != nullptr ? reinterpret_cast<const Node*>(second->expr) : nullptr,
                           reinterpret_cast<const Node*>(aggregate.aggfilter)});
  }
  const bool has_argument = lowered.arg != engine::plan::kNoNode;
  const ValueType type = has_argument ? builder_.node(lowered.arg).type : ValueType{registry::TypeId::kBool, 0};
  const bool same = info.format == registry::PartialFormat::kSame;
  const int length = same ? blank_padded_length(aggregates_[index].argument, type.type) : -1;
  outputs_.push_back({OutputKind::kAggregate,
                      static_cast<int>(index),
                      {},
                      -1,
                      {info.acc, info.format, type.type, type.scale, length}});
}

void ProgramWriter::add_output(const Node* expr, const List* all, const EngineAggregation* aggregation) {
  if (IsA(expr, Aggref)) {
    add_aggregate(*reinterpret_cast<const Aggref*>(expr), all);
    return;
  }
  if (IsA(expr, GroupingFunc)) {
    outputs_.push_back({OutputKind::kGrouping, 0, {}, -1, {}});
    return;
  }
  engine::plan::Pipeline& pipeline = program_.pipelines.back();
  const NodeId id = lower(static_cast<uint32_t>(joins_.size()), expr);
  std::vector<NodeId>& columns = aggregation != nullptr ? pipeline.group_keys : pipeline.outputs;
  // Two keys that lower to the same node may belong to different grouping sets.
  const bool apart = aggregation != nullptr && aggregation->sets != NIL;
  const auto [place, is_new] = output_places_.try_emplace(id, columns.size());
  const size_t index = apart ? columns.size() : place->second;
  if (apart || is_new) {
    columns.push_back(id);
    if (aggregation != nullptr) group_keys_.push_back(expr);
  }
  const ValueType type = builder_.node(id).type;
  outputs_.push_back({OutputKind::kColumn, static_cast<int>(index), type, blank_padded_length(expr, type.type), {}});
}

// A key belongs to the set unless its output is NULL there.
void ProgramWriter::add_grouping_set(const List* values) {
  uint64_t set = 0;
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i].kind == OutputKind::kColumn && list_nth_int(values, static_cast<int>(i) + 1) == 0)
      set |= uint64_t{1} << outputs_[i].index;
  program_.pipelines.back().grouping_sets.push_back(set);
}

void ProgramWriter::write(const List* outputs, const EngineAggregation* aggregation, const EngineTop* top,
                          const List* order) {
  engine::plan::Pipeline& probing = program_.pipelines.back();
  const auto index = static_cast<uint32_t>(joins_.size());
  probing.source = index;
  probing.sink = aggregation != nullptr ? engine::plan::SinkKind::kAggregate : engine::plan::SinkKind::kProject;
  for (int i = 0; i < list_length(input_->scan->quals); ++i)
    if (const void* qual = list_nth(input_->scan->quals, i); !is_membership(input_->scan, qual))
      probing.quals.push_back(lower(index, qual));
  for (uint32_t i = 0; i < joins_.size(); ++i) write_join(i);
  for (const EngineJoin* join : joins_)
    for (int i = 0; i < list_length(join->other_quals); ++i)
      probing.join_quals.push_back(lower(index, list_nth(join->other_quals, i)));
  for (int i = 0; i < list_length(outputs); ++i)
    add_output(static_cast<const Node*>(list_nth(outputs, i)), outputs, aggregation);
  for (int i = 0; aggregation != nullptr && i < list_length(aggregation->sets); ++i)
    add_grouping_set(static_cast<const List*>(list_nth(aggregation->sets, i)));
  if (top != nullptr) {
    probing.top = {static_cast<int64_t>(top->rows),
                   lower(index, top->key),
                   top->descending,
                   top->nulls_first,
                   {},
                   {},
                   top->distinct};
    for (int i = 0; i < list_length(top->partition); ++i)
      probing.top.partition.push_back(lower(index, list_nth(top->partition, i)));
    for (int i = 0; i < list_length(top->checked); ++i)
      probing.top.checked.push_back(lower(index, list_nth(top->checked, i)));
  }
  for (int i = 0; i < list_length(order); ++i) {
    const auto* key = static_cast<const EngineSortKey*>(list_nth(order, i));
    const int output = output_of(outputs, key->column);
    order_.push_back(output);
    probing.order.push_back(
        {static_cast<uint32_t>(outputs_[static_cast<size_t>(output)].index), key->descending, key->nulls_first});
  }
  // Rows without any value cannot be returned, so a constant is added.
  if (aggregation == nullptr && probing.outputs.empty())
    probing.outputs.push_back(builder_.constant({registry::TypeId::kBool, 0}, false, std::string(1, '\0')));
  throw_if_failed(engine::plan::verify(program_));
}

}  // namespace strom::pg::planner
