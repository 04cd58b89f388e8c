// One worker of a pipeline: registers and buffers of the tile interpreter on the host, and what to do when something
// is full. Used by exec/execution.cpp only.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/exec/assemble.hpp"
#include "engine/exec/execution.hpp"
#include "engine/exec/group_table.hpp"
#include "engine/exec/partition_tops.hpp"
#include "engine/exec/text_store.hpp"
#include "engine/exec/top_places.hpp"
#include "engine/inst/tile_cpu.hpp"

namespace strom::engine::exec {

/// Rows of one chunk for one worker.
struct Morsel {
  int64_t chunk = 0, begin = 0;
  int32_t rows = 0;
  std::shared_ptr<const columnar::BatchView> batch;
};

/// Full output columns, owning their memory.
struct OutputBatch {
  std::vector<block::TableColumn> columns;
  std::vector<bool> has_flags;
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  TextStore texts;
  int64_t rows = 0, memory_bytes = 0;
};

/// Takes what workers produce; called by several at a time.
class WorkerSink {
 public:
  virtual ~WorkerSink() = default;
  virtual void take_output(OutputBatch batch) = 0;
  virtual void take_groups(const HostGroupTable& groups) = 0;  // a table that is flushed before the end
  virtual void take_declined(std::vector<DeclinedRow> rows) = 0;
};

class Worker {
 public:
  Worker(const plan::Program& program, uint32_t pipeline, const Assembly& assembly, block::RunMorsel run,
         const block::Inflater* inflater, int64_t group_budget, WorkerSink* sink);

  /// Called every few milliseconds or more often while a morsel runs: false abandons it, and so does an exception.
  using KeepGoing = std::function<bool()>;

  /// Runs one morsel to its end; kCorruptFile with the ordinal of the column in *corrupt_column, kCancelled when
  /// `keep_going` said so.
  Status run(const Morsel& morsel, const KeepGoing& keep_going, int32_t* corrupt_column);

  int64_t declined_rows() const { return declined_rows_; }
  HostGroupTable* groups() { return groups_.get(); }
  const std::vector<uint64_t>& rows_in() const { return rows_in_; }
  const std::vector<uint64_t>& rows_out() const { return rows_out_; }
  int64_t memory() const;

 private:
  block::RunResult run_tiles();
  void allocate_registers();
  void allocate_buffers();
  void fill_constants();
  void new_output();
  OutputBatch make_output(int32_t capacity) const;
  OutputBatch copy_of_output() const;
  void drop_output_behind_top();
  void drop_output_behind_partition_tops();
  std::string partition_of(int32_t row) const;
  void keep_output(const std::vector<int32_t>& rows);
  void flush_output();
  void drain_declined(int64_t chunk, int64_t begin);
  void make_room_for_groups();
  void hand_groups_on();
  void own_output_text(OutputBatch* batch) const;
  void own_group_text();
  void empty_text_arena();
  void* arena(size_t bytes);

  const plan::Program& program_;
  const uint32_t pipeline_;
  const Assembly& assembly_;
  const block::RunMorsel run_;
  const int64_t group_budget_;
  WorkerSink* const sink_;
  int32_t tiles_per_pause_ = 16;
  std::vector<std::unique_ptr<uint8_t[]>> memory_;
  int64_t memory_bytes_ = 0;
  std::vector<block::Reg> regs_;
  std::vector<block::RegStorage> storage_;
  std::vector<block::SegmentBuffer> buffers_;
  std::vector<block::JoinTable> joins_;
  std::vector<uint64_t> rows_in_, rows_out_;
  std::unique_ptr<HostGroupTable> groups_;
  bool groups_overflowed_ = false;
  int64_t rows_since_flush_ = 0, declined_rows_ = 0;
  std::optional<TopPlaces> top_;
  std::optional<PartitionTops> partition_tops_;
  OutputBatch output_batch_;
  std::vector<uint8_t> output_has_flags_;
  block::OutputBuffer output_{};
  block::DeclinedBuffer declined_{};
  std::unique_ptr<char[]> text_;
  block::TileState state_{};
};

}  // namespace strom::engine::exec
