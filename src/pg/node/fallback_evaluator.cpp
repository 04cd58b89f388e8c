#include "pg/node/fallback_evaluator.hpp"

#include <cstring>

#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/codec/numeric.hpp"
#include "pg/codec/type_map.hpp"

namespace strom::pg::node {

using boundary::guard;
using boundary::throw_if_failed;
using engine::exec::Execution;
using engine::op::FallbackRow;
using engine::plan::Constant;
using engine::plan::ValueType;
using registry::Phys;
using registry::TypeId;

namespace {

ExprState* compile(Node* expr, PlanState* parent) {
  return expr == nullptr ? nullptr : guard([=] { return ExecInitExpr(reinterpret_cast<Expr*>(expr), parent); });
}

std::vector<ExprState*> compile(const List* exprs, PlanState* parent) {
  std::vector<ExprState*> states;
  states.reserve(list_length(exprs));
  for (int i = 0; i < list_length(exprs); ++i)
    states.push_back(compile(static_cast<Node*>(list_nth(exprs, i)), parent));
  return states;
}

ExprState* compile_filter(List* filters, PlanState* parent) {
  return filters == NIL ? nullptr : guard([=] { return ExecInitQual(filters, parent); });
}

Datum datum_of(const Constant& constant, int length) {
  registry::StrView text{constant.bytes.data(), static_cast<int64_t>(constant.bytes.size())};
  const void* value = constant.type.phys() == Phys::kStr ? static_cast<const void*>(&text) : constant.bytes.data();
  const TypeId type = constant.type.type;
  const int scale = constant.type.scale;
  return guard([=] { return codec::datum_from_register(type, scale, length, value, 0); });
}

template <class To, class From>
void widen(std::string* bytes) {
  From from;
  std::memcpy(&from, bytes->data(), sizeof from);
  const To to = from;
  bytes->assign(reinterpret_cast<const char*>(&to), sizeof to);
}

// Applies the casts that Lowering::match_keys() puts around a key.
void convert_key(TypeId from, TypeId to, std::string* bytes) {
  const Phys have = registry::type_info(from).phys, want = registry::type_info(to).phys;
  if (have == Phys::kI32 && want == Phys::kI64) widen<int64_t, int32_t>(bytes);
  if (have == Phys::kF32 && want == Phys::kF64) widen<double, float>(bytes);
  if (from == TypeId::kBpchar && to == TypeId::kText) bytes->erase(bytes->find_last_not_of(' ') + 1);
}

}  // namespace

FallbackEvaluator::FallbackEvaluator(CustomScanState* state, const PlanSpec& plan) : plan_(plan) {
  PlanState* parent = &state->ss.ps;
  context_ = guard([state] { return CreateExprContext(state->ss.ps.state); });
  slot_ = guard([state] {
    return ExecInitExtraTupleSlot(state->ss.ps.state, state->ss.ss_ScanTupleSlot->tts_tupleDescriptor, &TTSOpsVirtual);
  });
  context_->ecxt_scantuple = slot_;
  queue_memory_ = guard([this] {
    return AllocSetContextCreateInternal(context_->ecxt_per_query_memory, "rows that PostgreSQL decided",
                                         ALLOCSET_DEFAULT_SIZES);
  });
  for (const PipelineSpec& pipeline : plan.pipelines) filters_.push_back(compile_filter(pipeline.filters, parent));
  for (const JoinSpec& join : plan.joins) {
    match_filters_.push_back(compile_filter(join.match_filters, parent));
    outer_keys_.push_back(compile(join.outer_keys, parent));
    inner_keys_.push_back(compile(join.inner_keys, parent));
  }
  join_filters_ = compile_filter(plan.join_filters, parent);
  odd_rows_.resize(plan.joins.size());
  group_keys_ = compile(plan.group_keys, parent);
  for (const AggregateSpec& one : plan.aggregates)
    aggregates_.push_back({compile(one.argument, parent), compile(one.second, parent), compile(one.filter, parent)});
}

void FallbackEvaluator::bind(std::vector<source::RowSource*> sources) {
  sources_ = std::move(sources);
  for (uint32_t join = 0; join < odd_rows_.size(); ++join) begin_build(join);
  queue_.clear();
  pop();
}

void FallbackEvaluator::begin_build(uint32_t join) {
  OddRows& odd = odd_rows_[join];
  odd.rows.clear();
  odd.by_build_row.clear();
  odd.by_key.clear();
  if (MemoryContext memory = odd.memory) guard([memory] { MemoryContextReset(memory); });
}

void FallbackEvaluator::load_source(size_t pipeline, const FallbackRow& row) {
  const std::vector<int>& slots = plan_.pipelines[pipeline].slots;
  values_read_.resize(slots.size());
  nulls_read_.reset(new bool[slots.size()]);
  sources_[pipeline]->read(row.chunk, row.row, context_->ecxt_per_tuple_memory, values_read_.data(), nulls_read_.get());
  if (reasons_ != nullptr)
    reasons_->add(plan_.program.sources[plan_.program.pipelines[pipeline].source].columns, values_read_.data(),
                  nulls_read_.get());
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] <= 0) continue;
    slot_->tts_values[slots[i] - 1] = values_read_[i];
    slot_->tts_isnull[slots[i] - 1] = nulls_read_[i];
  }
}

bool FallbackEvaluator::passes(ExprState* filters) {
  if (filters == nullptr) return true;
  ExprContext* context = context_;
  return guard([=] {
    MemoryContext caller = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
    const bool result = ExecQual(filters, context);
    MemoryContextSwitchTo(caller);
    return result;
  });
}

FallbackEvaluator::Value FallbackEvaluator::evaluate(ExprState* expr) {
  ExprContext* context = context_;
  return guard([=] {
    Value value;
    MemoryContext caller = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
    value.datum = ExecEvalExpr(expr, context, &value.is_null);
    MemoryContextSwitchTo(caller);
    return value;
  });
}

// A copy of the value of `expr` in `memory`.
FallbackEvaluator::Value FallbackEvaluator::copied(Value value, const Node* expr, MemoryContext memory) {
  if (value.is_null) return value;
  return guard([=] {
    int16 length;
    bool by_value;
    get_typlenbyval(exprType(expr), &length, &by_value);
    MemoryContext caller = MemoryContextSwitchTo(memory);
    const Value copy{datumCopy(value.datum, by_value, length), false};
    MemoryContextSwitchTo(caller);
    return copy;
  });
}

// Decimals compare by their bits, so they need one form: see Lowering::match_keys().
bool shortest_decimal(Datum numeric, std::string* bytes) {
  return guard([=] {
    __int128 decimal = 0;
    const bool held = codec::numeric_to_shortest_decimal(numeric, &decimal);
    bytes->assign(reinterpret_cast<const char*>(&decimal), sizeof decimal);
    return held;
  });
}

// The value of a key in the engine's form. `held` is false if the engine cannot represent it.
Constant FallbackEvaluator::key(ExprState* expr, const ValueType& type, bool* held) {
  const Value value = evaluate(expr);
  Constant constant{type, value.is_null, -1, {}};
  *held = true;
  if (value.is_null) return constant;
  if (type.type == TypeId::kDecimal) {
    *held = shortest_decimal(value.datum, &constant.bytes);
    return constant;
  }
  const auto* node = reinterpret_cast<const Node*>(expr->expr);
  const Oid oid = guard([node] { return exprType(node); });
  const registry::TypeInfo* info = guard([oid] { return codec::engine_type(oid); });
  const TypeId from = info != nullptr ? info->id : type.type;
  *held = codec::register_bytes(from, type.scale, value.datum, &constant.bytes) == codec::Encoded::kDone;
  if (*held) convert_key(from, type.type, &constant.bytes);
  return constant;
}

// A hash of keys that the engine may be unable to represent; equal keys have equal hashes.
uint32_t FallbackEvaluator::hash_of(const std::vector<Value>& keys, const std::vector<ExprState*>& exprs) {
  uint32_t hash = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto* expr = reinterpret_cast<const Node*>(exprs[i]->expr);
    const Value key = keys[i];
    hash = hash * 31 + guard([=] {
             const bool hashes = !key.is_null && getBaseType(exprType(expr)) == NUMERICOID;
             return hashes ? DatumGetUInt32(DirectFunctionCall1(hash_numeric, key.datum)) : 0;
           });
  }
  return hash;
}

// Stores the row in the slot: a row of the build side of `join`, which the join table has as `build_row`.
void FallbackEvaluator::keep_odd_row(uint32_t join, int64_t build_row, bool has_odd_key) {
  OddRows& known = odd_rows_[join];
  if (known.memory == nullptr)
    known.memory = guard([this] {
      return AllocSetContextCreateInternal(context_->ecxt_per_query_memory, "rows with values of PostgreSQL's",
                                           ALLOCSET_DEFAULT_SIZES);
    });
  OddRow odd{build_row, has_odd_key, {}, {}};
  for (ExprState* expr : inner_keys_[join])
    odd.keys.push_back(copied(evaluate(expr), reinterpret_cast<Node*>(expr->expr), known.memory));
  for (const int slot : plan_.joins[join].payload_slots) {
    const auto* entry = static_cast<const TargetEntry*>(list_nth(plan_.custom_scan->custom_scan_tlist, slot - 1));
    odd.payload.push_back(copied({slot_->tts_values[slot - 1], slot_->tts_isnull[slot - 1]},
                                 reinterpret_cast<const Node*>(entry->expr), known.memory));
  }
  known.by_build_row[build_row] = known.rows.size();
  if (has_odd_key) known.by_key.emplace(hash_of(odd.keys, inner_keys_[join]), known.rows.size());
  known.rows.push_back(std::move(odd));
}

// Releases what the evaluation of the previous row used. Values stored out of line were fetched as a whole.
void FallbackEvaluator::begin_row() {
  guard([this] {
    ResetExprContext(context_);
    ExecStoreAllNullTuple(slot_);
  });
}

void FallbackEvaluator::decide_build(const FallbackRow& row, uint32_t join, Execution& execution) {
  begin_row();
  load_source(row.pipeline, row);
  if (!passes(filters_[row.pipeline])) return;
  const engine::plan::Program& program = plan_.program;
  std::vector<Constant> keys, payload;
  const bool stays = engine::plan::keeps_unmatched(program.joins[join].kind);
  bool odd_key = false, odd_payload = false;
  for (size_t i = 0; i < inner_keys_[join].size(); ++i) {
    bool held;
    keys.push_back(key(inner_keys_[join][i], program.nodes[program.joins[join].inner_keys[i]].type, &held));
    if (keys.back().is_null && !stays) return;  // matches nothing
    if (held) continue;
    odd_key = true;
    keys.back() = {keys.back().type, true, -1, {}};  // the table's look-up does not find it
  }
  for (size_t i = 0; i < program.joins[join].payload.size(); ++i) {
    const ValueType type = program.nodes[program.joins[join].payload[i]].type;
    const int attribute = plan_.joins[join].payload_slots[i] - 1;
    Constant value{type, slot_->tts_isnull[attribute], -1, {}};
    if (!value.is_null)
      value.unheld = codec::register_bytes(type.type, type.scale, slot_->tts_values[attribute], &value.bytes) !=
                     codec::Encoded::kDone;
    odd_payload = odd_payload || value.unheld;
    payload.push_back(std::move(value));
  }
  const int64_t number = boundary::value_or_throw(execution.add_build_row(join, keys, payload));
  const bool of_other_pass = number < 0;
  if (!of_other_pass && (odd_key || odd_payload)) keep_odd_row(join, number, odd_key);
}

void FallbackEvaluator::decide(const FallbackRow& row, Execution& execution) {
  begin_row();
  if (row.build_join >= 0) {
    const auto depth = static_cast<size_t>(row.build_join);
    if (reasons_ != nullptr) reasons_->add_joined();
    load_payload(depth, row.inner_rows[depth], execution);
    join(depth + 1, row, execution);
    return;
  }
  load_source(row.pipeline, row);
  if (passes(filters_[row.pipeline])) join(0, row, execution);
}

// Joins as the engine does, one join after the other in the planner's order.
void FallbackEvaluator::join(size_t depth, const FallbackRow& row, Execution& execution) {
  using engine::plan::JoinKind;
  boundary::check_for_interrupts();
  if (depth == plan_.joins.size()) {
    if (passes(join_filters_)) emit();
    return;
  }
  const engine::plan::Program& program = plan_.program;
  const uint32_t index = program.pipelines.back().joins[depth];
  const JoinKind kind = program.joins[index].kind;
  if (plan_.joins[index].membership != nullptr) {  // a filter that the row has passed; see decide()
    if (is_in_pass(depth, execution)) join(depth + 1, row, execution);
    return;
  }
  std::vector<int64_t> candidates;
  const bool known = depth < row.inner_rows.size() && row.inner_rows[depth] >= 0;
  if (known)
    candidates.push_back(row.inner_rows[depth]);
  else if (!find_candidates(depth, execution, &candidates))
    return;
  bool matched = false;
  for (const int64_t candidate : candidates) {
    load_payload(depth, candidate, execution);
    if (!known && !passes(match_filters_[depth])) continue;
    matched = true;
    if (kind == JoinKind::kAnti) return;
    if (engine::plan::marks_matches(kind)) execution.mark_matched(index, candidate);
    if (!engine::plan::ends_probing(kind)) join(depth + 1, row, execution);
    if (kind == JoinKind::kSemi) return;
  }
  if (matched || !(engine::plan::may_miss(kind) || kind == JoinKind::kAnti)) return;
  clear_payload(depth);
  join(depth + 1, row, execution);
}

// The row's keys in the form of the join table. Keys that the engine cannot represent become NULL, as in
// decide_build().
FallbackEvaluator::Keys FallbackEvaluator::outer_key_values(size_t depth) {
  const engine::plan::Program& program = plan_.program;
  const uint32_t join = program.pipelines.back().joins[depth];
  Keys keys;
  for (size_t i = 0; i < outer_keys_[depth].size(); ++i) {
    bool key_held;
    keys.values.push_back(key(outer_keys_[depth][i], program.nodes[program.joins[join].outer_keys[i]].type, &key_held));
    keys.has_null = keys.has_null || keys.values.back().is_null;
    keys.held = keys.held && key_held;
    if (!key_held) keys.values.back() = {keys.values.back().type, true, -1, {}};
  }
  return keys;
}

bool FallbackEvaluator::is_in_pass(size_t depth, const Execution& execution) {
  const uint32_t join = plan_.program.pipelines.back().joins[depth];
  return !execution.is_partitioned(join) || execution.is_in_pass(join, outer_key_values(depth).values);
}

// Finds the build rows with the row's key. False when the row belongs to another pass over the outer side.
bool FallbackEvaluator::find_candidates(size_t depth, const Execution& execution, std::vector<int64_t>* candidates) {
  const uint32_t join = plan_.program.pipelines.back().joins[depth];
  const Keys keys = outer_key_values(depth);
  if (!execution.is_in_pass(join, keys.values)) return false;
  if (keys.has_null) return true;
  if (keys.held) {
    throw_if_failed(execution.lookup(join, keys.values, candidates));
    return true;
  }
  find_odd_candidates(depth, candidates);
  return true;
}

// Finds the build rows whose key equals the row's key, where the engine cannot represent this key. PostgreSQL compares.
void FallbackEvaluator::find_odd_candidates(size_t depth, std::vector<int64_t>* candidates) {
  const OddRows& odd_rows = odd_rows_[plan_.program.pipelines.back().joins[depth]];
  if (odd_rows.by_key.empty()) return;
  std::vector<Value> keys;
  for (ExprState* expr : outer_keys_[depth]) keys.push_back(evaluate(expr));
  const auto [first, last] = odd_rows.by_key.equal_range(hash_of(keys, outer_keys_[depth]));
  for (auto found = first; found != last; ++found) {
    const OddRow& odd = odd_rows.rows[found->second];
    bool equal = true;
    for (size_t i = 0; i < keys.size() && equal; ++i) equal = keys_equal(depth, i, keys[i], odd.keys[i]);
    if (equal) candidates->push_back(odd.build_row);
  }
}

bool FallbackEvaluator::keys_equal(size_t depth, size_t key, const Value& outer, const Value& inner) {
  if (outer.is_null || inner.is_null) return false;
  const auto* left = reinterpret_cast<const Node*>(outer_keys_[depth][key]->expr);
  const Oid equals = list_nth_oid(plan_.joins[depth].key_operators, static_cast<int>(key));
  return guard([=] {
    return DatumGetBool(OidFunctionCall2Coll(get_opcode(equals), exprCollation(left), outer.datum, inner.datum));
  });
}

void FallbackEvaluator::load_payload(size_t join, int64_t row, const Execution& execution) {
  const std::vector<int>& slots = plan_.joins[join].payload_slots;
  const auto found = odd_rows_[join].by_build_row.find(row);
  if (found != odd_rows_[join].by_build_row.end()) {
    const OddRow& odd = odd_rows_[join].rows[found->second];
    for (size_t i = 0; i < slots.size(); ++i) {
      slot_->tts_values[slots[i] - 1] = odd.payload[i].datum;
      slot_->tts_isnull[slots[i] - 1] = odd.payload[i].is_null;
    }
    return;
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    const Constant value = execution.payload(static_cast<uint32_t>(join), static_cast<uint32_t>(i), row);
    const int attribute = slots[i] - 1;
    slot_->tts_isnull[attribute] = value.is_null;
    if (value.is_null) continue;
    const Form_pg_attribute column = TupleDescAttr(slot_->tts_tupleDescriptor, attribute);
    const codec::SqlType type = codec::domain_base({column->atttypid, column->atttypmod});
    const bool padded = type.oid == BPCHAROID && type.typmod >= VARHDRSZ;
    MemoryContext caller = MemoryContextSwitchTo(context_->ecxt_per_tuple_memory);
    slot_->tts_values[attribute] = datum_of(value, padded ? type.typmod - VARHDRSZ : -1);
    MemoryContextSwitchTo(caller);
  }
}

void FallbackEvaluator::clear_payload(size_t join) {
  for (const int slot : plan_.joins[join].payload_slots) slot_->tts_isnull[slot - 1] = true;
}

// Makes output `i` of a row a lasting copy of `value`.
void FallbackEvaluator::queue_value(Value value, size_t i, Row* row) {
  row->values[i] = value.datum;
  row->nulls[i] = value.is_null;
  const Form_pg_attribute attribute = TupleDescAttr(slot_->tts_tupleDescriptor, static_cast<int>(i));
  if (value.is_null || attribute->attbyval) return;
  MemoryContext memory = queue_memory_;
  row->values[i] = guard([=] {
    MemoryContext caller = MemoryContextSwitchTo(memory);
    const Datum copy = datumCopy(value.datum, false, attribute->attlen);
    MemoryContextSwitchTo(caller);
    return copy;
  });
}

// Queues the result of the row in the slot: its outputs, or a group of its own.
void FallbackEvaluator::emit() {
  const size_t count = plan_.outputs.size();
  MemoryContext memory = queue_memory_;
  Row row = guard([=] {
    Row made;
    made.values = static_cast<Datum*>(MemoryContextAllocZero(memory, sizeof(Datum) * (count + 1)));
    made.nulls = static_cast<bool*>(MemoryContextAllocZero(memory, sizeof(bool) * (count + 1)));
    return made;
  });
  for (size_t i = 0; i < count; ++i) {
    const OutputSpec& output = plan_.outputs[i];
    if (plan_.kind != PlanKind::kAggregation) {
      queue_value({slot_->tts_values[i], slot_->tts_isnull[i]}, i, &row);
      continue;
    }
    const auto index = static_cast<size_t>(output.index);
    if (output.kind == OutputKind::kGrouping) continue;
    if (output.kind == OutputKind::kColumn) {
      queue_value(evaluate(group_keys_[index]), i, &row);
      continue;
    }
    const Aggregate& aggregate = aggregates_[index];
    Value counted{BoolGetDatum(true), false};
    if (aggregate.filter != nullptr) counted = evaluate(aggregate.filter);
    const bool takes = !counted.is_null && DatumGetBool(counted.datum);
    Value argument{Datum{0}, true};
    if (takes && aggregate.argument != nullptr) argument = evaluate(aggregate.argument);
    Value second{Datum{0}, false};
    if (takes && aggregate.second != nullptr) second = evaluate(aggregate.second);
    queue_value(guard([&] {
                  MemoryContext caller = MemoryContextSwitchTo(context_->ecxt_per_tuple_memory);
                  Value state;
                  state.datum = partial_state_of_row(output.partial, argument.datum, second.datum,
                                                     argument.is_null || second.is_null, takes, &state.is_null);
                  MemoryContextSwitchTo(caller);
                  return state;
                }),
                i, &row);
  }
  queue_.push_back(row);
}

bool FallbackEvaluator::pop() {
  if (queue_.empty()) {
    guard([this] {
      ResetExprContext(context_);
      MemoryContextReset(queue_memory_);
    });
    return false;
  }
  current_ = queue_.front();
  queue_.pop_front();
  return true;
}

}  // namespace strom::pg::node
