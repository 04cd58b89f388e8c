#include "engine/exec/execution.hpp"

#include <algorithm>
#include <bit>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "engine/exec/assemble.hpp"
#include "engine/exec/group_table.hpp"
#include "engine/exec/isa.hpp"
#include "engine/exec/join_table.hpp"
#include "engine/exec/worker.hpp"

namespace strom::engine::exec {
namespace {

using plan::Pipeline;
using plan::Program;
using plan::SinkKind;
using registry::Phys;

constexpr int64_t kMostMorselRows = 128 * 1024;
/// Result batches that wait for the consumer, per thread.
constexpr size_t kQueuedPerThread = 4;
/// Passes over the outer side that one look at a part of the inner side may ask for; it can turn out to need more.
constexpr int64_t kMostPartsAtOnce = 64;
constexpr uint32_t kGroupsWorthMerging = 1024;
/// With less memory, the parts' first tables would take it all.
constexpr int64_t kLeastSharedBudget = 4 << 20;
constexpr auto kPollInterval = std::chrono::milliseconds(10);

/// Hands out morsels of a source, chunk after chunk. A fed source's chunks are loaded by whoever takes them.
class MorselQueue {
 public:
  MorselQueue(const ChunkSource& source, int64_t morsel_rows)
      : source_(source), chunks_(source.feeder() != nullptr ? 0 : source.chunk_count()), morsel_rows_(morsel_rows) {}

  /// False at the end; an error of the source is returned once. `waits`: for chunks that are yet to be fed.
  Result<bool> next(Morsel* morsel, bool waits) {
    return source_.feeder() != nullptr ? next_fed(morsel, waits) : next_slice(morsel);
  }

  /// Fed chunks that nobody has taken yet.
  int64_t ready() {
    std::lock_guard lock(mutex_);
    return chunks_ - (chunk_ + 1);
  }
  void add_fed() {
    {
      std::lock_guard lock(mutex_);
      ++chunks_;
    }
    fed_.notify_one();
  }
  /// No more will be fed.
  void end_feeding() {
    {
      std::lock_guard lock(mutex_);
      all_fed_ = true;
    }
    fed_.notify_all();
  }

  int64_t chunks() const { return chunks_; }
  int64_t rows() const { return rows_; }

 private:
  Result<bool> next_fed(Morsel* morsel, bool waits) {
    int64_t chunk;
    {
      std::unique_lock lock(mutex_);
      if (waits) fed_.wait(lock, [&] { return chunk_ + 1 < chunks_ || all_fed_; });
      if (chunk_ + 1 >= chunks_) return false;
      chunk = ++chunk_;
    }
    STROM_ASSIGN(auto view, source_.chunk(chunk));
    rows_ += view.rows;
    *morsel = {chunk, 0, static_cast<int32_t>(view.rows), std::make_shared<const columnar::BatchView>(std::move(view))};
    return true;
  }

  Result<bool> next_slice(Morsel* morsel) {
    std::lock_guard lock(mutex_);
    while (!batch_ || row_ >= batch_->rows) {
      batch_.reset();
      if (chunk_ + 1 >= chunks_) return false;
      ++chunk_;
      row_ = 0;
      STROM_ASSIGN(auto view, source_.chunk(chunk_));
      batch_ = std::make_shared<const columnar::BatchView>(std::move(view));
      rows_ += batch_->rows;
    }
    morsel->chunk = chunk_;
    morsel->begin = row_;
    morsel->rows = static_cast<int32_t>(std::min(morsel_rows_, batch_->rows - row_));
    morsel->batch = batch_;
    row_ += morsel->rows;
    return true;
  }

  const ChunkSource& source_;
  int64_t chunks_;  // of a fed source: so far
  const int64_t morsel_rows_;
  std::mutex mutex_;
  std::condition_variable fed_;
  bool all_fed_ = false;
  int64_t chunk_ = -1, row_ = 0;
  std::atomic<int64_t> rows_{0};
  std::shared_ptr<const columnar::BatchView> batch_;
};

/// Signals that PostgreSQL handles must reach its main thread only; those of a fault stay with the thread.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, number);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Adds counts of a run to those of an earlier one of the same pipeline, whose stages may be others.
void add_stages(const std::vector<StageStats>& run, std::vector<StageStats>* sum) {
  std::vector<bool> taken(sum->size(), false);
  for (const StageStats& stage : run) {
    size_t place = 0;
    while (place < taken.size() && (taken[place] || (*sum)[place].name != stage.name)) ++place;
    if (place == taken.size()) {
      taken.push_back(false);
      sum->push_back({stage.name, 0, 0});
    }
    taken[place] = true;
    (*sum)[place].rows_in += stage.rows_in;
    (*sum)[place].rows_out += stage.rows_out;
  }
}

/// An inner side in the parts that fit its budget, and the one that the running pass joins with.
struct InnerParts {
  std::vector<Partition> parts{Partition{}};
  size_t at = 0;

  /// Divides the current part into `count` parts.
  void divide(uint32_t count) {
    const Partition whole = parts[at];
    std::vector<Partition> smaller;
    for (uint32_t i = 0; i < count; ++i) smaller.push_back({whole.number + i * whole.count, whole.count * count});
    parts.erase(parts.begin() + static_cast<long>(at));
    parts.insert(parts.begin() + static_cast<long>(at), smaller.begin(), smaller.end());
  }
};

/// The workers of one pipeline while it runs.
class PipelineRun : public WorkerSink {
 public:
  PipelineRun(const Program& program, uint32_t index, Assembly assembly, const ChunkSource& source, const Options& options,
              JoinBuild* build, bool nothing_matches)
      : program_(program), index_(index), assembly_(std::move(assembly)), source_(source), options_(options), build_(build),
        feeder_(source.feeder()), run_(options.run), queue_(source, options.morsel_rows), exhausted_(nothing_matches) {
    // What is left is for the parts in which full tables meet.
    group_budget_ = options.memory_budget / 4 / std::max(1, options.threads);
    start_ = std::chrono::steady_clock::now();
  }

  ~PipelineRun() override { stop(); }

  /// The caller's share of the work: one morsel. False when there is none left to take.
  Result<bool> step(const InterruptCheck& interrupt) {
    if (!main_worker_) {
      main_worker_ = make_worker();
      if (!exhausted_) start_threads();
      if (exhausted_) queue_.end_feeding();
    }
    if (feeder_ != nullptr && !all_fed_) feed(interrupt);
    return take_and_run(*main_worker_, false, [&] {
      interrupt();
      return !stopping_.load();
    });
  }

  /// Waits a moment for the threads; true when all are done.
  bool wait_a_moment() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPollInterval,
                      [&] { return running_ == 0 || !results_.empty() || !error_.is_ok() || out_of_memory_; });
    return running_ == 0;
  }

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_.store(true);
    }
    changed_.notify_all();
    queue_.end_feeding();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  Status error() {
    std::lock_guard lock(mutex_);
    if (error_.is_ok() && out_of_memory_) return Status(ErrorCode::kOutOfMemory, "out of memory in an engine thread");
    return error_;
  }

  std::shared_ptr<const ResultBatch> pop_result() {
    std::shared_ptr<const ResultBatch> batch;
    {
      std::lock_guard lock(mutex_);
      if (results_.empty()) return nullptr;
      batch = std::move(results_.front());
      results_.pop_front();
    }
    changed_.notify_all();
    return batch;
  }

  std::vector<DeclinedRow> take_declined_rows() {
    std::lock_guard lock(mutex_);
    return std::exchange(declined_, {});
  }

  /// After all morsels: merges the workers' groups into as few batches as the budget allows.
  void finish_groups() {
    threads_done();
    std::vector<std::unique_ptr<Worker>>& workers = all_workers_;
    if (workers.empty() || program_.pipelines[index_].sink != SinkKind::kAggregate) return;
    if (has_shared_groups()) {
      for (uint64_t part = 0; part < HostGroupTable::kParts; ++part) {
        for (const auto& worker : workers) absorb(*worker->groups(), part);
        if (group_parts_[part].table && !group_parts_[part].table->empty()) push_groups(*group_parts_[part].table);
        group_parts_[part].table.reset();
      }
      return;
    }
    HostGroupTable& target = *workers[0]->groups();
    for (size_t i = 1; i < workers.size(); ++i) {
      HostGroupTable& other = *workers[i]->groups();
      if (target.hashed() && target.memory() + other.memory() > options_.memory_budget)
        push(other.emit(program_, program_.pipelines[index_]));
      else
        target.merge(other);
    }
    if (!target.empty()) push_groups(target);
  }

  void absorb(const HostGroupTable& groups, uint64_t part) {
    GroupPart& shared = group_parts_[part];
    std::lock_guard lock(shared.mutex);
    if (!shared.table) shared.table = std::make_unique<HostGroupTable>(assembly_);
    const int64_t before = shared.bytes;
    shared.table->absorb(groups, part);
    shared.bytes = shared.table->memory();
    const int64_t all = shared_bytes_.fetch_add(shared.bytes - before) + shared.bytes - before;
    if (all > shared_peak_.load()) shared_peak_.store(all);
    if (all <= options_.memory_budget) return;
    push(shared.table->emit(program_, program_.pipelines[index_]));
    shared.table.reset();
    shared_bytes_.fetch_sub(shared.bytes);
    shared.bytes = 0;
  }

  bool has_shared_groups() {
    return std::any_of(group_parts_.begin(), group_parts_.end(), [](const GroupPart& part) { return part.table != nullptr; });
  }

  /// Many groups leave merged by each grouping set; the receiver merges few in less time than it takes here.
  void push_groups(const HostGroupTable& groups) {
    const Pipeline& pipeline = program_.pipelines[index_];
    if (pipeline.grouping_sets.empty() || !groups.hashed() || groups.count() < kGroupsWorthMerging) {
      push(groups.emit(program_, pipeline));
      return;
    }
    for (size_t i = 0; i < pipeline.grouping_sets.size(); ++i) {
      HostGroupTable merged(assembly_);
      merged.merge_by(groups, pipeline.grouping_sets[i]);
      auto batch = merged.emit(program_, pipeline);
      batch->grouping_set = static_cast<int>(i);
      push(std::move(batch));
    }
  }

  void threads_done() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    finished_ms_ = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

  // ---- WorkerSink ----

  void take_output(OutputBatch batch) override {
    if (build_ != nullptr) {
      std::lock_guard lock(mutex_);
      build_->append(batch.columns, batch.has_flags, batch.rows);
      build_->keep(batch.texts);
      if (!divisible_ || build_->memory() <= options_.join_memory_budget) return;
      divisible_ = build_->is_divisible();
      if (!divisible_) return;
      overflowed_ = true;
      stopping_.store(true);
      queue_.end_feeding();
      return;
    }
    auto memory = std::make_shared<OutputBatch>(std::move(batch));
    auto result = std::make_shared<ResultBatch>();
    result->rows = memory->rows;
    result->memory_bytes = memory->memory_bytes;
    const Pipeline& pipeline = program_.pipelines[index_];
    for (size_t i = 0; i < pipeline.outputs.size(); ++i)
      result->columns.push_back({program_.nodes[pipeline.outputs[i]].type, memory->columns[i].data,
                                 memory->has_flags[i] ? memory->columns[i].flags : nullptr});
    result->memory = std::move(memory);
    push(std::move(result));
  }

  /// Tables that overflow meet in parts by hash, each with a lock, so that a group leaves once unless the parts together
  /// outgrow the budget: then the part that is being added to is handed on as it is.
  void take_groups(const HostGroupTable& groups) override {
    ++partial_flushes_;
    if (!groups.hashed() || options_.memory_budget < kLeastSharedBudget) {
      push(groups.emit(program_, program_.pipelines[index_]));
      return;
    }
    for (uint64_t part = 0; part < HostGroupTable::kParts; ++part) absorb(groups, part);
  }

  void take_declined(std::vector<DeclinedRow> rows) override {
    std::lock_guard lock(mutex_);
    declined_count_ += static_cast<int64_t>(rows.size());
    std::move(rows.begin(), rows.end(), std::back_inserter(declined_));
  }

  // ---- statistics ----

  std::vector<StageStats> stages() const {
    std::vector<StageStats> stages;
    for (size_t i = 0; i < assembly_.segments.size(); ++i) {
      StageStats stage{assembly_.segment_names[i], 0, 0};
      for (const auto& worker : all_workers_) {
        stage.rows_in += static_cast<int64_t>(worker->rows_in()[i]);
        stage.rows_out += static_cast<int64_t>(worker->rows_out()[i]);
      }
      stages.push_back(std::move(stage));
    }
    return stages;
  }
  double milliseconds() const { return finished_ms_; }
  /// For a build: its rows are too many, and it ended before all of them were there.
  bool overflowed() const { return overflowed_; }
  /// For a build: the rows shall be collected whatever they take.
  void collect_all() { divisible_ = false; }
  int64_t rows() const { return queue_.rows(); }
  int64_t chunks() const { return queue_.chunks(); }
  int64_t declined_count() const { return declined_count_; }
  int64_t partial_flushes() const { return partial_flushes_; }
  int thread_count() const { return static_cast<int>(all_workers_.size()); }
  int64_t memory() const {
    int64_t bytes = shared_peak_.load();
    for (const auto& worker : all_workers_) bytes += worker->memory();
    return bytes;
  }

 private:
  Worker* make_worker() {
    auto worker = std::make_unique<Worker>(program_, index_, assembly_, run_, group_budget_, this);
    std::lock_guard lock(mutex_);
    all_workers_.push_back(std::move(worker));
    return all_workers_.back().get();
  }

  /// Keeps chunks ready for the other threads and one for this.
  void feed(const InterruptCheck& interrupt) {
    if (feed_limit_ == 0) feed_limit_ = std::max<int64_t>(1, feeder_->limit(options_.threads));
    while (!all_fed_ && !stopping_.load() && queue_.ready() < feed_limit_) {
      interrupt();
      if (feeder_->feed()) {
        queue_.add_fed();
      } else {
        all_fed_ = true;
        queue_.end_feeding();
      }
    }
  }

  void start_threads() {
    // What a single morsel could hold is done before a thread would have started.
    const int64_t useful = (source_.total_rows() + options_.morsel_rows - 1) / options_.morsel_rows;
    const int threads = static_cast<int>(std::min<int64_t>(options_.threads, useful));
    if (threads <= 1) return;
    BlockSignals block;
    for (int i = 1; i < threads; ++i) {
      ++running_;
      try {
        threads_.emplace_back([this] { thread_main(); });
      } catch (const std::system_error&) {  // no more threads to be had: the others do the work
        --running_;
        return;
      }
    }
  }

  void thread_main() {
    try {
      Worker* worker = make_worker();
      for (;;) {
        if (!room_in_queue()) break;
        Result<bool> more = take_and_run(*worker, true, [this] { return !stopping_.load(); });
        if (!more.is_ok() || !more.value()) break;
      }
    } catch (const std::bad_alloc&) {
      fail_for_memory();
    }
    {
      std::lock_guard lock(mutex_);
      --running_;
    }
    changed_.notify_all();
  }

  /// Waits until the consumer has taken enough; false when the run is being stopped.
  bool room_in_queue() {
    std::unique_lock lock(mutex_);
    const size_t limit = kQueuedPerThread * static_cast<size_t>(options_.threads);
    changed_.wait(lock, [&] { return stopping_.load() || results_.size() < limit; });
    return !stopping_.load();
  }

  Result<bool> take_and_run(Worker& worker, bool waits, const Worker::KeepGoing& keep_going) {
    if (exhausted_ || stopping_.load()) return false;
    Morsel morsel;
    Result<bool> taken = queue_.next(&morsel, waits);
    if (!taken.is_ok()) {
      fail(taken.status());
      return taken.status();
    }
    if (!taken.value()) return false;
    int32_t column = 0;
    const int64_t declined_before = worker.declined_rows();
    const Status status = worker.run(morsel, keep_going, &column);
    if (feeder_ != nullptr) feeder_->release(morsel.chunk, worker.declined_rows() > declined_before);
    if (status.is_ok()) return true;
    if (status.code() == ErrorCode::kCancelled) return false;
    Status described = Status(status.code(), "corrupt data in " + source_.describe(morsel.chunk))
                           .with_detail("Column " + std::to_string(column + 1) + " of the scan: " + status.message() + ".");
    fail(described);
    return described;
  }

  void fail(const Status& status) {
    {
      std::lock_guard lock(mutex_);
      if (error_.is_ok()) error_ = status;
      stopping_.store(true);
    }
    changed_.notify_all();
  }

  /// Without a message, which would need memory.
  void fail_for_memory() noexcept {
    {
      std::lock_guard lock(mutex_);
      out_of_memory_ = true;
      stopping_.store(true);
    }
    changed_.notify_all();
  }

  void push(std::shared_ptr<const ResultBatch> batch) {
    {
      std::lock_guard lock(mutex_);
      results_.push_back(std::move(batch));
    }
    changed_.notify_all();
  }

  const Program& program_;
  const uint32_t index_;
  const Assembly assembly_;
  const ChunkSource& source_;
  const Options options_;
  JoinBuild* const build_;
  ChunkFeeder* const feeder_;
  int64_t feed_limit_ = 0;  // not asked yet
  bool all_fed_ = false;
  const block::RunMorsel run_;
  MorselQueue queue_;
  const bool exhausted_;  // an inner side is empty: no row can match
  bool divisible_ = true, overflowed_ = false;  // of a build
  int64_t group_budget_ = 0;
  /// Groups of overflowing tables; see take_groups().
  struct GroupPart {
    std::mutex mutex;
    std::unique_ptr<HostGroupTable> table;
    int64_t bytes = 0;
  };
  std::array<GroupPart, HostGroupTable::kParts> group_parts_;
  std::atomic<int64_t> shared_bytes_{0}, shared_peak_{0};
  std::chrono::steady_clock::time_point start_;
  double finished_ms_ = 0;
  Worker* main_worker_ = nullptr;
  std::vector<std::unique_ptr<Worker>> all_workers_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stopping_{false};
  int running_ = 0;
  Status error_;
  bool out_of_memory_ = false;  // in a thread
  std::deque<std::shared_ptr<const ResultBatch>> results_;
  std::vector<DeclinedRow> declined_;
  std::atomic<int64_t> declined_count_{0}, partial_flushes_{0};
};

class ExecutionImpl : public Execution {
 public:
  ExecutionImpl(Program program, std::vector<const ChunkSource*> sources, Options options)
      : program_(std::move(program)), sources_(std::move(sources)), options_(options), builds_(program_.joins.size()),
        inner_(program_.joins.size()), build_rows_scanned_(program_.joins.size(), 0) {
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
        if (!has_next_pass()) return std::shared_ptr<const ResultBatch>();
        STROM_TRY(next_pass(interrupt));
      }
      STROM_ASSIGN(const bool worked, main_run_->step(interrupt));
      if (worked) continue;
      if (!main_run_->wait_a_moment()) continue;
      STROM_TRY(main_run_->error());
      main_run_->finish_groups();
      finished_ = true;
    }
  }

  std::vector<DeclinedRow> take_declined() override {
    return main_run_ ? main_run_->take_declined_rows() : std::vector<DeclinedRow>();
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
      value.bytes.assign(static_cast<const char*>(column.at(row)), static_cast<size_t>(registry::phys_size(column.phys)));
    }
    return value;
  }

  bool is_in_pass(uint32_t join, const std::vector<plan::Constant>& keys, bool held) const override {
    if (!held) return builds_[join]->partition().number == 0;
    return builds_[join]->is_in_partition(trimmed_keys(join, keys));
  }

  Status add_build_row(uint32_t join, const std::vector<plan::Constant>& keys,
                       const std::vector<plan::Constant>& payload) override {
    if (join >= builds_.size() || !builds_[join]) return Status(ErrorCode::kInternal, "join table is not being built");
    const std::vector<plan::Constant> trimmed = trimmed_keys(join, keys);
    if (builds_[join]->is_in_partition(trimmed)) builds_[join]->append_row(trimmed, payload);
    return Status::ok();
  }

  void on_declined_build(DeclinedBuildHook hook) override { declined_build_ = std::move(hook); }

  void on_pass_end(PassEndHook hook) override { pass_end_ = std::move(hook); }

  void stop() override {
    if (main_run_) main_run_->stop();
  }

  Stats stats() const override {
    Stats stats = past_stats_;
    if (main_run_) add_run(*main_run_, main_pipeline(), &stats);
    for (const auto& build : builds_)
      if (build) stats.peak_memory += build->memory();
    if (main_run_) {
      stats.chunks = main_run_->chunks();
      stats.rows = main_run_->rows();
      stats.threads = main_run_->thread_count();
    }
    return stats;
  }

 private:
  uint32_t main_pipeline() const { return static_cast<uint32_t>(program_.pipelines.size() - 1); }

  void add_run(const PipelineRun& run, uint32_t pipeline, Stats* stats) const {
    add_stages(run.stages(), &stats->stages[pipeline]);
    stats->milliseconds[pipeline] += run.milliseconds();
    stats->passes += pipeline == main_pipeline() ? 1 : 0;
    stats->declined += run.declined_count();
    stats->partial_flushes += run.partial_flushes();
    stats->peak_memory = std::max(stats->peak_memory, run.memory());
  }

  Status start(const InterruptCheck& interrupt) {
    for (uint32_t i = 0; i < main_pipeline(); ++i) STROM_TRY(run_build(i, interrupt));
    main_run_ = make_run(main_pipeline(), nullptr);
    return Status::ok();
  }

  /// Views of a result may point to texts of tables that the next pass drops.
  std::shared_ptr<const ResultBatch> with_texts(std::shared_ptr<const ResultBatch> batch) const {
    struct Held {
      std::shared_ptr<const ResultBatch> batch;
      TextStore texts;
    };
    auto held = std::make_shared<Held>();
    for (size_t join = 0; join < inner_.size(); ++join)
      if (inner_[join].parts.size() > 1 && builds_[join]) held->texts.share(builds_[join]->stored_texts());
    if (held->texts.blocks().empty()) return batch;
    held->batch = std::move(batch);
    return {held, held->batch.get()};
  }

  bool has_next_pass() const {
    return std::any_of(inner_.begin(), inner_.end(), [](const InnerParts& inner) { return inner.at + 1 < inner.parts.size(); });
  }

  /// Every combination of the inner sides' parts is one pass over the outer side: the next part of the last join that
  /// has one, and the first part of those behind it.
  Status next_pass(const InterruptCheck& interrupt) {
    const std::vector<DeclinedRow> declined = main_run_->take_declined_rows();
    if (!declined.empty() && !pass_end_) return Status(ErrorCode::kInternal, "rows were declined and nobody takes them");
    if (!declined.empty()) pass_end_(declined);
    add_run(*main_run_, main_pipeline(), &past_stats_);
    main_run_.reset();
    finished_ = false;
    std::vector<bool> changed(inner_.size(), false);
    for (size_t join = inner_.size(); join-- > 0;) {
      InnerParts& inner = inner_[join];
      changed[join] = inner.parts.size() > 1;
      if (inner.at + 1 < inner.parts.size()) {
        ++inner.at;
        break;
      }
      inner.at = 0;
    }
    for (uint32_t i = 0; i < main_pipeline(); ++i)
      if (changed[join_of(i)]) STROM_TRY(run_build(i, interrupt));
    main_run_ = make_run(main_pipeline(), nullptr);
    return Status::ok();
  }

  std::unique_ptr<PipelineRun> make_run(uint32_t index, JoinBuild* build) {
    const Pipeline& pipeline = program_.pipelines[index];
    std::vector<JoinInfo> joins;
    bool nothing_matches = false;
    for (uint32_t join : pipeline.joins) {
      joins.push_back({join, builds_[join].get(), match_fraction(join)});
      const plan::JoinKind kind = program_.joins[join].kind;
      const bool needs_match = kind == plan::JoinKind::kInner || kind == plan::JoinKind::kSemi;
      nothing_matches = nothing_matches || (needs_match && builds_[join]->rows() == 0);
    }
    const Partition partition = build != nullptr ? build->partition() : Partition{};
    if (ChunkFeeder* feeder = sources_[pipeline.source]->feeder()) feeder->rewind();
    const bool stable_text = sources_[pipeline.source]->stable_text();
    return std::make_unique<PipelineRun>(
        program_, index, assemble(program_, index, joins, partition, options_.single_byte_encoding, stable_text),
        *sources_[pipeline.source], options_, build, nothing_matches);
  }

  /// Probing rows that find a match, estimated by how much of the inner side its own filter left over.
  double match_fraction(uint32_t join) const {
    const double scanned = static_cast<double>(std::max<int64_t>(1, build_rows_scanned_[join]));
    return static_cast<double>(builds_[join]->rows()) * builds_[join]->partition().count / scanned;
  }

  /// The join that build pipeline `index` is for.
  uint32_t join_of(uint32_t index) const {
    uint32_t join = 0;
    while (join < program_.joins.size() && program_.joins[join].build_pipeline != index) ++join;
    return join;
  }

  /// Builds the table of the current part of an inner side, which is divided further until it fits.
  Status run_build(uint32_t index, const InterruptCheck& interrupt) {
    const uint32_t join = join_of(index);
    if (join == program_.joins.size()) return Status(ErrorCode::kInternal, "build pipeline without a join");
    std::vector<Phys> keys, payload;
    for (plan::NodeId id : program_.joins[join].inner_keys) keys.push_back(program_.nodes[id].type.phys());
    for (plan::NodeId id : program_.joins[join].payload) payload.push_back(program_.nodes[id].type.phys());
    // Passes are made over the last pipeline; what another one probes has to be there as a whole.
    const std::vector<uint32_t>& probed = program_.pipelines.back().joins;
    const bool may_divide = std::find(probed.begin(), probed.end(), join) != probed.end();
    for (;;) {
      const Partition partition = inner_[join].parts[inner_[join].at];
      builds_[join].reset();
      builds_[join] = std::make_unique<JoinBuild>(keys, payload, join_needs(program_, join), partition, &texts_);
      JoinBuild& build = *builds_[join];
      auto run = make_run(index, &build);
      if (!may_divide) run->collect_all();
      STROM_TRY(run_to_end(*run, interrupt));
      if (run->overflowed()) {
        inner_[join].divide(parts_needed(build, *run, sources_[program_.pipelines[index].source]->total_rows()));
        continue;
      }
      if (auto declined = run->take_declined_rows(); !declined.empty()) {
        if (!declined_build_) return Status(ErrorCode::kInternal, "rows of an inner side were declined and nobody takes them");
        declined_build_(index, declined);
      }
      if (may_divide && !build.fits(options_.join_memory_budget) && build.is_divisible()) {
        inner_[join].divide(parts_needed(build, *run, run->rows()));
        continue;
      }
      build_rows_scanned_[join] = run->rows();
      add_run(*run, index, &past_stats_);
      return build.finish(options_.join_memory_budget);
    }
  }

  /// Parts that a build is to be divided into when `run` has read a share of `total` rows.
  uint32_t parts_needed(const JoinBuild& build, const PipelineRun& run, int64_t total) const {
    const double share = static_cast<double>(std::max<int64_t>(1, run.rows())) / static_cast<double>(std::max<int64_t>(1, total));
    const double bytes = 2.0 * static_cast<double>(build.memory()) / std::clamp(share, 1e-6, 1.0);
    const double parts = std::clamp(bytes / static_cast<double>(options_.join_memory_budget), 2.0, static_cast<double>(kMostPartsAtOnce));
    return std::min(std::bit_ceil(static_cast<uint32_t>(parts)), kMaxPartitions / build.partition().count);
  }

  static Status run_to_end(PipelineRun& run, const InterruptCheck& interrupt) {
    for (;;) {
      interrupt();
      STROM_TRY(run.error());
      STROM_ASSIGN(const bool worked, run.step(interrupt));
      if (worked || !run.wait_a_moment()) continue;
      run.threads_done();
      return run.error();
    }
  }

  /// char(n) keys are held without their padding.
  std::vector<plan::Constant> trimmed_keys(uint32_t join, std::vector<plan::Constant> keys) const {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (program_.nodes[program_.joins[join].inner_keys[i]].type.type != registry::TypeId::kBpchar) continue;
      while (!keys[i].bytes.empty() && keys[i].bytes.back() == ' ') keys[i].bytes.pop_back();
    }
    return keys;
  }

  const Program program_;
  const std::vector<const ChunkSource*> sources_;
  const Options options_;
  std::vector<std::unique_ptr<JoinBuild>> builds_;
  std::vector<InnerParts> inner_;  // for each join
  std::deque<std::string> texts_;  // of build rows that were added by value
  std::vector<int64_t> build_rows_scanned_;
  DeclinedBuildHook declined_build_;
  PassEndHook pass_end_;
  std::unique_ptr<PipelineRun> main_run_;
  bool finished_ = false;
  Stats past_stats_;  // of the runs that have ended
};

/// The program with parameters filled in.
Result<Program> resolve(const Program& program, const std::vector<plan::Constant>& params) {
  Program resolved = program;
  for (plan::Constant& constant : resolved.constants) {
    if (constant.param < 0) continue;
    if (static_cast<size_t>(constant.param) >= params.size()) return Status(ErrorCode::kInternal, "missing parameter");
    const plan::Constant& value = params[static_cast<size_t>(constant.param)];
    if (!(value.type == constant.type)) return Status(ErrorCode::kInternal, "parameter of another type");
    constant.is_null = value.is_null;
    constant.bytes = value.bytes;
    constant.param = -1;
  }
  return resolved;
}

}  // namespace

int64_t default_morsel_rows() {
  static const int64_t rows = [] {
    const char* wanted = std::getenv("STROM_MORSEL_ROWS");
    return wanted == nullptr ? kMostMorselRows : std::clamp<int64_t>(std::atoll(wanted), 1, kMostMorselRows);
  }();
  return rows;
}

Result<std::unique_ptr<Execution>> Execution::create(const Program& program, std::vector<const ChunkSource*> sources,
                                                     std::vector<plan::Constant> params, Options options) {
  if (sources.size() != program.sources.size()) return Status(ErrorCode::kInternal, "sources do not fit the program");
  for (const Pipeline& pipeline : program.pipelines)
    if (pipeline.joins.size() > block::kMaxJoins)
      return Status(ErrorCode::kUnsupported, "more than " + std::to_string(block::kMaxJoins) + " joins in one pipeline");
  STROM_ASSIGN(Program resolved, resolve(program, params));
  options.threads = std::max(1, options.threads);
  options.morsel_rows = std::clamp<int64_t>(options.morsel_rows, 1, kMostMorselRows);
  if (options.run == nullptr) {
    STROM_ASSIGN(options.run, run_morsel_for(options.isa));
  }
  return std::unique_ptr<Execution>(new ExecutionImpl(std::move(resolved), std::move(sources), options));
}

}  // namespace strom::engine::exec
