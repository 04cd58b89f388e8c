#include "pg/node/host_sort.hpp"

#include "pg/boundary/boundary.hpp"

namespace strom::pg::node {

using boundary::guard;

HostSort::HostSort(CustomScanState* state, const std::vector<SortSpec>& order) {
  std::vector<AttrNumber> attributes;
  std::vector<Oid> operators, collations;
  std::unique_ptr<bool[]> nulls_first(new bool[order.size()]);
  for (size_t i = 0; i < order.size(); ++i) {
    attributes.push_back(static_cast<AttrNumber>(order[i].output + 1));
    operators.push_back(order[i].sort_operator);
    collations.push_back(order[i].collation);
    nulls_first[i] = order[i].nulls_first;
  }
  guard([&] {
    EState* estate = state->ss.ps.state;
    MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);
    const TupleDesc rows = state->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
    sort_ = tuplesort_begin_heap(rows, static_cast<int>(order.size()), attributes.data(), operators.data(),
                                 collations.data(), nulls_first.get(), work_mem, nullptr, TUPLESORT_NONE);
    row_ = MakeSingleTupleTableSlot(rows, &TTSOpsMinimalTuple);
    MemoryContextSwitchTo(caller);
  });
}

void HostSort::sort() {
  guard([this] { tuplesort_performsort(sort_); });
}

bool HostSort::next() {
  return guard([this] { return tuplesort_gettupleslot(sort_, true, false, row_, nullptr); });
}

void HostSort::fill(TupleTableSlot* slot) const {
  slot_getallattrs(row_);
  const auto count = static_cast<size_t>(slot->tts_tupleDescriptor->natts);
  memcpy(slot->tts_values, row_->tts_values, count * sizeof(Datum));
  memcpy(slot->tts_isnull, row_->tts_isnull, count * sizeof(bool));
}

void HostSort::end() {
  guard([this] {
    ExecDropSingleTupleTableSlot(row_);
    tuplesort_end(sort_);
  });
}

}  // namespace strom::pg::node
