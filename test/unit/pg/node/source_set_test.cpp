// Where the rows of all pipelines come from: tables, which are opened, and rows of PostgreSQL's plans, which are
// collected; changed files; what is let go of.
#include "pg/node/source_set.hpp"

#include <gtest/gtest.h>

#include "fake_rows.hpp"
#include "fake_server.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/pruning/chunk_filter.hpp"

namespace strom::pg::node {
namespace {

using test::calls;

/// What the tables of the test are like, by pipeline.
struct Table {
  bool has_invalid_text = false;
  int64_t skipped = 0;
  Status unchanged;
};
std::vector<Table> tables;

class FakeRows : public source::RowSource {
 public:
  explicit FakeRows(size_t pipeline) : pipeline_(pipeline) {}
  void read(int64_t, int64_t, MemoryContext, Datum*, bool*) override {}
  int64_t chunk_rows(int64_t) const override { return 0; }
  int64_t chunk_count() const override { return 0; }
  int64_t total_rows() const override { return 0; }
  Result<columnar::BatchView> chunk(int64_t) const override { return columnar::BatchView{}; }
  Status unchanged() const override { return tables[pipeline_].unchanged; }
  void close() override { calls.push_back("close " + std::to_string(pipeline_)); }

 private:
  const size_t pipeline_;
};

std::string text_of(const std::vector<bool>& flags) {
  std::string text;
  for (const bool flag : flags) text += flag ? '1' : '0';
  return text;
}

}  // namespace

// ---- In place of pipeline_input.cpp and subplans.cpp ----

PipelineInput::PipelineInput(CustomScanState* state, const PlanSpec& plan, size_t pipeline)
    : state_(state), plan_(plan), pipeline_(pipeline), spec_(plan.pipelines[pipeline]) {}

void PipelineInput::begin_run() {
  calls.push_back("begin " + std::to_string(pipeline_));
  if (rows_ == nullptr) rows_ = std::make_unique<FakeRows>(pipeline_);
  may_have_invalid_text_ = tables[pipeline_].has_invalid_text;
  batch_counts_.skipped += tables[pipeline_].skipped;
}

void PipelineInput::restart(const std::vector<bool>& keep_children) {
  calls.push_back("restart " + std::to_string(pipeline_) + " " + text_of(keep_children));
}

Subplans::Subplans(CustomScanState* state, const PlanSpec& plan)
    : state_(state), plan_(plan), collected_(plan.pipelines.size()) {}

void Subplans::prepare(size_t pipeline) {
  calls.push_back("prepare " + std::to_string(pipeline));
  collected_[pipeline].rows = std::make_unique<source::CollectedRows>(std::vector<engine::plan::ValueType>(), false);
}

void Subplans::collect(size_t pipeline) { calls.push_back("collect " + std::to_string(pipeline)); }

void Subplans::restart(const std::vector<bool>& keep_children) {
  calls.push_back("restart plans " + text_of(keep_children));
}

namespace {

/// The inner sides are a plan's rows and a table's, and a table's rows probe.
class SourceSetTest : public testing::Test {
 protected:
  static constexpr size_t kPlan = 0, kInner = 1, kOuter = 2;

  SourceSetTest() {
    calls.clear();
    tables.assign(3, {});
    spec_.pipelines.resize(3);
    spec_.pipelines[kPlan].child = 0;
    spec_.pipelines[kInner].relid = 1;
    spec_.pipelines[kOuter].relid = 2;
  }

  PlanSpec spec_;
};

TEST_F(SourceSetTest, has_an_input_for_each_pipeline_of_which_the_last_probes) {
  const SourceSet sources(nullptr, spec_);
  EXPECT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources.probing(), kOuter);
  EXPECT_TRUE(sources.is_collected(kPlan));
  EXPECT_FALSE(sources.is_collected(kInner));
  EXPECT_EQ(sources.rows(kPlan), nullptr);
  EXPECT_EQ(sources.rows(kOuter), nullptr);
}

TEST_F(SourceSetTest, begins_tables_and_only_prepares_what_is_collected) {
  SourceSet sources(nullptr, spec_);
  for (size_t i = 0; i < 3; ++i) sources.begin_run(i);
  EXPECT_EQ(calls, (std::vector<std::string>{"prepare 0", "begin 1", "begin 2"}));
  EXPECT_EQ(sources.rows(kPlan), sources.subplans().rows(kPlan));
  EXPECT_EQ(sources.rows(kInner), sources.input(kInner).rows());
  EXPECT_NE(sources.rows(kInner), nullptr);
  EXPECT_NE(sources.rows(kInner), sources.rows(kOuter));
  calls.clear();
  sources.collect(kPlan);
  EXPECT_EQ(calls, std::vector<std::string>{"collect 0"});
}

TEST_F(SourceSetTest, remembers_that_texts_may_be_invalid) {
  tables[kInner].has_invalid_text = true;
  SourceSet sources(nullptr, spec_);
  sources.begin_run(kPlan);
  EXPECT_FALSE(sources.may_have_invalid_text());
  sources.begin_run(kInner);
  EXPECT_TRUE(sources.may_have_invalid_text());
  sources.begin_run(kOuter);
  EXPECT_TRUE(sources.may_have_invalid_text());
}

TEST_F(SourceSetTest, finds_files_that_changed_at_the_end_and_now_and_then) {
  SourceSet sources(nullptr, spec_);
  sources.check_files(true);  // nothing is open
  for (size_t i = 0; i < 3; ++i) sources.begin_run(i);
  sources.check_files(true);
  tables[kOuter].unchanged = Status(ErrorCode::kFileChanged, "another file");
  EXPECT_THROW(sources.check_files(true), boundary::StatusError);
  const auto begin = std::chrono::steady_clock::now();
  bool found = false;
  while (!found && std::chrono::steady_clock::now() - begin < std::chrono::minutes(5)) try {
      sources.check_files(false);
    } catch (const boundary::StatusError& error) {
      found = error.status().code() == ErrorCode::kFileChanged;
    }
  EXPECT_TRUE(found);
}

TEST_F(SourceSetTest, adds_up_what_statistics_have_left_out) {
  tables[kInner].skipped = 3;
  tables[kOuter].skipped = 40;
  SourceSet sources(nullptr, spec_);
  EXPECT_EQ(sources.skipped_batches(), 0);
  for (const size_t pipeline : {kInner, kOuter, kOuter}) sources.begin_run(pipeline);
  EXPECT_EQ(sources.skipped_batches(), 83);
}

TEST_F(SourceSetTest, closes_what_is_open) {
  SourceSet sources(nullptr, spec_);
  sources.begin_run(kPlan);
  sources.begin_run(kOuter);
  calls.clear();
  sources.close();
  EXPECT_EQ(calls, std::vector<std::string>{"close 2"});
}

TEST_F(SourceSetTest, restarts_plans_before_tables) {
  SourceSet sources(nullptr, spec_);
  sources.restart({true, false});
  EXPECT_EQ(calls, (std::vector<std::string>{"restart plans 10", "restart 0 10", "restart 1 10", "restart 2 10"}));
}

}  // namespace
}  // namespace strom::pg::node
