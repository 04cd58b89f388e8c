// One pipeline while it runs: its threads, the queue of its results, and the work at its end. Made by
// exec/run_maker.cpp.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/device/device_pipeline.hpp"
#include "engine/device/device_worker.hpp"
#include "engine/exec/execution.hpp"
#include "engine/exec/morsel_queue.hpp"
#include "engine/op/hash_agg/group_merger.hpp"
#include "engine/op/join/join_table.hpp"
#include "engine/op/pipeline/assemble.hpp"
#include "engine/op/pipeline/worker.hpp"

namespace strom::engine::exec {

/// The workers of one pipeline while it runs.
class PipelineRun final : public op::WorkerSink {
 public:
  /// `devices`: where tiles run; empty: on the CPU. `in_order`: groups see the rows in the source's order.
  PipelineRun(const plan::Program& program, uint32_t index, op::Assembly assembly, const op::ChunkSource& source,
              const Options& options, const std::vector<device::Device*>& devices, op::JoinBuild* build,
              bool nothing_matches, std::vector<op::ColumnKeys> wanted, bool in_order);
  ~PipelineRun() override { stop(); }

  /// Runs the whole pipeline, on the caller's thread and the others.
  Status run_to_end(const InterruptCheck& interrupt);
  /// Runs as far as the first output row or fallback row; true when there is one.
  Result<bool> has_row(const InterruptCheck& interrupt);

  /// The caller's share of the work: one morsel. False when there is none left to take.
  Result<bool> step(const InterruptCheck& interrupt);

  /// Waits a moment for the threads; true when all are done.
  bool wait_a_moment();
  void stop();
  Status error();
  std::shared_ptr<const op::ResultBatch> pop_result();
  std::vector<op::FallbackRow> take_fallback_rows();

  /// Called after all morsels. False, without any group: two values met that are equal but not the same, so the result
  /// depends on their order. The rows have to be read again by a run `in_order`.
  Result<bool> finish_groups();

  /// Called after all morsels: takes what is left on the device.
  Status finish_workers();
  void threads_done();

  // ---- WorkerSink ----

  void take_output(op::OutputBatch batch) override;
  std::unique_ptr<op::HostGroupTable> take_groups(std::unique_ptr<op::HostGroupTable> groups,
                                                  const op::Morsel& morsel) override;
  void add_fallback_rows(std::vector<op::FallbackRow> rows) override;

  // ---- statistics ----

  std::vector<op::StageStats> stages() const;
  /// Adds the stages to those of an earlier run of the same pipeline, which may have other stages.
  void add_stages_to(std::vector<op::StageStats>* sum) const;
  double milliseconds() const { return finished_ms_; }
  /// Takes the time until now, when the caller goes on with the run's remaining results.
  void take_time();
  /// True when some group is in more than one batch.
  bool has_partial_groups() const { return groups_.has_partial_groups(); }
  /// For a build: measures rows beyond the budget instead of collecting them.
  void measure_beyond_budget() { measures_ = true; }
  int64_t rows() const { return queue_.rows(); }
  int64_t chunks() const { return queue_.chunks(); }
  int64_t chunks_loaded() const { return queue_.loaded(); }
  int64_t chunks_skipped() const { return queue_.skipped(); }
  int64_t fallback_count() const { return fallback_count_; }
  int64_t partial_flushes() const { return groups_.flushes(); }
  /// For each device, the rows of morsels that ran there.
  std::vector<int64_t> rows_by_device() const;
  op::DeviceBytes device_bytes() const;
  int64_t device_file_bytes() const;
  int thread_count() const { return lanes_ > 0 ? thread_count_ : static_cast<int>(all_workers_.size()); }
  int64_t memory() const;

 private:
  /// One of the devices, with what its workers share once it is opened.
  struct OpenedDevice {
    explicit OpenedDevice(device::Device* its_device) : target(its_device) {}
    device::Device* const target;
    std::mutex mutex;  // held while the device is being opened
    bool is_opened = false;
    std::unique_ptr<device::DevicePipeline> pipeline;  // nullptr: the device had no memory for it
    std::atomic<int64_t> rows{0};
  };

  /// The workers of one thread: one of a device, and one of the CPU for morsels that the device has no memory for.
  struct WorkerSlot {
    std::vector<op::Worker*> workers;
    OpenedDevice* device = nullptr;  // of the first worker; nullptr: the CPU
    size_t share = 0;                // of the queue
  };
  static MorselAffinity affinity(const plan::Program& program, uint32_t index, const Options& options, size_t devices);

  /// How many workers the rows are dealt out to in a fixed way, so that the same rows always give the same results.
  /// Sums of floats are rounded, and of equal values that are not the same the last one is the minimum or maximum. 0:
  /// it does not matter which worker gets a row. 1: for PostgreSQL's sum of float4, each step of which is rounded to
  /// float4, so that other orders differ widely after some million rows.
  size_t lanes(bool in_order) const;

  /// True if all rows become one group, on the CPU, and any thread may take the next rows.
  bool is_single_group() const;

  /// Copies to a device what workers share.
  Status open_device(OpenedDevice* device, const op::Worker::KeepGoing& keep_going);

  /// Drops kOverBudget: without memory on the device, the CPU does the work.
  static Status unless_over_budget(const Status& status);
  void add_worker(WorkerSlot* slot, std::unique_ptr<op::Worker> worker);
  void add_cpu_worker(WorkerSlot* slot);

  /// `number`: the thread's number; threads take the devices in turns.
  Status fill_slot(WorkerSlot* slot, size_t number, const op::Worker::KeepGoing& keep_going);

  /// Puts the worker of the morsel's lane into the slot. No other thread has that lane now.
  void take_lane(WorkerSlot* slot, const op::Morsel& morsel);

  /// Runs the morsel on the slot's first worker, or on the CPU where that worker has no memory.
  Status run_morsel(WorkerSlot& slot, op::Morsel* morsel, const op::Worker::KeepGoing& keep_going, int32_t* column);

  /// Keeps chunks ready for the other threads, and one for this thread.
  void feed(const InterruptCheck& interrupt);
  void count_threads();
  void start_threads();
  void work_in_thread(size_t number);
  void thread_main(size_t number);

  /// Waits until the consumer has taken enough; false when the run is being stopped.
  bool room_in_queue();
  static int64_t fallback_rows(const WorkerSlot& slot);

  /// Data that a device may read by itself is not read ahead.
  Result<bool> next_morsel(const WorkerSlot& slot, op::Morsel* morsel, bool waits);

  /// Another thread may have loaded the morsel's chunk for a device.
  void read_ahead_for_cpu(const op::Morsel& morsel) const;
  Result<bool> take_and_run(WorkerSlot& slot, bool waits, const op::Worker::KeepGoing& keep_going);

  /// Wakes the calling thread, which may wait for news.
  void tell_news();
  void fail(const Status& status);

  /// Fails without a message, which would need memory.
  void fail_for_memory() noexcept;
  void push(std::shared_ptr<const op::ResultBatch> batch);
  bool has_output();

  const plan::Program& program_;
  const uint32_t index_;
  const op::Assembly assembly_;
  const op::PreparedConstants prepared_;
  const op::ChunkSource& source_;
  const Options options_;
  op::JoinBuild* const build_;
  op::ChunkFeeder* const feeder_;
  int64_t feed_limit_ = 0;  // not asked yet
  bool all_fed_ = false;
  const block::RunMorsel run_;
  const int64_t morsel_rows_;
  const bool is_single_group_;
  const size_t lanes_;  // 0 for none, see lanes()
  MorselQueue queue_;
  const bool exhausted_;  // an inner side is empty, so no row can match
  bool measures_ = false;
  int64_t group_budget_ = 0;
  op::GroupMerger groups_;
  std::vector<op::Worker*> lane_workers_;  // by lane, nullptr before the lane's first morsel
  bool started_ = false;
  int thread_count_ = 1;
  device::DeviceWorker::Share share_{1, 0};  // of each worker of a device
  std::chrono::steady_clock::time_point start_;
  double finished_ms_ = 0;
  std::vector<std::unique_ptr<OpenedDevice>> devices_;  // declared first, so that they outlive their workers
  WorkerSlot main_slot_;
  std::vector<std::unique_ptr<op::Worker>> all_workers_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stopping_{false};
  int running_ = 0;
  Status error_;
  bool out_of_memory_ = false;  // in a thread
  bool has_news_ = false;       // since the calling thread's last wait
  std::deque<std::shared_ptr<const op::ResultBatch>> results_;
  std::vector<op::FallbackRow> fallback_;
  std::atomic<int64_t> fallback_count_{0};
};

}  // namespace strom::engine::exec
