// Rows in order: the engine's sorted batches merged, and PostgreSQL's sort where there are fallback rows or too many
// batches.
#include "pg/node/sort_stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fake_server.hpp"

namespace strom::pg::node {
namespace {

using test::calls;
using test::FakeSlot;

/// Fallback rows that SortStage finds when it next asks.
std::vector<int64_t> fallback_values;
/// PostgreSQL's sort: what was put into it, in order from sort() on, and which row is the current one.
std::vector<int64_t> host_rows;
size_t host_next = 0;

int64_t value_of(const engine::op::ResultBatch& batch, int64_t row) {
  return static_cast<const int64_t*>(batch.columns[0].values)[row];
}

}  // namespace

// ---- In place of host_sort.cpp, output_writer.cpp, fallback_rows.cpp and what these use ----

HostSort::HostSort(CustomScanState*, const std::vector<SortSpec>&) : sort_(nullptr), row_(nullptr) {
  calls.emplace_back("host sort");
  host_rows.clear();
  host_next = 0;
}
void HostSort::sort() { std::sort(host_rows.begin(), host_rows.end()); }
bool HostSort::next() { return host_next++ < host_rows.size(); }
void HostSort::fill(TupleTableSlot* slot) const { slot->tts_values[0] = Int64GetDatum(host_rows[host_next - 1]); }
void HostSort::end() { calls.emplace_back("end host sort"); }

void OutputWriter::clear_others(TupleTableSlot* slot) const { slot->tts_isnull[1] = true; }
void OutputWriter::put_row(TupleTableSlot* slot, const engine::op::ResultBatch& batch, int64_t row) const {
  slot->tts_values[0] = Int64GetDatum(value_of(batch, row));
}

FallbackEvaluator::FallbackEvaluator(CustomScanState*, const PlanSpec& plan) : plan_(plan) {
  for (int64_t& value : fallback_values) queue_.push_back({reinterpret_cast<Datum*>(&value), nullptr});
}
bool FallbackEvaluator::pop() {
  if (queue_.empty()) return false;
  current_ = queue_.front();
  queue_.pop_front();
  return true;
}
void FallbackRows::fill(TupleTableSlot* slot) const { slot->tts_values[0] = *evaluator_->values(); }
void FallbackRows::restart() { evaluator_ = std::make_unique<FallbackEvaluator>(state_, plan_); }

SourceSet::SourceSet(CustomScanState* state, const PlanSpec& plan) : plan_(plan), subplans_(state, plan) {}
Subplans::Subplans(CustomScanState* state, const PlanSpec& plan) : state_(state), plan_(plan) {}

}  // namespace strom::pg::node

extern "C" void tuplesort_puttupleslot(Tuplesortstate*, TupleTableSlot* slot) {
  EXPECT_FALSE(TTS_EMPTY(slot));
  EXPECT_TRUE(slot->tts_isnull[1]);  // a column that is no output
  strom::pg::node::host_rows.push_back(DatumGetInt64(slot->tts_values[0]));
}

namespace strom::pg::node {
namespace {

class SortStageTest : public testing::Test {
 protected:
  static constexpr int64_t kBatchBytes = 100;

  SortStageTest() {
    calls.clear();
    fallback_values.clear();
    spec_.program.pipelines.resize(1);
    spec_.program.pipelines[0].order = {{0, false, false}};
    state_.ss.ps.ps_ExprContext = &context_;
    state_.ss.ss_ScanTupleSlot = slot_.slot();
  }

  /// A batch in order, as the engine gives it.
  ResultCursor::Batch batch_of(std::vector<int64_t> numbers) {
    auto values = std::make_shared<std::vector<int64_t>>(std::move(numbers));
    auto batch = std::make_shared<engine::op::ResultBatch>();
    batch->rows = static_cast<int64_t>(values->size());
    batch->columns = {{{registry::TypeId::kInt8, 0}, values->data(), nullptr}};
    engine::op::sort_rows(spec_.program.pipelines[0].order, batch.get()).swap(sorted_.emplace_back());
    batch->memory = values;
    batch->memory_bytes = kBatchBytes;
    made_.push_back(batch);
    return batch;
  }

  /// All rows from next() on, which must be those of PostgreSQL's sort or of the engine's batches.
  std::vector<int64_t> rows_of(SortStage& stage) {
    std::vector<int64_t> rows;
    while (stage.next()) {
      if (stage.is_by_host()) {
        stage.fill(slot_.slot());
        rows.push_back(DatumGetInt64(slot_.slot()->tts_values[0]));
      } else {
        rows.push_back(value_of(*stage.batch(), stage.row()));
      }
    }
    return rows;
  }

  PlanSpec spec_;
  ExprContext context_{};
  CustomScanState state_{};
  FakeSlot slot_{2};
  SourceSet sources_{&state_, spec_};
  OutputWriter writer_{spec_, sources_};
  FallbackRows fallback_{&state_, spec_, sources_};
  std::vector<std::vector<std::unique_ptr<uint8_t[]>>> sorted_;
  std::vector<std::weak_ptr<const engine::op::ResultBatch>> made_;
};

TEST_F(SortStageTest, merges_batches_of_the_engine) {
  SortStage stage(&state_, spec_, writer_);
  EXPECT_FALSE(stage.is_done());
  stage.begin(2 * kBatchBytes);
  stage.add(batch_of({1, 4, 9}), &fallback_);
  stage.add(batch_of({2, 3, 10}), &fallback_);
  stage.add(nullptr, &fallback_);
  EXPECT_EQ(stage.sorted_by(), nullptr);
  stage.finish();
  EXPECT_TRUE(stage.is_done());
  EXPECT_FALSE(stage.is_by_host());
  EXPECT_STREQ(stage.sorted_by(), "engine");
  EXPECT_EQ(rows_of(stage), (std::vector<int64_t>{1, 2, 3, 4, 9, 10}));
  EXPECT_TRUE(calls.empty());
  EXPECT_FALSE(made_[0].expired());
  stage.drop_batches();
  EXPECT_TRUE(made_[0].expired());
}

TEST_F(SortStageTest, leaves_all_rows_to_postgresql_when_there_are_fallback_rows) {
  SortStage stage(&state_, spec_, writer_);
  stage.begin(10 * kBatchBytes);
  stage.add(batch_of({1, 4, 9}), &fallback_);
  EXPECT_TRUE(calls.empty());
  fallback_values = {5, 0};
  fallback_.restart();
  stage.add(batch_of({2, 3}), &fallback_);
  EXPECT_TRUE(stage.is_by_host());
  EXPECT_TRUE(made_[0].expired());
  EXPECT_FALSE(fallback_.has_results());
  fallback_values = {7};
  fallback_.restart();
  stage.add(nullptr, &fallback_);  // those that came with the end
  stage.finish();
  EXPECT_STREQ(stage.sorted_by(), "PostgreSQL");
  EXPECT_EQ(rows_of(stage), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 7, 9}));
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "host sort"), 1);
}

TEST_F(SortStageTest, leaves_all_rows_to_postgresql_beyond_the_memory) {
  for (const int64_t limit : {2 * kBatchBytes, 2 * kBatchBytes - 1}) {
    calls.clear();
    SortStage stage(&state_, spec_, writer_);
    stage.begin(limit);
    stage.add(batch_of({1, 4}), &fallback_);
    stage.add(batch_of({2}), &fallback_);
    stage.add(batch_of({3}), &fallback_);
    stage.finish();
    EXPECT_EQ(stage.is_by_host(), limit < 2 * kBatchBytes);
    EXPECT_EQ(rows_of(stage), (std::vector<int64_t>{1, 2, 3, 4}));
  }
}

TEST_F(SortStageTest, ends_and_begins_anew) {
  SortStage stage(&state_, spec_, writer_);
  for (const bool by_host : {true, false}) {
    stage.begin(by_host ? 0 : kBatchBytes);
    calls.clear();
    stage.add(batch_of({2, 3}), &fallback_);
    stage.add(batch_of({1}), &fallback_);
    stage.finish();
    EXPECT_EQ(stage.is_by_host(), by_host);
    EXPECT_EQ(rows_of(stage), (std::vector<int64_t>{1, 2, 3}));
    stage.end();
    EXPECT_FALSE(stage.is_done());
    EXPECT_TRUE(made_.back().expired());
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "end host sort"), by_host ? 1 : 0);
  }
}

}  // namespace
}  // namespace strom::pg::node
