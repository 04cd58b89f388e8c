#include "pg/node/pipeline_input.hpp"

#include <algorithm>

#include "pg/boundary/boundary.hpp"
#include "pg/source/append_rows.hpp"
#include "pg/table/table_kind.hpp"

namespace strom::pg::node {

using boundary::guard;
using boundary::value_or_throw;

PipelineInput::PipelineInput(CustomScanState* state, const PlanSpec& plan, size_t pipeline)
    : state_(state), plan_(plan), pipeline_(pipeline), spec_(plan.pipelines[pipeline]) {
  if (!spec_.leaves.empty()) partitions_ = std::make_unique<Partitions>(state, plan, spec_);
  make_chunk_filter();
}

void PipelineInput::make_chunk_filter() {
  bool has_statistics = is_one_table() && table::kind(spec_.kind).has_statistics();
  for (const LeafSpec& leaf : spec_.leaves) has_statistics = has_statistics || table::kind(leaf.kind).has_statistics();
  if (!has_statistics) return;
  const auto column_of = [this](const Var* var) {
    const auto found = std::find(spec_.slots.begin(), spec_.slots.end(), var->varattno);
    return var->varno != INDEX_VAR || found == spec_.slots.end() ? -1 : static_cast<int>(found - spec_.slots.begin());
  };
  PlanState* parent = &state_->ss.ps;
  const auto compile = [parent](Node* expr) {
    return guard([=] { return ExecInitExpr(reinterpret_cast<Expr*>(expr), parent); });
  };
  chunk_filter_ = std::make_unique<pruning::ChunkFilter>(spec_.filters, column_of, compile);
}

std::unique_ptr<source::RowSource> PipelineInput::open_table(Index relid, table::KindNumber kind,
                                                             const std::vector<int>& positions) {
  EState* estate = state_->ss.ps.state;
  auto rows = table::kind(kind).open({exec_rt_fetch(relid, estate)->relid, relid, estate,
                                      std::vector<AttrNumber>(positions.begin(), positions.end()),
                                      &plan_.program.sources[pipeline_].columns});
  may_have_invalid_text_ = may_have_invalid_text_ || rows->may_have_invalid_text();
  return rows;
}

source::RowSource* PipelineInput::open() {
  if (rows_ != nullptr) return rows_.get();
  if (spec_.leaves.empty()) {
    rows_ = open_table(spec_.relid, spec_.kind, spec_.positions);
  } else {
    rows_ = std::make_unique<source::AppendRows>(spec_.leaves.size(), [this](size_t index) {
      const LeafSpec& leaf = spec_.leaves[index];
      return open_table(leaf.relid, leaf.kind, leaf.positions);
    });
  }
  return rows_.get();
}

void PipelineInput::begin_run() {
  open();
  restrict_batches();
  select_blocks();
  rows_->require_types(plan_.program.sources[pipeline_].columns);
  rows_->begin_run();
}

void PipelineInput::restrict_batches() {
  if (chunk_filter_ != nullptr) chunk_filter_->evaluate(state_->ss.ps.ps_ExprContext);
  if (partitions_ != nullptr)
    static_cast<source::AppendRows&>(*rows_).choose(partitions_->choose(), chunk_filter_.get());
  else if (chunk_filter_ != nullptr)
    rows_->restrict_to(*chunk_filter_);
  if (chunk_filter_ == nullptr) return;
  batch_counts_.skipped += rows_->skipped_chunks();
  if (rows_->feeder() == nullptr) batch_counts_.chosen += rows_->chunk_count();
}

void PipelineInput::select_blocks() {
  if (spec_.block_selector < 0 || blocks_selected_) return;
  rows_->select_blocks(static_cast<PlanState*>(list_nth(state_->custom_ps, spec_.block_selector)));
  blocks_selected_ = true;
}

void PipelineInput::restart(const std::vector<bool>& keep_children) {
  if (spec_.block_selector >= 0 && !keep_children[static_cast<size_t>(spec_.block_selector)]) blocks_selected_ = false;
}

std::vector<std::string> PipelineInput::storages() const {
  if (spec_.leaves.empty()) return {spec_.relid == 0 ? "" : rows_->storage()};
  const auto& leaves = static_cast<const source::AppendRows&>(*rows_);
  std::vector<std::string> storages;
  storages.reserve(spec_.leaves.size());
  for (size_t i = 0; i < spec_.leaves.size(); ++i)
    storages.push_back(leaves.leaf(i) == nullptr ? "" : leaves.leaf(i)->storage());
  return storages;
}

bool PipelineInput::is_smaller_than(int64_t bytes) {
  if (bytes == 0 || !is_one_table()) return false;
  const int64_t stored = open()->stored_bytes();
  return stored >= 0 && stored < bytes;
}

const source::RowSource* PipelineInput::explained_table() {
  return is_one_table() && table::kind(spec_.kind).is_opened_for_explain() ? open() : nullptr;
}

std::optional<PipelineInput::Pruning> PipelineInput::pruning() {
  if (chunk_filter_ == nullptr) return std::nullopt;
  if (spec_.leaves.empty()) open();
  if (rows_ == nullptr) return std::nullopt;
  Pruning result;
  const bool is_probing = pipeline_ + 1 == plan_.pipelines.size();
  const auto keys =
      is_probing ? engine::plan::deciding_key_columns(plan_.program) : std::vector<engine::plan::KeyColumn>();
  for (const pruning::ChunkStatistics* table : rows_->statistics()) {
    for (const Node* clause : chunk_filter_->useful_clauses(*table))
      if (std::find(result.clauses.begin(), result.clauses.end(), clause) == result.clauses.end())
        result.clauses.push_back(clause);
    for (const engine::plan::KeyColumn& key : keys) {
      const auto same = [&key](const auto& other) { return other.join == key.join && other.key == key.key; };
      if (rows_->feeder() == nullptr && value_or_throw(table->has_bounds(static_cast<int>(key.column))) &&
          std::none_of(result.keys.begin(), result.keys.end(), same))
        result.keys.push_back(key);
    }
  }
  return result;
}

}  // namespace strom::pg::node
