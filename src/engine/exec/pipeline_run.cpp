#include "engine/exec/pipeline_run.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/blocked_signals.hpp"
#include "base/no_read_ahead.hpp"
#include "base/thread_memory.hpp"
#include "columnar/page_batch.hpp"
#include "engine/device/device_worker.hpp"
#include "engine/exec/cpu_worker.hpp"
#include "engine/op/sort/sorted_rows.hpp"

namespace strom::engine::exec {

namespace {

/// Result batches that wait for the consumer, per thread.
constexpr size_t kQueuedPerThread = 4;
constexpr auto kPollInterval = std::chrono::milliseconds(10);
/// Prepared constants may take this much, however small the budget is.
constexpr int64_t kLeastPrepared = 1 << 20;

}  // namespace

PipelineRun::PipelineRun(const plan::Program& program, uint32_t index, op::Assembly assembly,
                         const op::ChunkSource& source, const Options& options,
                         const std::vector<device::Device*>& devices, op::JoinBuild* build, bool nothing_matches,
                         std::vector<op::ColumnKeys> wanted, bool in_order)
    : program_(program),
      index_(index),
      assembly_(std::move(assembly)),
      prepared_(program, assembly_.constants, std::max(options.memory_budget / 4, kLeastPrepared)),
      source_(source),
      options_(options),
      build_(build),
      feeder_(source.feeder()),
      run_(options.run),
      morsel_rows_(devices.empty() ? options.morsel_rows : options.device_morsel_rows),
      is_single_group_(devices.empty() && is_single_group()),
      lanes_(devices.empty() ? lanes(in_order) : 0),
      queue_(source, morsel_rows_, std::move(wanted), affinity(program, index, options, devices.size()), lanes_),
      exhausted_(nothing_matches),
      groups_(program, index, assembly_, options.memory_budget, lanes_,
              [this](std::shared_ptr<const op::ResultBatch> batch) { push(std::move(batch)); }),
      lane_workers_(lanes_) {
  for (device::Device* device : devices) devices_.push_back(std::make_unique<OpenedDevice>(device));
  // The rest of the budget is for the parts that full tables are combined in.
  group_budget_ =
      options.memory_budget / 4 / std::max<int64_t>(1, lanes_ > 0 ? static_cast<int64_t>(lanes_) : options.threads);
  start_ = std::chrono::steady_clock::now();
}

// ---- the calling thread ----

Result<bool> PipelineRun::step(const InterruptCheck& interrupt) {
  const auto keep_going = [&] {
    interrupt();
    return !stopping_.load();
  };
  if (!started_) {
    started_ = true;
    count_threads();
    STROM_TRY(fill_slot(&main_slot_, 0, keep_going));
    start_threads();
    if (exhausted_) queue_.end_feeding();
    if (feeder_ != nullptr) feeder_->let_devices_read(main_slot_.device != nullptr && options_.device_reads_files);
  }
  if (feeder_ != nullptr && !all_fed_) feed(interrupt);
  return take_and_run(main_slot_, false, keep_going);
}

Status PipelineRun::run_to_end(const InterruptCheck& interrupt) {
  for (;;) {
    interrupt();
    STROM_TRY(error());
    STROM_ASSIGN(const bool worked, step(interrupt));
    if (worked || !wait_a_moment()) continue;
    threads_done();
    STROM_TRY(error());
    return finish_workers();
  }
}

bool PipelineRun::has_output() {
  std::lock_guard lock(mutex_);
  return fallback_count_ > 0 ||
         std::any_of(results_.begin(), results_.end(), [](const auto& batch) { return batch->rows > 0; });
}

Result<bool> PipelineRun::has_row(const InterruptCheck& interrupt) {
  for (;;) {
    interrupt();
    STROM_TRY(error());
    STROM_ASSIGN(const bool worked, step(interrupt));
    if (has_output()) return true;
    if (worked || !wait_a_moment()) continue;
    threads_done();
    STROM_TRY(error());
    STROM_TRY(finish_workers());
    return has_output();
  }
}

bool PipelineRun::wait_a_moment() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kPollInterval, [&] {
    return running_ == 0 || !results_.empty() || !error_.is_ok() || out_of_memory_ || has_news_;
  });
  has_news_ = false;
  return running_ == 0;
}

void PipelineRun::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_.store(true);
  }
  changed_.notify_all();
  queue_.stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

Status PipelineRun::error() {
  std::lock_guard lock(mutex_);
  if (error_.is_ok() && out_of_memory_) return Status(ErrorCode::kOutOfMemory, "out of memory in an engine thread");
  return error_;
}

std::shared_ptr<const op::ResultBatch> PipelineRun::pop_result() {
  std::shared_ptr<const op::ResultBatch> batch;
  {
    std::lock_guard lock(mutex_);
    if (results_.empty()) return nullptr;
    batch = std::move(results_.front());
    results_.pop_front();
  }
  changed_.notify_all();
  return batch;
}

std::vector<op::FallbackRow> PipelineRun::take_fallback_rows() {
  std::lock_guard lock(mutex_);
  // Their states are combined with the groups' states in the order in which PostgreSQL evaluates the rows.
  if (lanes_ > 0)
    std::stable_sort(fallback_.begin(), fallback_.end(), [](const op::FallbackRow& a, const op::FallbackRow& b) {
      return std::tie(a.chunk, a.row, a.inner_rows) < std::tie(b.chunk, b.row, b.inner_rows);
    });
  return std::exchange(fallback_, {});
}

Result<bool> PipelineRun::finish_groups() {
  threads_done();
  STROM_TRY(finish_workers());
  if (program_.pipelines[index_].sink != plan::SinkKind::kAggregate) return true;
  std::vector<op::HostGroupTable*> groups;
  if (lanes_ > 0) {
    for (op::Worker* worker : lane_workers_)
      if (worker != nullptr) groups.push_back(worker->groups());
  } else {
    for (const auto& worker : all_workers_) groups.push_back(worker->groups());
  }
  return groups_.finish(groups, lanes_ > 1);
}

Status PipelineRun::finish_workers() {
  for (const auto& worker : all_workers_) STROM_TRY(worker->finish());
  for (const auto& device : devices_)
    if (device->pipeline) STROM_TRY(device->pipeline->take_matches([] { return true; }));
  return {};
}

void PipelineRun::threads_done() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  take_time();
}

void PipelineRun::take_time() {
  finished_ms_ = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
}

// ---- WorkerSink ----

void PipelineRun::take_output(op::OutputBatch batch) {
  if (build_ != nullptr) {
    std::lock_guard lock(mutex_);
    build_->append(batch.columns, batch.has_flags, batch.rows, batch.texts, assembly_.copied_outputs);
    if (measures_ && build_->sizes() == nullptr && build_->memory() > options_.join_memory_budget) build_->measure();
    return;
  }
  auto memory = std::make_shared<op::OutputBatch>(std::move(batch));
  auto result = std::make_shared<op::ResultBatch>();
  result->rows = memory->rows;
  result->memory_bytes = memory->memory_bytes;
  const plan::Pipeline& pipeline = program_.pipelines[index_];
  for (size_t i = 0; i < pipeline.outputs.size(); ++i)
    result->columns.push_back({program_.nodes[pipeline.outputs[i]].type, memory->columns[i].data,
                               memory->has_flags[i] ? memory->columns[i].flags : nullptr});
  if (!pipeline.order.empty()) {
    const int64_t texts = memory->texts.memory();
    memory->memory = sort_rows(pipeline.order, result.get());
    result->memory_bytes += texts;
  }
  result->memory = std::move(memory);
  push(std::move(result));
}

std::unique_ptr<op::HostGroupTable> PipelineRun::take_groups(std::unique_ptr<op::HostGroupTable> groups,
                                                             const op::Morsel& morsel) {
  return groups_.take(std::move(groups), morsel.number);
}

void PipelineRun::add_fallback_rows(std::vector<op::FallbackRow> rows) {
  std::lock_guard lock(mutex_);
  fallback_count_ += static_cast<int64_t>(rows.size());
  std::move(rows.begin(), rows.end(), std::back_inserter(fallback_));
}

// ---- statistics ----

std::vector<op::StageStats> PipelineRun::stages() const {
  std::vector<op::StageStats> stages;
  for (size_t i = 0; i < assembly_.segments.size(); ++i) {
    op::StageStats stage{assembly_.segment_names[i], 0, 0};
    for (const auto& worker : all_workers_) {
      stage.rows_in += static_cast<int64_t>(worker->rows_in()[i]);
      stage.rows_out += static_cast<int64_t>(worker->rows_out()[i]);
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}

void PipelineRun::add_stages_to(std::vector<op::StageStats>* sum) const {
  std::vector<bool> taken(sum->size(), false);
  for (const op::StageStats& stage : stages()) {
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

std::vector<int64_t> PipelineRun::rows_by_device() const {
  std::vector<int64_t> rows;
  rows.reserve(devices_.size());
  for (const auto& device : devices_) rows.push_back(device->rows);
  return rows;
}

op::DeviceBytes PipelineRun::device_bytes() const {
  op::DeviceBytes bytes;
  for (const auto& worker : all_workers_) bytes += worker->device_bytes();
  return bytes;
}

int64_t PipelineRun::device_file_bytes() const {
  int64_t bytes = 0;
  for (const auto& device : devices_)
    if (device->pipeline && device->pipeline->files() != nullptr) bytes += device->pipeline->files()->bytes();
  for (const auto& worker : all_workers_) bytes += worker->read_bytes();
  return bytes;
}

int64_t PipelineRun::memory() const {
  int64_t bytes = groups_.peak_memory() + prepared_.memory();
  for (const auto& worker : all_workers_) bytes += worker->memory();
  return bytes;
}

// ---- workers ----

MorselAffinity PipelineRun::affinity(const plan::Program& program, uint32_t index, const Options& options,
                                     size_t devices) {
  std::vector<uint32_t> numbers = options.device_numbers;
  if (numbers.size() != devices) {
    numbers.resize(devices);
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  const bool is_last = index + 1 == program.pipelines.size();
  return {std::move(numbers), is_last ? options.near_devices : std::vector<std::vector<uint32_t>>()};
}

bool PipelineRun::is_single_group() const {
  const plan::Pipeline& pipeline = program_.pipelines[index_];
  return feeder_ == nullptr && pipeline.sink == plan::SinkKind::kAggregate && pipeline.group_keys.empty() &&
         pipeline.grouping_sets.empty();
}

size_t PipelineRun::lanes(bool in_order) const {
  bool is_rounded = false, is_coarse = false;
  for (const block::AggregateCode& aggregate : assembly_.aggregates) {
    using block::AccKind;
    const AccKind acc = aggregate.acc;
    is_coarse |= acc == AccKind::kSumF32;
    is_rounded |=
        acc == AccKind::kSumF64 || acc == AccKind::kAvgF64 || acc == AccKind::kMoments || acc == AccKind::kPairMoments;
  }
  if (!is_rounded && !depends_on_order(assembly_)) return 0;
  if (is_coarse || in_order) return 1;
  return static_cast<size_t>(is_single_group_ ? options_.single_group_lanes : options_.lanes);
}

Status PipelineRun::open_device(OpenedDevice* device, const op::Worker::KeepGoing& keep_going) {
  const std::lock_guard lock(device->mutex);
  if (device->is_opened) return {};
  auto opened = device::DevicePipeline::open(device->target, program_, assembly_, prepared_, keep_going);
  device->is_opened = true;
  if (!opened.is_ok()) return unless_over_budget(opened.status());
  device->pipeline = std::move(opened).value();
  if (device->pipeline && options_.device_reads_files) device->pipeline->read_files();
  return {};
}

Status PipelineRun::unless_over_budget(const Status& status) {
  return status.code() == ErrorCode::kOverBudget ? Status::ok() : status;
}

void PipelineRun::add_worker(WorkerSlot* slot, std::unique_ptr<op::Worker> worker) {
  slot->workers.push_back(worker.get());
  std::lock_guard lock(mutex_);
  all_workers_.push_back(std::move(worker));
}

void PipelineRun::add_cpu_worker(WorkerSlot* slot) {
  add_worker(slot, std::make_unique<CpuWorker>(program_, index_, assembly_, prepared_, run_, options_.inflater,
                                               group_budget_, this));
}

Status PipelineRun::fill_slot(WorkerSlot* slot, size_t number, const op::Worker::KeepGoing& keep_going) {
  slot->share = devices_.empty() ? 0 : number % devices_.size();
  OpenedDevice* device = devices_.empty() || exhausted_ ? nullptr : devices_[slot->share].get();
  if (device != nullptr) STROM_TRY(open_device(device, keep_going));
  if (device != nullptr && device->pipeline) {
    auto worker = device::DeviceWorker::create(program_, index_, assembly_, *device->pipeline, share_, group_budget_,
                                               this, keep_going);
    if (worker.is_ok()) {
      slot->device = device;
      add_worker(slot, std::move(worker).value());
      return {};
    }
    if (worker.status().code() != ErrorCode::kOverBudget) return worker.status();
  }
  if (lanes_ == 0) add_cpu_worker(slot);
  return {};
}

void PipelineRun::take_lane(WorkerSlot* slot, const op::Morsel& morsel) {
  if (lanes_ == 0) return;
  op::Worker*& worker = lane_workers_[morsel.lane];
  slot->workers.clear();
  if (worker == nullptr) {
    add_cpu_worker(slot);
    worker = slot->workers.front();
  } else {
    slot->workers.push_back(worker);
  }
}

Status PipelineRun::run_morsel(WorkerSlot& slot, op::Morsel* morsel, const op::Worker::KeepGoing& keep_going,
                               int32_t* column) {
  if (morsel->batch->pages != nullptr && slot.device == nullptr) {
    morsel->batch->pages->give_back_all();
    return {};
  }
  const int32_t rows = morsel->rows;
  Status status = slot.workers[0]->run(morsel, keep_going, column);
  if (slot.device == nullptr) return status;
  slot.device->rows += morsel->page_rows;
  queue_.add_rows(morsel->page_rows);
  slot.device->rows += status.is_ok() ? rows : rows - morsel->rows;
  if (status.code() != ErrorCode::kOverBudget) return status;
  if (slot.workers.size() == 1) add_cpu_worker(&slot);
  return slot.workers[1]->run(morsel, keep_going, column);
}

// ---- threads and morsels ----

void PipelineRun::feed(const InterruptCheck& interrupt) {
  // With lanes, some loaded chunks wait for their turn.
  if (feed_limit_ == 0 && lanes_ > 0) feed_limit_ = std::max<int64_t>(1, feeder_->limit(options_.lanes) / 2);
  if (feed_limit_ == 0) feed_limit_ = std::max<int64_t>(1, feeder_->limit(options_.threads));
  while (!all_fed_ && !stopping_.load() && queue_.ready() < feed_limit_) {
    interrupt();
    if (feeder_->feed()) {
      queue_.add_fed();
    } else if (feeder_->is_waiting()) {
      break;
    } else {
      all_fed_ = true;
      queue_.end_feeding();
    }
  }
}

/// Only on the calling thread, which may ask the source.
void PipelineRun::count_threads() {
  const int64_t all_rows = source_.total_rows();
  // A single morsel's work is done before a thread would have started. Chunks that are fed are as small for a device as
  // for the CPU.
  const int64_t rows = feeder_ != nullptr ? std::min(morsel_rows_, options_.morsel_rows) : morsel_rows_;
  const int64_t useful = (all_rows + rows - 1) / rows;
  const int most = is_single_group_ ? options_.single_group_threads : options_.threads;
  thread_count_ = exhausted_ ? 1 : static_cast<int>(std::clamp<int64_t>(useful, 1, most));
  if (lanes_ > 0) thread_count_ = std::min(thread_count_, static_cast<int>(lanes_));
  const auto devices = std::max(1, static_cast<int>(devices_.size()));
  // The number of fed rows is an estimate.
  share_ = {(thread_count_ + devices - 1) / devices,
            feeder_ != nullptr ? morsel_rows_ : std::min(morsel_rows_, all_rows)};
}

void PipelineRun::start_threads() {
  const base::BlockedSignals blocked;
  std::lock_guard lock(mutex_);  // the first threads may end while the last ones are started
  for (int i = 1; i < thread_count_; ++i) {
    ++running_;
    try {
      threads_.emplace_back([this, i] { thread_main(static_cast<size_t>(i)); });
    } catch (const std::system_error&) {  // no more threads can be started: the others do the work
      --running_;
      return;
    }
  }
}

void PipelineRun::work_in_thread(size_t number) {
  const auto keep_going = [this] { return !stopping_.load(); };
  WorkerSlot slot;
  if (const Status status = fill_slot(&slot, number, keep_going); !status.is_ok()) {
    if (status.code() != ErrorCode::kCancelled) fail(status);
    return;
  }
  for (;;) {
    if (!room_in_queue()) break;
    Result<bool> more = take_and_run(slot, true, keep_going);
    if (!more.is_ok() || !more.value()) break;
  }
  // Groups come back from the device while other threads go on.
  if (slot.device == nullptr || stopping_.load()) return;
  if (const Status status = slot.workers.front()->finish(); !status.is_ok()) fail(status);
}

void PipelineRun::thread_main(size_t number) {
  if (base::prepare_for_exceptions()) {
    try {
      work_in_thread(number);
    } catch (const std::bad_alloc&) {
      fail_for_memory();
    }
  } else {
    fail_for_memory();
  }
  {
    std::lock_guard lock(mutex_);
    --running_;
  }
  changed_.notify_all();
}

bool PipelineRun::room_in_queue() {
  std::unique_lock lock(mutex_);
  const size_t limit = kQueuedPerThread * static_cast<size_t>(options_.threads);
  changed_.wait(lock, [&] { return stopping_.load() || results_.size() < limit; });
  return !stopping_.load();
}

int64_t PipelineRun::fallback_rows(const WorkerSlot& slot) {
  int64_t rows = 0;
  for (const op::Worker* worker : slot.workers) rows += worker->fallback_rows();
  return rows;
}

Result<bool> PipelineRun::next_morsel(const WorkerSlot& slot, op::Morsel* morsel, bool waits) {
  const base::NoReadAhead guard(slot.device != nullptr && slot.device->pipeline->files() != nullptr);
  Result<bool> taken = queue_.next(morsel, waits, slot.share);
  const bool may_be_read = !devices_.empty() && options_.device_reads_files;
  if (may_be_read && slot.device == nullptr && taken.is_ok() && taken.value()) read_ahead_for_cpu(*morsel);
  return taken;
}

void PipelineRun::read_ahead_for_cpu(const op::Morsel& morsel) const {
  std::vector<uint32_t> all(morsel.batch->columns.size());
  std::iota(all.begin(), all.end(), 0);
  device::read_ahead(
      {morsel.batch.get(), &program_.sources[program_.pipelines[index_].source], &all, morsel.begin, morsel.rows});
}

Result<bool> PipelineRun::take_and_run(WorkerSlot& slot, bool waits, const op::Worker::KeepGoing& keep_going) {
  if (exhausted_ || stopping_.load()) return false;
  op::Morsel morsel;
  Result<bool> taken = next_morsel(slot, &morsel, waits);
  if (!taken.is_ok()) {
    fail(taken.status());
    return taken.status();
  }
  if (!taken.value()) return false;
  take_lane(&slot, morsel);
  int32_t column = 0;
  const int64_t fallback_before = fallback_rows(slot);
  const Status status = run_morsel(slot, &morsel, keep_going, &column);
  bool has_fallback = fallback_rows(slot) > fallback_before;
  if (lanes_ > 0) groups_.end_morsel(morsel.number);
  if (queue_.end(morsel, &has_fallback) && feeder_ != nullptr) feeder_->release(morsel.chunk, has_fallback);
  // The calling thread may have found all lanes taken, or its feeder may wait for pages.
  if (morsel.batch->pages != nullptr || lanes_ > 0) tell_news();
  if (status.is_ok()) return true;
  if (status.code() == ErrorCode::kCancelled) return false;
  if (status.code() != ErrorCode::kCorruptFile) {
    fail(status);
    return status;
  }
  Status described =
      Status(status.code(), "corrupt data in " + source_.describe(morsel.chunk))
          .with_detail("Column " + std::to_string(column + 1) + " of the scan: " + status.message() + ".");
  fail(described);
  return described;
}

// ---- news for the calling thread ----

void PipelineRun::tell_news() {
  {
    std::lock_guard lock(mutex_);
    has_news_ = true;
  }
  changed_.notify_all();
}

void PipelineRun::fail(const Status& status) {
  {
    std::lock_guard lock(mutex_);
    if (error_.is_ok()) error_ = status;
    stopping_.store(true);
  }
  changed_.notify_all();
}

void PipelineRun::fail_for_memory() noexcept {
  {
    std::lock_guard lock(mutex_);
    out_of_memory_ = true;
    stopping_.store(true);
  }
  changed_.notify_all();
}

void PipelineRun::push(std::shared_ptr<const op::ResultBatch> batch) {
  {
    std::lock_guard lock(mutex_);
    results_.push_back(std::move(batch));
  }
  changed_.notify_all();
}

}  // namespace strom::engine::exec
