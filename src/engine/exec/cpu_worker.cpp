#include "engine/exec/cpu_worker.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace strom::engine::exec {

using block::kBufferRows;
using block::kTilePadding;
using block::kTileRows;
using block::RunResult;
using registry::Phys;

namespace {

constexpr int32_t kFallbackCapacity = 8 * kTileRows;
/// Most tiles between two pauses. Pauses come every few milliseconds, so expressions over long texts have fewer tiles.
constexpr int32_t kMostTilesPerPause = 2048;
constexpr auto kShortPause = std::chrono::milliseconds(2), kLongPause = std::chrono::milliseconds(8);
/// Arena of computed text. It grows when a tile needs more, up to the limit; rows whose text does not fit are fallback
/// rows.
constexpr int64_t kTextCapacity = 4 << 20, kMostTextCapacity = 64 << 20;
/// Groups of a table that is handed on whenever it is full, unless the budget is too small for them.
constexpr uint32_t kOverflowGroups = 64 << 10;
constexpr int64_t kLeastForOverflowGroups = 32 << 20;
/// Bits for a row's number in its chunk. The bits above are the chunk's number.
constexpr int kChunkRowBits = 36;

}  // namespace

CpuWorker::CpuWorker(const plan::Program& program, uint32_t pipeline, const op::Assembly& assembly,
                     const op::PreparedConstants& prepared, block::RunMorsel run, const block::Inflater* inflater,
                     int64_t group_budget, op::WorkerSink* sink)
    : program_(program), pipeline_(pipeline), assembly_(assembly), run_(run), group_budget_(group_budget), sink_(sink) {
  allocate_registers();
  allocate_buffers();
  fill_constants(prepared);
  if (program.pipelines[pipeline].sink == plan::SinkKind::kAggregate)
    groups_ = std::make_unique<op::HostGroupTable>(assembly);
  for (const op::JoinInfo& join : assembly.joins) joins_.push_back(join.build->table());
  state_.code = &assembly.code;
  state_.regs = regs_.data();
  state_.storage = storage_.data();
  state_.buffers = buffers_.data();
  state_.segment_rows_in = rows_in_.data();
  state_.segment_rows_out = rows_out_.data();
  state_.joins = joins_.data();
  state_.groups = groups_ ? groups_->view() : nullptr;
  state_.output = &no_output_;
  state_.fallback = &fallback_;
  state_.inflater = inflater;
  if (assembly.code.makes_text) {
    text_.reset(new char[kTextCapacity]);
    state_.text = {text_.get(), 0, kTextCapacity, 0};
  }
  if (groups_) return;
  output_ = std::make_unique<op::WorkerOutput>(program, pipeline, assembly, group_budget, sink);
  state_.output = output_->buffer();  // also for results without columns, whose rows are only counted
  state_.top_last = output_->top_last();
}

void* CpuWorker::arena(size_t bytes) {
  constexpr size_t kAlign = 64;
  memory_.push_back(std::unique_ptr<uint8_t[]>(new uint8_t[bytes + kAlign]));
  memory_bytes_ += static_cast<int64_t>(bytes);
  const auto address = reinterpret_cast<uintptr_t>(memory_.back().get());
  return reinterpret_cast<void*>((address + kAlign - 1) / kAlign * kAlign);
}

void CpuWorker::allocate_registers() {
  const size_t rows = kTileRows + kTilePadding;
  for (uint8_t phys : assembly_.register_phys) {
    const size_t size = static_cast<size_t>(registry::phys_size(static_cast<Phys>(phys)));
    storage_.push_back({arena(rows * size), static_cast<uint8_t*>(arena(rows))});
    regs_.push_back({storage_.back().data, nullptr});
  }
  state_.scratch_positions = static_cast<int32_t*>(arena((kBufferRows + kTilePadding) * sizeof(int32_t)));
  state_.scratch_mask = static_cast<uint8_t*>(arena(rows));
  state_.scratch_values = arena(rows * 16);
  state_.local_rows = static_cast<int32_t*>(arena(rows * sizeof(int32_t)));
  fallback_.rows = static_cast<int32_t*>(arena((kFallbackCapacity + kTilePadding) * sizeof(int32_t)));
  fallback_.join_rows = static_cast<uint32_t*>(arena(kFallbackCapacity * assembly_.code.join_count * sizeof(uint32_t)));
  fallback_.capacity = kFallbackCapacity;
}

void CpuWorker::allocate_buffers() {
  const size_t rows = kBufferRows + kTilePadding;
  for (size_t i = 0; i < assembly_.segments.size(); ++i) {
    block::SegmentBuffer buffer{};
    if (i > 0) {
      buffer.rows = static_cast<int32_t*>(arena(rows * sizeof(int32_t)));
      const uint16_t* carried = assembly_.lists.data() + assembly_.segments[i - 1].carried;
      buffer.carried = static_cast<block::RegStorage*>(arena(sizeof(block::RegStorage) * (carried[0] + 1u)));
      buffer.has_flags = static_cast<uint8_t*>(arena(carried[0] + 1u));
      std::memset(buffer.has_flags, 0, carried[0] + 1u);
      for (int k = 1; k <= carried[0]; ++k) {
        const size_t size =
            static_cast<size_t>(registry::phys_size(static_cast<Phys>(assembly_.register_phys[carried[k]])));
        buffer.carried[k - 1] = {arena(rows * size), static_cast<uint8_t*>(arena(rows))};
      }
    }
    buffers_.push_back(buffer);
  }
  rows_in_.resize(assembly_.segments.size());
  rows_out_.resize(assembly_.segments.size());
}

op::ConstantValue CpuWorker::constant_value(const op::PreparedConstants& prepared, size_t reg) {
  const op::ConstantUse& use = assembly_.constants[reg];
  if (use.form == plan::PreparedForm::kNone) return op::ConstantValue(program_.constants[use.constant]);
  const op::PreparedConstant* form = prepared.at(reg);
  if (form == nullptr) return op::ConstantValue(registry::StrView{nullptr, 0});
  std::unique_ptr<op::WorkerForm> own = form->for_worker();
  if (own == nullptr) return op::ConstantValue(form->bytes());
  worker_forms_.push_back(std::move(own));
  return op::ConstantValue(worker_forms_.back()->view());
}

void CpuWorker::fill_constants(const op::PreparedConstants& prepared) {
  for (size_t reg = 0; reg < assembly_.constants.size(); ++reg) {
    const op::ConstantValue value = constant_value(prepared, reg);
    auto* out = static_cast<uint8_t*>(storage_[reg].data);
    for (size_t i = 0; i < kTileRows + kTilePadding; ++i) std::memcpy(out + i * value.size, value.bytes, value.size);
    if (value.flag == 0) continue;
    std::memset(storage_[reg].flags, value.flag, kTileRows + kTilePadding);
    regs_[reg].flags = storage_[reg].flags;
  }
}

void CpuWorker::flush_output() {
  if (!output_) return;
  output_->flush();
  state_.top_last = output_->top_last();
}

/// Copies the texts of groups. Large keys can use up the budget before the table is full.
void CpuWorker::own_group_text() {
  if (!groups_) return;
  groups_->own_text();
  if (groups_->memory() <= group_budget_ || groups_->empty()) return;
  hand_groups_on();
}

/// Empties the arena. Between tiles, only the sink refers to it.
void CpuWorker::empty_text_arena() {
  block::TextArena& text = state_.text;
  if (text.overflowed != 0 && text.capacity < kMostTextCapacity) {
    text.capacity *= 2;
    text_.reset(new char[static_cast<size_t>(text.capacity)]);
    text.bytes = text_.get();
  }
  text.used = 0;
  text.overflowed = 0;
}

void CpuWorker::drain_fallback_rows(int64_t chunk, int64_t begin) {
  if (fallback_.count == 0) return;
  fallback_rows_ += fallback_.count;
  std::vector<op::FallbackRow> rows = op::rows_of(fallback_, pipeline_, chunk, begin, assembly_.code.join_count);
  fallback_.count = 0;
  sink_->add_fallback_rows(std::move(rows));
}

/// Grows the table while the budget lasts. After that the table stays small, so that caches hold it, and is handed on
/// whenever it is full.
void CpuWorker::make_room_for_groups() {
  if (!groups_overflowed_)
    for (const int64_t factor : {4, 2})
      if (groups_->memory() * factor <= group_budget_) {
        groups_->grow_to(groups_->capacity() * static_cast<uint32_t>(factor));
        return;
      }
  groups_->own_text();
  hand_groups_on();
}

void CpuWorker::hand_groups_on() {
  position_ = groups_->note_positions(position_);
  groups_ = sink_->take_groups(std::move(groups_), *morsel_);
  rows_since_flush_ = 0;
  groups_overflowed_ = true;
  if (!groups_ || groups_->capacity() > kOverflowGroups) {
    groups_ = std::make_unique<op::HostGroupTable>(assembly_);
    if (group_budget_ >= kLeastForOverflowGroups) groups_->grow_to(kOverflowGroups);
  }
  state_.groups = groups_->view();
}

RunResult CpuWorker::run_tiles() {
  const auto begin = std::chrono::steady_clock::now();
  state_.budget = tiles_per_pause_;
  const RunResult result = run_(state_);
  if (result != RunResult::kPaused) return result;
  const auto took = std::chrono::steady_clock::now() - begin;
  if (took > kLongPause) tiles_per_pause_ = std::max(1, tiles_per_pause_ / 2);
  if (took < kShortPause) tiles_per_pause_ = std::min(kMostTilesPerPause, tiles_per_pause_ * 4);
  return result;
}

Status CpuWorker::run(op::Morsel* taken, const KeepGoing& keep_going, int32_t* corrupt_column) {
  const op::Morsel& morsel = *taken;
  morsel_ = taken;
  position_ = (morsel.chunk << kChunkRowBits) + morsel.begin;
  state_.columns = morsel.batch->columns.data();
  state_.selection = morsel.batch->selection;
  state_.morsel_begin = morsel.begin;
  state_.morsel_rows = morsel.rows;
  state_.cursor = 0;
  if (groups_ && (rows_since_flush_ += morsel.rows) >= op::kMaxSummedRows) {
    hand_groups_on();
    rows_since_flush_ = morsel.rows;
  }
  for (;;) {
    const RunResult result = run_tiles();
    if (result != RunResult::kDone && !keep_going()) return Status(ErrorCode::kCancelled, "stopped");
    if (result == RunResult::kCorruptText) {
      *corrupt_column = state_.corrupt_column;
      return Status(ErrorCode::kCorruptFile, "text offset outside of its buffer");
    }
    if (result == RunResult::kOutputFull) flush_output();
    if (result == RunResult::kGroupsFull) make_room_for_groups();
    if (result == RunResult::kTextFull) {
      flush_output();
      own_group_text();
      empty_text_arena();
    }
    if (result == RunResult::kFallbackFull || result == RunResult::kDone)
      drain_fallback_rows(morsel.chunk, morsel.begin);
    if (result != RunResult::kDone) continue;
    flush_output();
    own_group_text();
    empty_text_arena();
    if (groups_) position_ = groups_->note_positions(position_);
    return Status::ok();
  }
}

int64_t CpuWorker::memory() const {
  return memory_bytes_ + state_.text.capacity + (groups_ ? groups_->memory() : 0) + (output_ ? output_->memory() : 0);
}

}  // namespace strom::engine::exec
