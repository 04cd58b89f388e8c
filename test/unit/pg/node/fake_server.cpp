#include "fake_server.hpp"

#include "pg/boundary/boundary.hpp"

namespace strom::pg::node::test {

std::vector<std::string> calls;

FakeList::FakeList(std::vector<void*> items) : cells_(items.size()) {
  for (size_t i = 0; i < items.size(); ++i) cells_[i].ptr_value = items[i];
  list_->type = T_List;
  list_->length = list_->max_length = static_cast<int>(items.size());
  list_->elements = cells_.data();
}

namespace {

void clear(TupleTableSlot* slot) { slot->tts_flags |= TTS_FLAG_EMPTY; }
constexpr TupleTableSlotOps kSlotOps = [] {
  TupleTableSlotOps ops{};
  ops.clear = clear;
  return ops;
}();

}  // namespace

FakeSlot::FakeSlot(int columns)
    : values_(static_cast<size_t>(columns)),
      nulls_(new bool[static_cast<size_t>(columns)]()),
      descriptor_(std::make_unique<TupleDescData>()) {
  descriptor_->natts = columns;
  slot_.type = T_TupleTableSlot;
  slot_.tts_flags = TTS_FLAG_EMPTY;
  *const_cast<const TupleTableSlotOps**>(&slot_.tts_ops) = &kSlotOps;  // as MakeTupleTableSlot() does
  slot_.tts_values = values_.data();
  slot_.tts_isnull = nulls_.get();
  slot_.tts_tupleDescriptor = descriptor_.get();
  slot_.tts_nvalid = static_cast<AttrNumber>(columns);
}

FakePlan::FakePlan(Plan* plan, std::vector<Row> rows, int columns) : rows_(std::move(rows)), slot_(columns) {
  state_.owner = this;
  state_.plan.plan = plan;
  state_.plan.state = &estate_;
  state_.plan.ExecProcNode = next;
}

TupleTableSlot* FakePlan::next(PlanState* state) {
  FakePlan& self = *reinterpret_cast<State*>(state)->owner;
  TupleTableSlot* slot = self.slot_.slot();
  if (self.at_ == self.rows_.size()) {
    self.at_ = 0;
    ++self.reads_;
    clear(slot);
    return slot;
  }
  const Row& row = self.rows_[self.at_++];
  for (size_t i = 0; i < row.size(); ++i) self.slot_.set(i, Int64GetDatum(row[i].first), row[i].second);
  ExecStoreVirtualTuple(slot);
  return slot;
}

}  // namespace strom::pg::node::test

using strom::pg::node::test::calls;

// ---- What the server has under these names ----

extern "C" {

MemoryContext CurrentMemoryContext = nullptr;

void MemoryContextReset(MemoryContext) { calls.emplace_back("reset memory"); }

TupleTableSlot* ExecStoreVirtualTuple(TupleTableSlot* slot) {
  slot->tts_flags &= static_cast<uint16>(~TTS_FLAG_EMPTY);
  return slot;
}

void slot_getsomeattrs_int(TupleTableSlot*, int) { calls.emplace_back("deform"); }

void ExecReScan(PlanState* state) {
  calls.emplace_back("rescan");
  state->chgParam = nullptr;
}

Bitmapset* bms_copy(const Bitmapset* set) { return const_cast<Bitmapset*>(set); }

ExprState* ExecInitExpr(Expr*, PlanState*) {
  calls.emplace_back("compile");
  return nullptr;
}

}  // extern "C"

// ---- The border to it ----

namespace strom::pg::boundary {

void run_guarded(void (*call)(void*), void* argument) { call(argument); }

void throw_if_failed(const Status& status) {
  if (!status.is_ok()) throw StatusError(status);
}

void check_for_interrupts() {}

const char* PostgresError::what() const noexcept { return ""; }

}  // namespace strom::pg::boundary
