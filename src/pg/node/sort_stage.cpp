#include "pg/node/sort_stage.hpp"

#include "pg/boundary/boundary.hpp"

namespace strom::pg::node {

void SortStage::begin(int64_t limit) {
  limit_ = limit;
  engine_ = std::make_unique<engine::op::SortedRows>(plan_.program.pipelines.back().order);
}

// `fill` may ereport.
template <class Fill>
void SortStage::put_row(Fill fill) {
  boundary::guard([&] {
    ExprContext* context = state_->ss.ps.ps_ExprContext;
    TupleTableSlot* slot = state_->ss.ss_ScanTupleSlot;
    ResetExprContext(context);
    MemoryContext caller = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
    ExecClearTuple(slot);
    writer_.clear_others(slot);
    fill(slot);
    ExecStoreVirtualTuple(slot);
    MemoryContextSwitchTo(caller);
    host_->put(slot);
    ExecClearTuple(slot);
  });
}

void SortStage::put_batch(const engine::op::ResultBatch& batch) {
  for (int64_t row = 0; row < batch.rows; ++row) {
    if (row % 1024 == 0) boundary::check_for_interrupts();
    put_row([&, row](TupleTableSlot* slot) { writer_.put_row(slot, batch, row); });
  }
}

// Switches to PostgreSQL's sort, for all rows so far and all later ones.
void SortStage::begin_host_sort() {
  host_ = std::make_unique<HostSort>(state_, plan_.order);
  for (const auto& batch : engine_->batches()) put_batch(*batch);
  engine_.reset();
}

void SortStage::add(ResultCursor::Batch batch, FallbackRows* fallback) {
  const bool has_fallback = fallback->has_results();
  if (host_ == nullptr && (has_fallback || engine_->memory() > limit_)) begin_host_sort();
  while (has_fallback && fallback->pop()) put_row([fallback](TupleTableSlot* slot) { fallback->fill(slot); });
  if (batch == nullptr) return;
  if (host_ != nullptr)
    put_batch(*batch);
  else
    engine_->add(std::move(batch));
}

void SortStage::finish() {
  sorted_by_ = is_by_host() ? "PostgreSQL" : "engine";
  if (is_by_host()) host_->sort();
}

void SortStage::end() {
  if (host_ != nullptr) host_->end();
  host_.reset();
  engine_.reset();
}

}  // namespace strom::pg::node
