#include "engine/exec/execution.hpp"

#include <algorithm>

#include "engine/exec/inner_sides.hpp"
#include "engine/exec/needed_sides.hpp"
#include "engine/exec/option_limits.hpp"
#include "engine/exec/parameters.hpp"
#include "engine/exec/pipeline_run.hpp"
#include "engine/exec/run_maker.hpp"
#include "engine/exec/run_sequence.hpp"
#include "engine/op/join/join_limit.hpp"

namespace strom::engine::exec {
namespace {

using plan::Pipeline;
using plan::Program;

class ExecutionImpl final : public Execution, BuildListener, SequenceListener {
 public:
  ExecutionImpl(Program program, std::vector<int32_t> params, std::vector<const op::ChunkSource*> sources,
                Options options)
      : program_(std::move(program)),
        params_(std::move(params)),
        sources_(std::move(sources)),
        options_(std::move(options)),
        needed_(program_),
        collect_(program_.pipelines.size(), Collect::kNot),
        sides_(program_, sources_, options_),
        runs_(program_, sources_, options_, sides_, needed_),
        sequence_(program_, sides_, runs_, *this) {
    past_stats_.stages.resize(program_.pipelines.size());
    past_stats_.milliseconds.resize(program_.pipelines.size());
  }

  // ---- Execution ----

  Result<std::shared_ptr<const op::ResultBatch>> next(const InterruptCheck& interrupt) override {
    if (!sequence_.has_begun()) STROM_TRY(start(interrupt));
    return sequence_.next(interrupt);
  }

  std::vector<op::FallbackRow> take_fallback_rows() override { return sequence_.take_fallback_rows(); }

  bool has_all_groups() const override { return sequence_.has_all_groups(); }

  Status lookup(uint32_t join, const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const override {
    if (!sides_.is_made(join)) return Status(ErrorCode::kInternal, "join table is not built");
    sides_.lookup(join, keys, rows);
    return Status::ok();
  }

  plan::Constant payload(uint32_t join, uint32_t ordinal, int64_t row) const override {
    return sides_.payload(join, ordinal, row);
  }

  bool is_in_pass(uint32_t join, const std::vector<plan::Constant>& keys) const override {
    return sides_.is_in_part(join, keys);
  }

  bool is_partitioned(uint32_t join) const override { return sides_.is_divided_by_key(join); }

  void mark_matched(uint32_t join, int64_t row) override { sides_.table(join).mark_matched(row); }

  Result<int64_t> add_build_row(uint32_t join, const std::vector<plan::Constant>& keys,
                                const std::vector<plan::Constant>& payload) override {
    if (!sides_.is_made(join)) return Status(ErrorCode::kInternal, "join table is not being built");
    return sides_.add_row(join, keys, payload);
  }

  void on_fallback_build(FallbackBuildHook hook) override { fallback_build_ = std::move(hook); }

  void on_pass_end(PassEndHook hook) override { pass_end_ = std::move(hook); }

  void on_collect(std::vector<Collect> sides, CollectHook hook) override {
    collect_ = std::move(sides);
    collect_rows_ = std::move(hook);
  }

  void set_parameter(int32_t param, const plan::Constant& value) override {
    for (size_t i = 0; i < params_.size(); ++i) {
      if (params_[i] != param) continue;
      program_.constants[i] = value;
      program_.constants[i].param = -1;
    }
  }

  void stop() override { sequence_.stop(); }

  Progress progress() const override {
    const PipelineRun* run = building_ != nullptr ? building_ : sequence_.run();
    Progress progress;
    progress.pipeline = building_ != nullptr ? building_pipeline_ : main_pipeline();
    if (run == nullptr) return progress;
    const bool is_fed = sources_[program_.pipelines[progress.pipeline].source]->feeder() != nullptr;
    progress.chunks_done = is_fed ? run->chunks() : run->chunks_loaded() + run->chunks_skipped();
    progress.chunks = is_fed ? 0 : run->chunks();
    progress.rows = run->rows();
    return progress;
  }

  Stats stats() const override {
    Stats stats = past_stats_;
    if (sequence_.run() != nullptr) add_to(&stats, *sequence_.run(), main_pipeline(), sequence_.is_over_outer_side());
    stats.peak_memory += sides_.memory();
    stats.device_joins = sides_.device_joins();
    return stats;
  }

 private:
  // ---- BuildListener ----

  void begin_build(const PipelineRun& run, uint32_t pipeline) override {
    building_ = &run;
    building_pipeline_ = pipeline;
  }

  void end_build() override { building_ = nullptr; }

  Result<bool> do_fallback_rows_count(uint32_t join, const InterruptCheck& interrupt) override {
    return is_reached(join, interrupt);
  }

  bool takes_fallback_rows() const override { return fallback_build_ != nullptr; }

  void take_fallback_rows(uint32_t pipeline, const std::vector<op::FallbackRow>& rows) override {
    if (fallback_build_) fallback_build_(pipeline, rows);
  }

  void add_run(const PipelineRun& run, uint32_t pipeline) override { add_to(&past_stats_, run, pipeline, false); }

  // ---- SequenceListener ----

  Status take_pass_end(const std::vector<op::FallbackRow>& rows) override {
    if (rows.empty()) return Status::ok();
    if (!pass_end_) return Status(ErrorCode::kInternal, "there are fallback rows and nobody takes them");
    pass_end_(rows);
    return Status::ok();
  }

  Status make_table_again(uint32_t pipeline, const InterruptCheck& interrupt) override {
    return sides_.build(pipeline, runs_, *this, interrupt);
  }

  void end_run(const PipelineRun& run, bool over_outer_side) override {
    add_to(&past_stats_, run, main_pipeline(), over_outer_side);
  }

  uint32_t main_pipeline() const { return static_cast<uint32_t>(program_.pipelines.size() - 1); }

  static void add_to(Stats* stats, const PipelineRun& run, uint32_t pipeline, bool over_outer_side) {
    run.add_stages_to(&stats->stages[pipeline]);
    stats->milliseconds[pipeline] += run.milliseconds();
    if (over_outer_side) {
      ++stats->passes;
      stats->chunks = run.chunks();
      stats->chunks_loaded += run.chunks_loaded();
      stats->chunks_skipped += run.chunks_skipped();
      stats->rows = run.rows();
      stats->threads = run.thread_count();
    }
    stats->fallback_rows += run.fallback_count();
    const std::vector<int64_t> by_device = run.rows_by_device();
    if (by_device.size() > stats->rows_by_device.size()) stats->rows_by_device.resize(by_device.size());
    for (size_t i = 0; i < by_device.size(); ++i) {
      stats->rows_by_device[i] += by_device[i];
      stats->device_rows += by_device[i];
    }
    stats->device_bytes += run.device_bytes();
    stats->device_file_bytes += run.device_file_bytes();
    stats->partial_flushes += run.partial_flushes();
    stats->peak_memory = std::max(stats->peak_memory, run.memory());
  }

  /// Reads the inner sides that cannot fail first: their result may show that the others are not needed.
  Status start(const InterruptCheck& interrupt) {
    for (const bool failing : {false, true})
      for (uint32_t i = 0; i < main_pipeline(); ++i)
        if ((collect_[i] != Collect::kNot || can_fail(program_, i)) == failing) STROM_TRY(make_side(i, interrupt));
    return sequence_.begin();
  }

  /// Makes the inner side's table, or an empty one when none of its rows could get into a result.
  Status make_side(uint32_t index, const InterruptCheck& interrupt) {
    const uint32_t join = sides_.join_of(index);
    if (join == program_.joins.size()) return Status(ErrorCode::kInternal, "build pipeline without a join");
    if (!needed_.is_needed(join)) return sides_.leave_empty(join, *this);
    if (collect_[index] == Collect::kIfReached) {
      STROM_ASSIGN(const bool is_wanted, is_reached(join, interrupt));
      if (!is_wanted) return sides_.leave_empty(join, *this);
    }
    if (collect_[index] != Collect::kNot) collect_rows_(index);
    STROM_TRY(sides_.build(index, runs_, *this, interrupt));
    if (sides_.table(join).rows() == 0 && !sides_.is_divided(join)) needed_.set_empty(join);
    return Status::ok();
  }

  /// True when a probing row gets as far as the join, and also where that is hard to tell. The tables of the joins
  /// before it must be there.
  Result<bool> is_reached(uint32_t join, const InterruptCheck& interrupt) {
    if (!needed_.depends_on_reach(join)) return true;
    const size_t place = needed_.place_of(join);
    for (size_t i = 0; i < place; ++i) {
      const uint32_t other = program_.pipelines.back().joins[i];
      const bool marks = plan::marks_matches(program_.joins[other].kind) && sides_.table(other).rows() > 0;
      if (marks || sides_.is_divided(other)) return true;
    }
    const Program program = rows_before_join(program_, place);
    STROM_ASSIGN(const auto run, runs_.make_for_first_row(program));
    STROM_ASSIGN(const bool found, run->has_row(interrupt));
    needed_.set_reached(join, found);
    if (!found) run->add_stages_to(&past_stats_.stages[main_pipeline()]);  // otherwise another run adds them
    return found;
  }

  Program program_;
  const std::vector<int32_t> params_;  // for each constant the number of its parameter, -1 for others
  const std::vector<const op::ChunkSource*> sources_;
  const Options options_;
  NeededSides needed_;
  std::vector<Collect> collect_;  // by pipeline
  CollectHook collect_rows_;
  const PipelineRun* building_ = nullptr;
  uint32_t building_pipeline_ = 0;
  FallbackBuildHook fallback_build_;
  PassEndHook pass_end_;
  Stats past_stats_;  // of the runs that have ended
  InnerSides sides_;
  RunMaker runs_;
  RunSequence sequence_;  // declared last, so that its threads end before the data that they read is destroyed
};

}  // namespace

Result<std::unique_ptr<Execution>> Execution::create(const Program& program,
                                                     std::vector<const op::ChunkSource*> sources,
                                                     const std::vector<plan::Constant>& params, Options options) {
  if (sources.size() != program.sources.size()) return Status(ErrorCode::kInternal, "sources do not fit the program");
  for (const Pipeline& pipeline : program.pipelines)
    if (pipeline.joins.size() > op::kMostJoins)
      return Status(ErrorCode::kUnsupported, "more than " + std::to_string(op::kMostJoins) + " joins in one pipeline");
  STROM_ASSIGN(Program resolved, with_parameters(program, params));
  return std::unique_ptr<Execution>(new ExecutionImpl(std::move(resolved), parameter_numbers(program),
                                                      std::move(sources), within_limits(std::move(options))));
}

}  // namespace strom::engine::exec
