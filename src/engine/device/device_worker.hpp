// A worker whose tiles run on a device: as many tile states as the device takes at a time, each with a part of the
// morsel. When a buffer is full, the worker makes room between launches, as exec/cpu_worker.cpp does. See
// docs/dev/gpu-service.md.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "engine/device/device_columns.hpp"
#include "engine/device/device_groups.hpp"
#include "engine/op/device_image.hpp"
#include "engine/device/device_pipeline.hpp"
#include "engine/device/cached_columns.hpp"
#include "engine/op/output/worker_output.hpp"

namespace strom::engine::device {

class DeviceWorker final : public op::Worker {
 public:
  /// How much of the device a worker needs: the device has `workers` workers at the same time, and morsels are not
  /// larger.
  struct Share {
    int workers;
    int64_t morsel_rows;
  };
  /// Takes the device's memory for everything but the morsel's columns. kOverBudget when there is too little.
  static Result<std::unique_ptr<DeviceWorker>> create(const plan::Program& program, uint32_t pipeline,
                                                      const op::Assembly& assembly, const DevicePipeline& shared,
                                                      const Share& share, int64_t group_budget, op::WorkerSink* sink,
                                                      const KeepGoing& keep_going);

  Status run(op::Morsel* morsel, const KeepGoing& keep_going, int32_t* corrupt_column) override;
  Status finish() override;
  int64_t fallback_rows() const override { return fallback_rows_; }
  op::HostGroupTable* groups() override { return groups_.get(); }
  const std::vector<uint64_t>& rows_in() const override { return rows_in_; }
  const std::vector<uint64_t>& rows_out() const override { return rows_out_; }
  int64_t memory() const override;
  int64_t read_bytes() const override { return pages_ ? pages_->read_bytes() : 0; }
  op::DeviceBytes device_bytes() const override {
    return {copied_bytes_ + cached_.filled_bytes(), cached_.found_bytes()};
  }

 private:
  /// Offsets of each tile state's parts of work_ and data_. The parts of all states have equal sizes.
  struct Layout {
    std::vector<size_t> register_values, register_flags;          // in work_; not used for constants
    std::vector<size_t> buffer_rows;                              // in work_, for each segment
    std::vector<std::vector<std::pair<size_t, size_t>>> carried;  // in work_: values and flags
    size_t scratch_positions = 0, scratch_mask = 0, scratch_values = 0, local_rows = 0, work_bytes = 0;
    size_t fallback_rows = 0, fallback_join_rows = 0, data_bytes = 0;  // in data_
    size_t text = 0;  // arena of computed text: in data_ if the sink holds such text, else in work_
    std::vector<std::pair<size_t, size_t>> outputs;  // in data_: values and flags
  };

  DeviceWorker(const plan::Program& program, uint32_t pipeline, const op::Assembly& assembly,
               const DevicePipeline& shared, const Share& share, int64_t group_budget, op::WorkerSink* sink);
  void lay_out_work();
  void lay_out_data();
  size_t count_states(const Share& share) const;
  Status allocate(const KeepGoing& keep_going);
  void write_state(size_t state, op::DeviceImage* image) const;
  Status take_cached(const op::Morsel& morsel, const KeepGoing& keep_going, int32_t* corrupt_column);
  Result<ColumnSlice> fit_slice(const op::Morsel& morsel, const KeepGoing& keep_going, int32_t* corrupt_column);
  Status run_pages(op::Morsel* morsel, const KeepGoing& keep_going, int32_t* corrupt_column);
  Status begin_slice(int32_t rows);
  void divide(const SlotContent& content, int64_t lead, int64_t first_row, int32_t rows);
  void give_budgets();
  Status run_slice(const op::Morsel& morsel, const KeepGoing& keep_going, int32_t* corrupt_column);
  Status take_results(const op::Morsel& morsel, const KeepGoing& keep_going);
  std::vector<DeviceRange> want_results(std::set<size_t>* with_groups) const;
  bool leaves_groups(size_t state) const;
  void take_fallback_rows(size_t state, int64_t chunk);
  void take_output(size_t state);
  void take_groups(size_t table);
  void hand_groups_on();
  registry::StrView host_text(registry::StrView text);
  void update_counts();

  Device& device() const { return shared_.device(); }
  char* work(size_t state, size_t offset) const { return work_->device() + state * layout_.work_bytes + offset; }
  char* data(size_t state, size_t offset) const { return data_->device() + state * layout_.data_bytes + offset; }
  char* host_data(size_t state, size_t offset) const { return data_->host() + state * layout_.data_bytes + offset; }
  size_t joins() const { return assembly_.code.join_count; }
  template <class T>
  T* control(size_t offset) const {
    return reinterpret_cast<T*>(control_->host() + offset);
  }

  const plan::Program& program_;
  const uint32_t pipeline_;
  const op::Assembly& assembly_;
  const DevicePipeline& shared_;
  const int64_t group_budget_;
  op::WorkerSink* const sink_;
  size_t states_;
  std::vector<uint32_t> columns_;  // the columns that the tile code loads
  Layout layout_;
  // Registers and buffers, which only tiles see; the states and their reports; their results; columns.
  std::unique_ptr<DeviceRegion> work_, control_, data_, slot_;
  CachedColumns cached_;                // of the morsel
  std::unique_ptr<DevicePages> pages_;  // made for the first morsel of pages
  // Offsets in control_ of arrays with an item for each state. Those before control_bytes_ are copied both ways at
  // every launch.
  struct {
    size_t states, results, outputs, output_flags, fallback, groups, rows_in, rows_out;
    size_t stop;  // one word for all states, on the device only
  } at_{};
  size_t control_bytes_ = 0;
  std::vector<DeviceRange> pending_;  // to be copied in with the next launch
  std::vector<DeviceFileRange> pending_files_;
  std::vector<int64_t> chunk_rows_;  // for each state, the chunk's row at which its part of the morsel begins
  std::unique_ptr<op::HostGroupTable> groups_;  // the worker's groups on the host
  std::unique_ptr<DeviceGroups> tables_;        // on the device
  bool groups_were_full_ = false;
  std::unique_ptr<op::WorkerOutput> output_;  // nullptr when there are groups
  bool lost_text_ = false;                    // a text was in none of the regions: an error of the engine
  std::vector<uint64_t> rows_in_, rows_out_;
  int64_t rows_since_flush_ = 0, fallback_rows_ = 0, copied_bytes_ = 0;
};

}  // namespace strom::engine::device
