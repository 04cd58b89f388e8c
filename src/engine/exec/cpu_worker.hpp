// A worker on one of the CPU's threads: registers and buffers of the tile interpreter, and making room when one of them
// is full. Used by exec/pipeline_run.cpp only.
#pragma once

#include <memory>
#include <vector>

#include "engine/block/join_table.hpp"
#include "engine/op/output/worker_output.hpp"
#include "engine/inst/tile_cpu.hpp"

namespace strom::engine::exec {

class CpuWorker final : public op::Worker {
 public:
  CpuWorker(const plan::Program& program, uint32_t pipeline, const op::Assembly& assembly,
            const op::PreparedConstants& prepared, block::RunMorsel run, const block::Inflater* inflater,
            int64_t group_budget, op::WorkerSink* sink);

  Status run(op::Morsel* morsel, const KeepGoing& keep_going, int32_t* corrupt_column) override;
  int64_t fallback_rows() const override { return fallback_rows_; }
  op::HostGroupTable* groups() override { return groups_.get(); }
  const std::vector<uint64_t>& rows_in() const override { return rows_in_; }
  const std::vector<uint64_t>& rows_out() const override { return rows_out_; }
  int64_t memory() const override;

 private:
  block::RunResult run_tiles();
  void allocate_registers();
  void allocate_buffers();
  void fill_constants(const op::PreparedConstants& prepared);
  op::ConstantValue constant_value(const op::PreparedConstants& prepared, size_t reg);
  void flush_output();
  void drain_fallback_rows(int64_t chunk, int64_t begin);
  void make_room_for_groups();
  void hand_groups_on();
  void own_group_text();
  void empty_text_arena();
  void* arena(size_t bytes);

  const plan::Program& program_;
  const uint32_t pipeline_;
  const op::Assembly& assembly_;
  const block::RunMorsel run_;
  const int64_t group_budget_;
  op::WorkerSink* const sink_;
  int32_t tiles_per_pause_ = 16;
  std::vector<std::unique_ptr<uint8_t[]>> memory_;
  int64_t memory_bytes_ = 0;
  std::vector<block::Reg> regs_;
  std::vector<block::RegStorage> storage_;
  std::vector<block::SegmentBuffer> buffers_;
  std::vector<block::JoinTable> joins_;
  std::vector<std::unique_ptr<op::WorkerForm>> worker_forms_;
  std::vector<uint64_t> rows_in_, rows_out_;
  std::unique_ptr<op::HostGroupTable> groups_;
  bool groups_overflowed_ = false;
  const op::Morsel* morsel_ = nullptr;  // the running one
  int64_t position_ = 0;                // of the next new group, see HostGroupTable::note_positions()
  int64_t rows_since_flush_ = 0, fallback_rows_ = 0;
  std::unique_ptr<op::WorkerOutput> output_;  // nullptr when there are groups
  block::OutputBuffer no_output_{};
  block::FallbackBuffer fallback_{};
  std::unique_ptr<char[]> text_;
  block::TileState state_{};
};

}  // namespace strom::engine::exec
