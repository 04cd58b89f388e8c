#include "engine/exec/execution.hpp"

#include <algorithm>

#include "engine/op/join/build_rows.hpp"
#include "engine/op/join/inner_partitions.hpp"
#include "engine/op/join/join_limit.hpp"
#include "engine/op/join/join_name.hpp"
#include "engine/device/cached_columns.hpp"
#include "engine/device/cached_join.hpp"
#include "engine/exec/needed_sides.hpp"
#include "engine/exec/option_limits.hpp"
#include "engine/exec/parameters.hpp"
#include "engine/exec/pipeline_run.hpp"
#include "engine/plan/errors.hpp"

namespace strom::engine::exec {
namespace {

using plan::Pipeline;
using plan::Program;
using registry::Phys;

constexpr int64_t kFirstMorselRows = 8 * 1024;  // where one row is looked for

/// What a run of the last pipeline is for.
enum class RunKind : uint8_t { kResults, kBuildRows, kFirstRow };

class ExecutionImpl : public Execution {
 public:
  ExecutionImpl(Program program, std::vector<int32_t> params, std::vector<const ChunkSource*> sources, Options options)
      : program_(std::move(program)),
        params_(std::move(params)),
        sources_(std::move(sources)),
        options_(options),
        needed_(program_),
        collect_(program_.pipelines.size(), Collect::kNot),
        builds_(program_.joins.size()),
        inner_(program_.joins.size()),
        build_rows_scanned_(program_.joins.size(), 0) {
    past_stats_.stages.resize(program_.pipelines.size());
    past_stats_.milliseconds.resize(program_.pipelines.size());
  }

  Result<std::shared_ptr<const ResultBatch>> next(const InterruptCheck& interrupt) override {
    if (!main_run_) STROM_TRY(start(interrupt));
    for (;;) {
      interrupt();
      STROM_TRY(main_run_->error());
      if (auto batch = main_run_->pop_result()) return with_texts(std::move(batch));
      if (finished_) {
        STROM_ASSIGN(const bool more, next_run(interrupt));
        if (!more) return std::shared_ptr<const ResultBatch>();
      }
      STROM_ASSIGN(const bool worked, main_run_->step(interrupt));
      if (worked) continue;
      if (!main_run_->wait_a_moment()) continue;
      STROM_TRY(main_run_->error());
      STROM_ASSIGN(const bool has_groups, main_run_->finish_groups());
      if (has_groups)
        finished_ = true;
      else
        STROM_TRY(run_in_order());
    }
  }

  std::vector<DeclinedRow> take_declined() override {
    std::vector<DeclinedRow> rows = main_run_ ? main_run_->take_declined_rows() : std::vector<DeclinedRow>();
    if (build_rows_program_)
      for (DeclinedRow& row : rows) {
        row.build_join = static_cast<int32_t>(build_rows_at_);
        row.inner_rows.insert(row.inner_rows.begin(), build_rows_at_, -1);
      }
    return rows;
  }

  bool has_all_groups() const override {
    const bool is_first =
        build_rows_program_ ? past_stats_.passes == 1 && build_rows_at_ == last_end() : past_stats_.passes == 0;
    const bool is_last = next_build_rows() == main_joins().size() && !has_next_pass();
    return finished_ && is_first && is_last && !main_run_->has_partial_groups() && main_run_->declined_count() == 0;
  }

  Status lookup(uint32_t join, const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const override {
    if (join >= builds_.size() || !builds_[join]) return Status(ErrorCode::kInternal, "join table is not built");
    builds_[join]->lookup(trimmed_keys(join, keys), rows);
    return Status::ok();
  }

  plan::Constant payload(uint32_t join, uint32_t ordinal, int64_t row) const override {
    const HostColumn& column = builds_[join]->payload(ordinal);
    plan::Constant value{program_.nodes[program_.joins[join].payload[ordinal]].type, column.is_null(row), -1, {}};
    if (value.is_null) return value;
    if (column.phys == Phys::kStr) {
      const auto* text = static_cast<const registry::StrView*>(column.at(row));
      value.bytes.assign(text->ptr, static_cast<size_t>(text->len));
    } else {
      value.bytes.assign(static_cast<const char*>(column.at(row)),
                         static_cast<size_t>(registry::phys_size(column.phys)));
    }
    return value;
  }

  bool is_in_pass(uint32_t join, const std::vector<plan::Constant>& keys) const override {
    return builds_[join]->is_in_partition(trimmed_keys(join, keys));
  }

  bool is_partitioned(uint32_t join) const override { return !builds_[join]->partition().is_whole(); }

  void mark_matched(uint32_t join, int64_t row) override { builds_[join]->mark_matched(row); }

  Result<int64_t> add_build_row(uint32_t join, const std::vector<plan::Constant>& keys,
                                const std::vector<plan::Constant>& payload) override {
    if (join >= builds_.size() || !builds_[join]) return Status(ErrorCode::kInternal, "join table is not being built");
    const std::vector<plan::Constant> trimmed = trimmed_keys(join, keys);
    if (!builds_[join]->is_in_partition(trimmed)) return int64_t{-1};
    builds_[join]->append_row(trimmed, payload);
    return builds_[join]->rows() - 1;
  }

  void on_declined_build(DeclinedBuildHook hook) override { declined_build_ = std::move(hook); }

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

  void stop() override {
    if (main_run_) main_run_->stop();
  }

  Progress progress() const override {
    const PipelineRun* run = building_ != nullptr ? building_ : main_run_.get();
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
    if (main_run_) add_run(*main_run_, main_pipeline(), &stats);
    for (const auto& build : builds_)
      if (build) stats.peak_memory += build->memory();
    return stats;
  }

 private:
  uint32_t main_pipeline() const { return static_cast<uint32_t>(program_.pipelines.size() - 1); }

  void add_run(const PipelineRun& run, uint32_t pipeline, Stats* stats) const {
    run.add_stages_to(&stats->stages[pipeline]);
    stats->milliseconds[pipeline] += run.milliseconds();
    if (pipeline == main_pipeline() && !build_rows_program_) {
      ++stats->passes;
      stats->chunks = run.chunks();
      stats->chunks_loaded += run.chunks_loaded();
      stats->chunks_skipped += run.chunks_skipped();
      stats->rows = run.rows();
      stats->threads = run.thread_count();
    }
    stats->declined += run.declined_count();
    const std::vector<int64_t> on_machines = run.machine_rows();
    if (on_machines.size() > stats->machine_rows.size()) stats->machine_rows.resize(on_machines.size());
    for (size_t i = 0; i < on_machines.size(); ++i) {
      stats->machine_rows[i] += on_machines[i];
      stats->device_rows += on_machines[i];
    }
    stats->device_bytes += run.device_bytes();
    stats->device_file_bytes += run.device_file_bytes();
    stats->partial_flushes += run.partial_flushes();
    stats->peak_memory = std::max(stats->peak_memory, run.memory());
  }

  /// Inner sides that cannot fail come first: those that can may be of no use then.
  Status start(const InterruptCheck& interrupt) {
    for (const bool failing : {false, true})
      for (uint32_t i = 0; i < main_pipeline(); ++i)
        if ((collect_[i] != Collect::kNot || can_fail(program_, i)) == failing) STROM_TRY(make_side(i, interrupt));
    STROM_ASSIGN(main_run_, make_run(main_pipeline(), nullptr));
    return Status::ok();
  }

  /// The inner side's table, or one without rows where none of them could get into a result.
  Status make_side(uint32_t index, const InterruptCheck& interrupt) {
    const uint32_t join = join_of(index);
    if (join == program_.joins.size()) return Status(ErrorCode::kInternal, "build pipeline without a join");
    if (!needed_.is_needed(join)) return leave_empty(join);
    if (collect_[index] == Collect::kIfReached) {
      STROM_ASSIGN(const bool is_wanted, is_reached(join, interrupt));
      if (!is_wanted) return leave_empty(join);
    }
    if (collect_[index] != Collect::kNot) collect_rows_(index);
    STROM_TRY(run_build(index, interrupt));
    if (builds_[join]->rows() == 0 && inner_[join].parts.size() <= 1) needed_.set_empty(join);
    return Status::ok();
  }

  Status leave_empty(uint32_t join) {
    builds_[join] =
        std::make_unique<JoinBuild>(phys_of(program_.joins[join].inner_keys), phys_of(program_.joins[join].payload),
                                    join_needs(program_, join), inner_[join].current());
    if (declined_build_) declined_build_(program_.joins[join].build_pipeline, {});
    return builds_[join]->finish(options_.join_memory_budget, options_.threads);
  }

  /// Whether a probing row gets as far as the join; also true where that is hard to tell. The tables of the joins
  /// before it are there.
  Result<bool> is_reached(uint32_t join, const InterruptCheck& interrupt) {
    if (!needed_.depends_on_reach(join)) return true;
    const size_t place = needed_.place_of(join);
    for (size_t i = 0; i < place; ++i) {
      const uint32_t other = main_joins()[i];
      const bool marks = plan::marks_matches(program_.joins[other].kind) && builds_[other]->rows() > 0;
      if (marks || inner_[other].parts.size() > 1) return true;
    }
    const ChunkSource& source = *sources_[program_.pipelines.back().source];
    if (ChunkFeeder* feeder = source.feeder()) feeder->rewind();
    const Program program = rows_before_join(program_, place);
    STROM_ASSIGN(const auto run, make_run(program, main_pipeline(), nullptr, source, RunKind::kFirstRow));
    STROM_ASSIGN(const bool found, run->has_row(interrupt));
    needed_.set_reached(join, found);
    if (!found) run->add_stages_to(&past_stats_.stages[main_pipeline()]);  // there will be no other run
    return found;
  }

  /// Views of a result may point to texts of tables that the next pass drops.
  std::shared_ptr<const ResultBatch> with_texts(std::shared_ptr<const ResultBatch> batch) const {
    struct Held {
      std::shared_ptr<const ResultBatch> batch;
      TextStore texts;
    };
    auto held = std::make_shared<Held>();
    for (size_t join = 0; join < inner_.size(); ++join)
      if (inner_[join].parts.size() > 1 && builds_[join]) held->texts.share(builds_[join]->texts());
    if (held->texts.blocks().empty()) return batch;
    held->batch = std::move(batch);
    return {held, held->batch.get()};
  }

  const std::vector<uint32_t>& main_joins() const { return program_.pipelines.back().joins; }

  /// What follows a run of the last pipeline that has ended: the build rows of the next join whose rows go on by
  /// themselves, or the next pass over the outer side. False when there is nothing.
  Result<bool> next_run(const InterruptCheck& interrupt) {
    const size_t place = next_build_rows();
    if (place == main_joins().size() && !has_next_pass()) return false;
    const std::vector<DeclinedRow> declined = take_declined();
    if (!declined.empty() && !pass_end_)
      return Status(ErrorCode::kInternal, "rows were declined and nobody takes them");
    if (!declined.empty()) pass_end_(declined);
    add_run(*main_run_, main_pipeline(), &past_stats_);
    main_run_.reset();
    build_rows_program_.reset();
    finished_ = false;
    STROM_TRY(place == main_joins().size() ? next_pass(interrupt) : start_build_rows(place));
    return true;
  }

  bool has_further_part(uint32_t join) const { return inner_[join].at + 1 < inner_[join].parts.size(); }

  bool has_next_pass() const {
    return std::any_of(main_joins().begin(), main_joins().end(),
                       [this](uint32_t join) { return has_further_part(join); });
  }

  /// Place of the last join that no probing row gets past: what comes before its build rows goes nowhere. -1: there is
  /// none.
  size_t last_end() const {
    size_t place = main_joins().size();
    while (place > 0 && !plan::ends_probing(program_.joins[main_joins()[place - 1]].kind)) --place;
    return place - 1;
  }

  /// Place of the next join whose build rows go on by themselves and are known now: when all parts of the joins before
  /// it have been joined with it.
  size_t next_build_rows() const {
    for (size_t place = 0; place < main_joins().size(); ++place) {
      const uint32_t join = main_joins()[place];
      if (place >= build_rows_begin_ && plan::marks_matches(program_.joins[join].kind) && builds_[join]->rows() > 0)
        return place;
      if (has_further_part(join)) break;
    }
    return main_joins().size();
  }

  Status start_build_rows(size_t place) {
    JoinBuild& build = *builds_[main_joins()[place]];
    const plan::Join& join = program_.joins[main_joins()[place]];
    if (plan::ends_probing(join.kind) && join.quals.empty()) build.mark_same_keys();
    build_rows_at_ = place;
    build_rows_begin_ = place + 1;
    build_rows_program_ = std::make_unique<Program>(build_rows_program(program_, place));
    build_rows_ = std::make_unique<BuildRows>(build.rows());
    STROM_ASSIGN(main_run_,
                 make_run(*build_rows_program_, main_pipeline(), nullptr, *build_rows_, RunKind::kBuildRows));
    return Status::ok();
  }

  /// Every combination of the inner sides' parts is one pass over the outer side: the next part of the first join that
  /// has one, and the first part of those before it. So the parts of a join go by while those behind it stay.
  Status next_pass(const InterruptCheck& interrupt) {
    build_rows_begin_ = 0;
    std::vector<bool> changed(inner_.size(), false);
    for (const uint32_t join : main_joins()) {
      InnerPartitions& inner = inner_[join];
      changed[join] = inner.parts.size() > 1;
      if (inner.at + 1 < inner.parts.size()) {
        ++inner.at;
        break;
      }
      inner.at = 0;
    }
    for (uint32_t i = 0; i < main_pipeline(); ++i)
      if (changed[join_of(i)]) STROM_TRY(run_build(i, interrupt));
    STROM_ASSIGN(main_run_, make_run(main_pipeline(), nullptr));
    return Status::ok();
  }

  /// The run that has ended once more, which has given no results yet.
  Status run_in_order() {
    in_order_ = true;
    main_run_.reset();
    auto run = build_rows_program_
                   ? make_run(*build_rows_program_, main_pipeline(), nullptr, *build_rows_, RunKind::kBuildRows)
                   : make_run(main_pipeline(), nullptr);
    in_order_ = false;
    STROM_ASSIGN(main_run_, std::move(run));
    return Status::ok();
  }

  Result<std::unique_ptr<PipelineRun>> make_run(uint32_t index, JoinBuild* build) {
    const ChunkSource& source = *sources_[program_.pipelines[index].source];
    if (ChunkFeeder* feeder = source.feeder()) feeder->rewind();
    return make_run(program_, index, build, source, RunKind::kResults);
  }

  Result<std::unique_ptr<PipelineRun>> make_run(const Program& program, uint32_t index, JoinBuild* build,
                                                const ChunkSource& source, RunKind kind_of_run) {
    const Pipeline& pipeline = program.pipelines[index];
    std::vector<JoinInfo> joins;
    bool nothing_matches = index == main_pipeline() && kind_of_run == RunKind::kResults && !needed_.is_outer_needed();
    for (uint32_t join : pipeline.joins) {
      joins.push_back({join, builds_[join].get(), match_fraction(join)});
      const plan::JoinKind kind = program.joins[join].kind;
      const bool is_passed = kind_of_run == RunKind::kBuildRows && join == pipeline.joins.front();
      const bool needs_match = !is_passed && !plan::may_miss(kind) && kind != plan::JoinKind::kAnti;
      const bool is_empty = builds_[join]->rows() == 0 || plan::matches_nothing(program, program.joins[join]);
      nothing_matches = nothing_matches || (needs_match && is_empty);
    }
    const Partition partition = build != nullptr ? build->partition() : Partition{};
    const bool on_cpu = sums_in_order(pipeline) || kind_of_run == RunKind::kFirstRow;
    const std::vector<Device*> devices = on_cpu ? std::vector<Device*>() : devices_for(source);
    const SourceTraits traits{options_.single_byte_encoding, source.stable_text(), source.converts_late(),
                              !devices.empty()};
    STROM_ASSIGN(Assembly assembly,
                 assemble(program, index, joins, partition, traits, kind_of_run == RunKind::kBuildRows));
    Options options = options_;
    if (kind_of_run == RunKind::kFirstRow) options.morsel_rows = std::min(options.morsel_rows, kFirstMorselRows);
    return std::make_unique<PipelineRun>(program, index, std::move(assembly), source, options, devices, build,
                                         nothing_matches, wanted_keys(program, index, source), in_order_);
  }

  /// PostgreSQL rounds a sum of float4 after each step, which threads of a device cannot do one after another.
  static bool sums_in_order(const Pipeline& pipeline) {
    return std::any_of(pipeline.aggregates.begin(), pipeline.aggregates.end(), [](const plan::Aggregate& aggregate) {
      return registry::aggregate_info(aggregate.id).acc == registry::AccKind::kSumF32;
    });
  }

  /// Those that run tiles over the source; none: the CPU does.
  std::vector<Device*> devices_for(const ChunkSource& source) const {
    if (options_.machine == nullptr || source.total_rows() < options_.device_rows) return {};
    std::vector<Device*> devices = options_.more_machines;
    devices.insert(devices.begin(), options_.machine);
    return devices;
  }

  /// What the joins of the last pipeline ask of columns that the source has statistics of.
  std::vector<ColumnKeys> wanted_keys(const Program& program, uint32_t index, const ChunkSource& source) const {
    std::vector<ColumnKeys> wanted;
    if (index != main_pipeline() || &program != &program_ || source.feeder() != nullptr) return wanted;
    // Errors count for rows without a match, too.
    for (const plan::NodeId qual : program.pipelines[index].quals)
      if (plan::can_be_an_error(program, qual)) return wanted;
    for (const plan::KeyColumn& key : plan::deciding_key_columns(program)) {
      if (!source.has_bounds(key.column)) continue;
      if (auto range = builds_[key.join]->key_range(key.key)) wanted.push_back({key.column, std::move(*range)});
    }
    return wanted;
  }

  /// Probing rows that find a match, estimated by how much of the inner side its own filter left over.
  double match_fraction(uint32_t join) const {
    const auto rows = static_cast<double>(inner_[join].measured ? inner_[join].rows : builds_[join]->rows());
    const double scanned = static_cast<double>(std::max<int64_t>(1, build_rows_scanned_[join]));
    // The inner side is the smaller one, whose keys are some of the outer's, even where it comes without a filter.
    const auto range = static_cast<double>(builds_[join]->table().direct.range);
    const bool smaller = plan::ends_probing(program_.joins[join].kind) && range > 0;
    return std::min(rows / scanned, smaller ? rows / range : 1);
  }

  /// The join that build pipeline `index` is for.
  uint32_t join_of(uint32_t index) const {
    uint32_t join = 0;
    while (join < program_.joins.size() && program_.joins[join].build_pipeline != index) ++join;
    return join;
  }

  /// Passes are made over the last pipeline; what another one probes has to be there as a whole.
  bool is_main_join(uint32_t join) const {
    return std::find(main_joins().begin(), main_joins().end(), join) != main_joins().end();
  }

  std::vector<Phys> phys_of(const std::vector<plan::NodeId>& nodes) const {
    std::vector<Phys> phys;
    for (const plan::NodeId id : nodes) phys.push_back(program_.nodes[id].type.phys());
    return phys;
  }

  /// What the finished table of the whole inner side is cached under; without a name: nowhere.
  columnar::RowsOrigin origin_of(uint32_t join) const {
    const BuildText made = build_text(program_, join, join_needs(program_, join), options_.single_byte_encoding);
    if (made.text.empty()) return {};
    columnar::RowsOrigin origin =
        sources_[program_.pipelines[program_.joins[join].build_pipeline].source]->origin(made.columns);
    if (origin.name.empty()) return origin;
    origin.name = "j" + made.text + origin.name;
    if (origin.name.size() > DeviceCache::kMostMirroredNameBytes) origin.name.clear();
    return origin;
  }

  /// nullptr: the join table is not to be cached.
  std::shared_ptr<CachedJoin> cacheable(uint32_t join, const std::vector<Device*>& devices) const {
    const auto keeps = [](Device* device) { return device->cache() != nullptr; };
    if (inner_[join].measured || std::none_of(devices.begin(), devices.end(), keeps)) return nullptr;
    columnar::RowsOrigin origin = origin_of(join);
    return origin.name.empty() ? nullptr : std::make_shared<CachedJoin>(std::move(origin));
  }

  /// True: `cached` is on one of the devices, and is the join's table now.
  Result<bool> take_cached(uint32_t join, const std::shared_ptr<CachedJoin>& cached,
                           const std::vector<Device*>& devices, const InterruptCheck& interrupt) {
    const auto keep_going = [&interrupt] {
      interrupt();
      return true;
    };
    const std::vector<Phys> keys = phys_of(program_.joins[join].inner_keys);
    const std::vector<Phys> payload = phys_of(program_.joins[join].payload);
    STROM_ASSIGN(std::optional<JoinImage> image, cached->find(devices, keys, payload, keep_going));
    if (!image) return false;
    build_rows_scanned_[join] = image->scanned_rows;
    builds_[join] = std::make_unique<JoinBuild>(keys, payload, join_needs(program_, join), std::move(*image), cached);
    ++past_stats_.device_joins.kept;
    if (declined_build_) declined_build_(program_.joins[join].build_pipeline, {});
    return true;
  }

  /// Makes the table of the current part of an inner side. Devices may have it from earlier queries.
  Status run_build(uint32_t index, const InterruptCheck& interrupt) {
    const uint32_t join = join_of(index);
    std::vector<Device*> devices;
    if (is_main_join(join)) devices = devices_for(*sources_[program_.pipelines.back().source]);
    const std::shared_ptr<CachedJoin> cached = cacheable(join, devices);
    if (cached != nullptr) {
      STROM_ASSIGN(const bool is_there, take_cached(join, cached, devices, interrupt));
      if (is_there) return {};
    }
    STROM_ASSIGN(const bool is_as_read, build_table(index, join, interrupt));
    if (!devices.empty()) ++past_stats_.device_joins.built;
    if (cached == nullptr || !options_.device_keeps_joins || !is_as_read || origin_of(join).name != cached->name())
      return {};
    cached->set_built(build_rows_scanned_[join]);
    builds_[join]->set_cached(cached);
    return {};
  }

  /// What progress() tells of, while it runs.
  struct Building {
    Building(ExecutionImpl* execution, const PipelineRun* run, uint32_t pipeline) : execution(execution) {
      execution->building_ = run;
      execution->building_pipeline_ = pipeline;
    }
    ~Building() { execution->building_ = nullptr; }
    ExecutionImpl* execution;
  };

  /// Builds a table, which is measured and divided when it does not fit. True when it is that of all rows, and none of
  /// them was PostgreSQL's to decide.
  Result<bool> build_table(uint32_t index, uint32_t join, const InterruptCheck& interrupt) {
    const std::vector<Phys> keys = phys_of(program_.joins[join].inner_keys);
    const std::vector<Phys> payload = phys_of(program_.joins[join].payload);
    const bool spatial = program_.joins[join].spatial != plan::SpatialMatch::kNone;
    const bool divisible = !keys.empty() && !spatial && is_main_join(join);
    InnerPartitions& inner = inner_[join];
    for (;;) {
      builds_[join].reset();
      builds_[join] = std::make_unique<JoinBuild>(keys, payload, join_needs(program_, join), inner.current());
      JoinBuild& build = *builds_[join];
      STROM_ASSIGN(const std::unique_ptr<PipelineRun> run, make_run(index, &build));
      if (divisible && !inner.measured) run->measure_beyond_budget();
      {
        const Building building(this, run.get(), index);
        STROM_TRY(run->run_to_end(interrupt));
      }
      std::vector<DeclinedRow> declined = run->take_declined_rows();
      if (!declined.empty() && !declined_build_)
        return Status(ErrorCode::kInternal, "rows of an inner side were declined and nobody takes them");
      if (!declined.empty() && can_fail(program_, index)) {
        STROM_ASSIGN(const bool counts, is_reached(join, interrupt));
        if (!counts) declined.clear();
      }
      if (declined_build_) declined_build_(index, declined);
      if (divisible && !inner.measured && build.sizes() == nullptr && !build.fits(options_.join_memory_budget))
        build.measure();
      if (const BucketSizes* sizes = build.sizes()) {
        inner = {sizes->parts(options_.join_memory_budget, most_parts(join)), 0, true, sizes->rows()};
        continue;
      }
      build_rows_scanned_[join] = run->rows();
      STROM_TRY(build.finish(options_.join_memory_budget, options_.threads));
      run->take_time();
      add_run(*run, index, &past_stats_);
      return declined.empty() && build.partition().is_whole();
    }
  }

  /// Parts that the inner side of `join` may have, so that their combinations with those of the others are no more than
  /// kMostPasses.
  size_t most_parts(uint32_t join) const {
    size_t others = 1;
    for (const uint32_t other : main_joins())
      if (other != join) others *= inner_[other].parts.size();
    return std::max<size_t>(1, kMostPasses / others);
  }

  /// char(n) keys are held without their padding.
  std::vector<plan::Constant> trimmed_keys(uint32_t join, std::vector<plan::Constant> keys) const {
    const size_t compared = program_.joins[join].spatial == plan::SpatialMatch::kNone ? keys.size() : 0;
    for (size_t i = 0; i < compared; ++i) {
      if (program_.nodes[program_.joins[join].inner_keys[i]].type.type != registry::TypeId::kBpchar) continue;
      while (!keys[i].bytes.empty() && keys[i].bytes.back() == ' ') keys[i].bytes.pop_back();
    }
    return keys;
  }

  Program program_;
  const std::vector<int32_t> params_;  // for each constant the parameter that it is, -1 for others
  const std::vector<const ChunkSource*> sources_;
  const Options options_;
  NeededSides needed_;
  std::vector<Collect> collect_;  // by pipeline
  CollectHook collect_rows_;
  std::vector<std::unique_ptr<JoinBuild>> builds_;
  std::vector<InnerPartitions> inner_;  // for each join
  std::vector<int64_t> build_rows_scanned_;
  const PipelineRun* building_ = nullptr;
  uint32_t building_pipeline_ = 0;
  DeclinedBuildHook declined_build_;
  PassEndHook pass_end_;
  std::unique_ptr<Program> build_rows_program_;  // main_run_'s, while it runs over build rows
  std::unique_ptr<BuildRows> build_rows_;
  size_t build_rows_at_ = 0;     // place of the join that they are of
  size_t build_rows_begin_ = 0;  // first place whose build rows are still to come in this pass
  bool finished_ = false;
  bool in_order_ = false;                  // of the run that is being made
  Stats past_stats_;                       // of the runs that have ended
  std::unique_ptr<PipelineRun> main_run_;  // the last, so that its threads end before what they read is gone
};

}  // namespace

Result<std::unique_ptr<Execution>> Execution::create(const Program& program, std::vector<const ChunkSource*> sources,
                                                     std::vector<plan::Constant> params, Options options) {
  if (sources.size() != program.sources.size()) return Status(ErrorCode::kInternal, "sources do not fit the program");
  for (const Pipeline& pipeline : program.pipelines)
    if (pipeline.joins.size() > kMostJoins)
      return Status(ErrorCode::kUnsupported, "more than " + std::to_string(kMostJoins) + " joins in one pipeline");
  STROM_ASSIGN(Program resolved, with_parameters(program, params));
  return std::unique_ptr<Execution>(new ExecutionImpl(std::move(resolved), parameter_numbers(program),
                                                      std::move(sources), within_limits(std::move(options))));
}

}  // namespace strom::engine::exec
