#include "pg/node/pipeline_input.hpp"

#include <algorithm>
#include <filesystem>

#include "pg/boundary/boundary.hpp"
#include "pg/compat/heap.hpp"
#include "pg/guc/guc.hpp"
#include "pg/source/append_rows.hpp"
#include "pg/source/block_ranges.hpp"

namespace strom::pg::node {

using boundary::guard;
using boundary::value_or_throw;

PipelineInput::PipelineInput(CustomScanState* state, const PlanSpec& plan, size_t pipeline)
    : state_(state), plan_(plan), pipeline_(pipeline), spec_(plan.pipelines[pipeline]) {
  if (!spec_.leaves.empty()) partitions_ = std::make_unique<Partitions>(state, plan, spec_);
  make_batch_filter();
}

bool PipelineInput::is_file(Index relid) const {
  return exec_rt_fetch(relid, state_->ss.ps.state)->relkind == RELKIND_FOREIGN_TABLE;
}

void PipelineInput::make_batch_filter() {
  bool reads_files = is_one_file_table();
  for (const LeafSpec& leaf : spec_.leaves) reads_files = reads_files || is_file(leaf.relid);
  if (!reads_files || !guc::arrow_fdw::stats_hint_enabled) return;
  const auto column_of = [this](const Var* var) {
    const auto found = std::find(spec_.slots.begin(), spec_.slots.end(), var->varattno);
    return var->varno != INDEX_VAR || found == spec_.slots.end() ? -1 : static_cast<int>(found - spec_.slots.begin());
  };
  PlanState* parent = &state_->ss.ps;
  const auto compile = [parent](Node* expr) {
    return guard([=] { return ExecInitExpr(reinterpret_cast<Expr*>(expr), parent); });
  };
  batch_filter_ = std::make_unique<files::BatchFilter>(spec_.filters, column_of, compile);
}

std::unique_ptr<source::RowSource> PipelineInput::open_table(Index relid, const std::vector<int>& positions) {
  const std::vector<AttrNumber> attributes(positions.begin(), positions.end());
  EState* estate = state_->ss.ps.state;
  if (is_file(relid)) {
    reads_files_ = true;
    return std::make_unique<source::ArrowRows>(files::Source::open(exec_rt_fetch(relid, estate)->relid, attributes));
  }
  const Relation relation = guard([&] { return compat::relation_of(estate, relid); });
  return std::make_unique<source::HeapRows>(relation, estate->es_snapshot, attributes,
                                            plan_.program.sources[pipeline_].columns);
}

source::RowSource* PipelineInput::open() {
  if (rows_ != nullptr) return rows_.get();
  if (spec_.leaves.empty()) {
    rows_ = open_table(spec_.relid, spec_.positions);
    if (!is_file(spec_.relid)) heap_ = static_cast<source::HeapRows*>(rows_.get());
  } else {
    rows_ = std::make_unique<source::AppendRows>(spec_.leaves.size(), [this](size_t index) {
      const LeafSpec& leaf = spec_.leaves[index];
      return open_table(leaf.relid, leaf.positions);
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
  if (batch_filter_ != nullptr) batch_filter_->evaluate(state_->ss.ps.ps_ExprContext);
  if (partitions_ != nullptr)
    static_cast<source::AppendRows&>(*rows_).choose(partitions_->choose(), batch_filter_.get());
  else if (batch_filter_ != nullptr)
    rows_->restrict_to(*batch_filter_);
  if (batch_filter_ == nullptr) return;
  batch_counts_.skipped += rows_->skipped_chunks();
  if (rows_->feeder() == nullptr) batch_counts_.chosen += rows_->chunk_count();
}

void PipelineInput::select_blocks() {
  if (spec_.block_selector < 0 || blocks_selected_) return;
  auto* selector = static_cast<PlanState*>(list_nth(state_->custom_ps, spec_.block_selector));
  if (IsA(selector, SampleScanState))
    heap_->take_sample(source::TableSample(reinterpret_cast<SampleScanState*>(selector)));
  else
    heap_->restrict_to(source::block_ranges(selector));
  blocks_selected_ = true;
}

void PipelineInput::restart(const std::vector<bool>& keep_children) {
  if (spec_.block_selector >= 0 && !keep_children[static_cast<size_t>(spec_.block_selector)]) blocks_selected_ = false;
}

std::string PipelineInput::storage_of(const source::RowSource& rows, Index relid) const {
  for (const files::Source* table : rows.arrow_tables())
    if (!table->files().empty()) return table->files().front()->path();
  EState* estate = state_->ss.ps.state;
  const Oid space = guard([&] { return get_rel_tablespace(exec_rt_fetch(relid, estate)->relid); });
  if (!OidIsValid(space)) return DataDir;
  std::error_code error;
  const auto folder = std::filesystem::canonical(std::string(DataDir) + "/pg_tblspc/" + std::to_string(space), error);
  return error ? DataDir : folder.string();
}

std::vector<std::string> PipelineInput::storages() const {
  if (spec_.leaves.empty()) return {spec_.relid == 0 ? "" : storage_of(*rows_, spec_.relid)};
  const auto& leaves = static_cast<const source::AppendRows&>(*rows_);
  std::vector<std::string> storages;
  for (size_t i = 0; i < spec_.leaves.size(); ++i)
    storages.push_back(leaves.leaf(i) == nullptr ? "" : storage_of(*leaves.leaf(i), spec_.leaves[i].relid));
  return storages;
}

bool PipelineInput::is_smaller_than(int64_t bytes) {
  if (bytes == 0 || spec_.relid == 0 || partitions_ != nullptr) return false;
  if (const files::Source* table = files()) return table->file_bytes() < bytes;
  return guard([=, this] {
    const Relation table = compat::relation_of(state_->ss.ps.state, spec_.relid);
    return int64_t{RelationGetNumberOfBlocks(table)} * BLCKSZ < bytes;
  });
}

const source::ArrowRows* PipelineInput::arrow_rows() const {
  return is_one_file_table() ? static_cast<source::ArrowRows*>(rows_.get()) : nullptr;
}

const files::Source* PipelineInput::files() {
  return is_one_file_table() ? &static_cast<source::ArrowRows*>(open())->source() : nullptr;
}

std::optional<PipelineInput::Pruning> PipelineInput::pruning() {
  if (batch_filter_ == nullptr) return std::nullopt;
  if (spec_.leaves.empty()) open();
  if (rows_ == nullptr) return std::nullopt;
  Pruning result;
  const bool is_probing = pipeline_ + 1 == plan_.pipelines.size();
  const auto keys =
      is_probing ? engine::plan::deciding_key_columns(plan_.program) : std::vector<engine::plan::KeyColumn>();
  for (const files::Source* table : rows_->arrow_tables()) {
    for (const Node* clause : batch_filter_->useful_clauses(*table))
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
