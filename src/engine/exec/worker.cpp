#include "engine/exec/worker.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace strom::engine::exec {

using block::kBufferRows;
using block::kMaxJoins;
using block::kNoRow;
using block::kTilePadding;
using block::kTileRows;
using block::RunResult;
using registry::Phys;

namespace {

constexpr int32_t kOutputCapacity = 8 * kTileRows;
constexpr int32_t kDeclinedCapacity = 8 * kTileRows;
/// Tiles between two pauses: as many as take a few milliseconds, which expressions over long texts make few.
constexpr int32_t kMostTilesPerPause = 2048;
constexpr auto kShortPause = std::chrono::milliseconds(2), kLongPause = std::chrono::milliseconds(8);
/// Arena of computed text; it grows when a tile needs more, and what does not fit then is PostgreSQL's.
constexpr int64_t kTextCapacity = 4 << 20, kMostTextCapacity = 64 << 20;
/// Groups of a table that is handed on again and again, unless the budget is small.
constexpr uint32_t kOverflowGroups = 64 << 10;
constexpr int64_t kLeastForOverflowGroups = 32 << 20;
/// Sums stay exact for this many rows of one table, see agg/accumulate.hpp.
constexpr int64_t kMaxSummedRows = int64_t{1} << 31;

}  // namespace

Worker::Worker(const plan::Program& program, uint32_t pipeline, const Assembly& assembly, block::RunMorsel run,
               const block::Inflater* inflater, int64_t group_budget, WorkerSink* sink)
    : program_(program), pipeline_(pipeline), assembly_(assembly), run_(run), group_budget_(group_budget), sink_(sink) {
  allocate_registers();
  allocate_buffers();
  fill_constants();
  if (program.pipelines[pipeline].sink == plan::SinkKind::kAggregate)
    groups_ = std::make_unique<HostGroupTable>(assembly);
  for (const JoinInfo& join : assembly.joins) joins_.push_back(join.build->table());
  state_.code = &assembly.code;
  state_.regs = regs_.data();
  state_.storage = storage_.data();
  state_.buffers = buffers_.data();
  state_.segment_rows_in = rows_in_.data();
  state_.segment_rows_out = rows_out_.data();
  state_.joins = joins_.data();
  state_.groups = groups_ ? groups_->view() : nullptr;
  state_.output = &output_;
  state_.declined = &declined_;
  state_.inflater = inflater;
  if (assembly.code.makes_text) {
    text_.reset(new char[kTextCapacity]);
    state_.text = {text_.get(), 0, kTextCapacity, 0};
  }
  const plan::TopRows& top = program.pipelines[pipeline].top;
  if (!top.partition.empty())
    partition_tops_.emplace(top.rows, top.distinct, group_budget);
  else if (top.rows > 0)
    top_.emplace(top.rows);
  state_.top_last = top_ ? top_->last() : 0;
  if (!groups_) new_output();  // also for results without columns, whose rows only count
}

void* Worker::arena(size_t bytes) {
  constexpr size_t kAlign = 64;
  memory_.push_back(std::unique_ptr<uint8_t[]>(new uint8_t[bytes + kAlign]));
  memory_bytes_ += static_cast<int64_t>(bytes);
  const auto address = reinterpret_cast<uintptr_t>(memory_.back().get());
  return reinterpret_cast<void*>((address + kAlign - 1) / kAlign * kAlign);
}

void Worker::allocate_registers() {
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
  declined_.rows = static_cast<int32_t*>(arena((kDeclinedCapacity + kTilePadding) * sizeof(int32_t)));
  declined_.join_rows = static_cast<uint32_t*>(arena(kDeclinedCapacity * kMaxJoins * sizeof(uint32_t)));
  declined_.capacity = kDeclinedCapacity;
}

void Worker::allocate_buffers() {
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

void Worker::fill_constants() {
  for (size_t reg = 0; reg < assembly_.constants.size(); ++reg) {
    const plan::Constant& constant = program_.constants[assembly_.constants[reg]];
    const size_t size = static_cast<size_t>(registry::phys_size(constant.type.phys()));
    uint8_t value[16] = {};
    const bool has_value = !constant.is_null && !constant.unheld;
    if (has_value && constant.type.phys() == Phys::kStr) {
      const registry::StrView view{constant.bytes.data(), static_cast<int64_t>(constant.bytes.size())};
      std::memcpy(value, &view, sizeof view);
    } else if (has_value) {
      std::memcpy(value, constant.bytes.data(), size);
    }
    auto* out = static_cast<uint8_t*>(storage_[reg].data);
    for (int i = 0; i < kTileRows + kTilePadding; ++i) std::memcpy(out + static_cast<size_t>(i) * size, value, size);
    if (has_value) continue;
    std::memset(storage_[reg].flags, constant.unheld ? block::kErrorFlag : block::kNullFlag, kTileRows + kTilePadding);
    regs_[reg].flags = storage_[reg].flags;
  }
}

OutputBatch Worker::make_output(int32_t capacity) const {
  OutputBatch batch;
  for (Phys phys : assembly_.output_phys) {
    const size_t value_bytes = static_cast<size_t>(registry::phys_size(phys)) * static_cast<size_t>(capacity);
    const size_t bytes = value_bytes + static_cast<size_t>(capacity);
    batch.memory.push_back(std::unique_ptr<uint8_t[]>(new uint8_t[bytes]));
    batch.memory_bytes += static_cast<int64_t>(bytes);
    batch.columns.push_back({batch.memory.back().get(), batch.memory.back().get() + value_bytes, phys});
  }
  return batch;
}

void Worker::new_output() {
  output_batch_ = make_output(kOutputCapacity);
  output_has_flags_.assign(assembly_.output_phys.size(), 0);
  output_ = {output_batch_.columns.data(), output_has_flags_.data(), 0, kOutputCapacity};
}

OutputBatch Worker::copy_of_output() const {
  OutputBatch copy = make_output(output_.count);
  const auto rows = static_cast<size_t>(output_.count);
  for (size_t i = 0; i < copy.columns.size(); ++i) {
    const block::TableColumn& from = output_batch_.columns[i];
    std::memcpy(copy.columns[i].data, from.data, rows * static_cast<size_t>(registry::phys_size(from.phys)));
    if (output_has_flags_[i]) std::memcpy(copy.columns[i].flags, from.flags, rows);
  }
  return copy;
}

/// The rows' places are the output's last column.
void Worker::drop_output_behind_top() {
  const auto* places = static_cast<const int64_t*>(output_batch_.columns.back().data);
  top_->add(places, output_.count);
  state_.top_last = top_->last();
  std::vector<int32_t> kept;
  for (int32_t i = 0; i < output_.count; ++i)
    if (places[i] <= state_.top_last) kept.push_back(i);
  keep_output(kept);
}

/// Bytes that are the same for rows of the same partition only: the output's columns behind those of the program.
std::string Worker::partition_of(int32_t row) const {
  std::string key;
  const size_t first = program_.pipelines[pipeline_].outputs.size();
  for (size_t c = first; c + 1 < output_batch_.columns.size(); ++c) {
    const block::TableColumn& column = output_batch_.columns[c];
    const bool is_null = output_has_flags_[c] && (column.flags[row] & block::kNullFlag) != 0;
    key.push_back(is_null ? '\1' : '\0');
    if (is_null) continue;
    const char* bytes = static_cast<const char*>(column.data);
    const size_t size = static_cast<size_t>(registry::phys_size(column.phys));
    if (column.phys != Phys::kStr) {
      key.append(bytes + static_cast<size_t>(row) * size, size);
      continue;
    }
    const auto& text = static_cast<const registry::StrView*>(column.data)[row];
    key.append(reinterpret_cast<const char*>(&text.len), sizeof text.len);
    key.append(text.ptr, static_cast<size_t>(text.len));
  }
  return key;
}

void Worker::drop_output_behind_partition_tops() {
  const auto* places = static_cast<const int64_t*>(output_batch_.columns.back().data);
  std::vector<const PartitionTops::Places*> found;
  for (int32_t i = 0; i < output_.count; ++i) found.push_back(partition_tops_->add(partition_of(i), places[i]));
  std::vector<int32_t> kept;
  for (int32_t i = 0; i < output_.count; ++i)
    if (!partition_tops_->is_behind(found[static_cast<size_t>(i)], places[i])) kept.push_back(i);
  const int64_t left_out = output_.count - static_cast<int64_t>(kept.size());
  if (!partition_tops_->is_worth_it(output_.count, left_out)) partition_tops_.reset();
  keep_output(kept);
}

/// Leaves these rows of the output, which are in order.
void Worker::keep_output(const std::vector<int32_t>& kept) {
  for (size_t c = 0; c < output_batch_.columns.size(); ++c) {
    block::TableColumn& column = output_batch_.columns[c];
    const size_t size = static_cast<size_t>(registry::phys_size(column.phys));
    auto* bytes = static_cast<uint8_t*>(column.data);
    for (size_t to = 0; to < kept.size(); ++to) {
      const auto from = static_cast<size_t>(kept[to]);
      std::memmove(bytes + to * size, bytes + from * size, size);
      if (output_has_flags_[c]) column.flags[to] = column.flags[from];
    }
  }
  output_.count = static_cast<int32_t>(kept.size());
}

void Worker::flush_output() {
  if (output_.count == 0) return;
  if (top_) drop_output_behind_top();
  if (partition_tops_) drop_output_behind_partition_tops();
  if (output_.count == 0) return;
  // Few rows leave in memory of their size, and the buffer stays.
  const bool few = output_.count <= kOutputCapacity / 4;
  OutputBatch batch = few ? copy_of_output() : std::move(output_batch_);
  batch.rows = output_.count;
  batch.has_flags.assign(output_has_flags_.begin(), output_has_flags_.end());
  own_output_text(&batch);
  if (few) {
    output_has_flags_.assign(output_has_flags_.size(), 0);
    output_.count = 0;
  } else {
    new_output();
  }
  sink_->take_output(std::move(batch));
}

/// Before the memory behind the output's text changes: when the chunk or the arena's text is done with.
void Worker::own_output_text(OutputBatch* batch) const {
  for (size_t i = 0; i < batch->columns.size(); ++i) {
    if (!assembly_.copied_outputs[i]) continue;
    const block::TableColumn& column = batch->columns[i];
    batch->texts.own(static_cast<registry::StrView*>(column.data), batch->has_flags[i] ? column.flags : nullptr,
                     batch->rows);
  }
  batch->memory_bytes += batch->texts.memory();
}

/// Large keys can fill the budget before the table is full.
void Worker::own_group_text() {
  if (!groups_) return;
  groups_->own_text();
  if (groups_->memory() <= group_budget_ || groups_->empty()) return;
  hand_groups_on();
}

/// Nothing refers to the arena between tiles but what the sink holds.
void Worker::empty_text_arena() {
  block::TextArena& text = state_.text;
  if (text.overflowed != 0 && text.capacity < kMostTextCapacity) {
    text.capacity *= 2;
    text_.reset(new char[static_cast<size_t>(text.capacity)]);
    text.bytes = text_.get();
  }
  text.used = 0;
  text.overflowed = 0;
}

void Worker::drain_declined(int64_t chunk, int64_t begin) {
  if (declined_.count == 0) return;
  declined_rows_ += declined_.count;
  std::vector<DeclinedRow> rows;
  for (int32_t i = 0; i < declined_.count; ++i) {
    DeclinedRow row{pipeline_, chunk, begin + declined_.rows[i], {}};
    for (uint32_t j = 0; j < assembly_.code.join_count; ++j) {
      const uint32_t inner = declined_.join_rows[i * kMaxJoins + static_cast<int>(j)];
      row.inner_rows.push_back(inner == kNoRow ? -1 : static_cast<int64_t>(inner));
    }
    rows.push_back(std::move(row));
  }
  declined_.count = 0;
  sink_->take_declined(std::move(rows));
}

/// Grows the table while the budget lasts. After that it stays small, in the caches, and is handed on whenever it is
/// full.
void Worker::make_room_for_groups() {
  if (!groups_overflowed_)
    for (const int64_t factor : {4, 2})
      if (groups_->memory() * factor <= group_budget_) {
        groups_->grow_to(groups_->capacity() * static_cast<uint32_t>(factor));
        return;
      }
  groups_->own_text();
  hand_groups_on();
}

void Worker::hand_groups_on() {
  sink_->take_groups(*groups_);
  rows_since_flush_ = 0;
  if (groups_overflowed_ || !groups_->hashed()) {
    groups_->reset();
    return;
  }
  groups_overflowed_ = true;
  groups_ = std::make_unique<HostGroupTable>(assembly_);
  if (group_budget_ >= kLeastForOverflowGroups) groups_->grow_to(kOverflowGroups);
  state_.groups = groups_->view();
}

RunResult Worker::run_tiles() {
  const auto begin = std::chrono::steady_clock::now();
  state_.budget = tiles_per_pause_;
  const RunResult result = run_(state_);
  if (result != RunResult::kPaused) return result;
  const auto took = std::chrono::steady_clock::now() - begin;
  if (took > kLongPause) tiles_per_pause_ = std::max(1, tiles_per_pause_ / 2);
  if (took < kShortPause) tiles_per_pause_ = std::min(kMostTilesPerPause, tiles_per_pause_ * 4);
  return result;
}

Status Worker::run(const Morsel& morsel, const KeepGoing& keep_going, int32_t* corrupt_column) {
  state_.columns = morsel.batch->columns.data();
  state_.morsel_begin = morsel.begin;
  state_.morsel_rows = morsel.rows;
  state_.cursor = 0;
  if (groups_ && (rows_since_flush_ += morsel.rows) >= kMaxSummedRows) {
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
    if (result == RunResult::kDeclinedFull || result == RunResult::kDone) drain_declined(morsel.chunk, morsel.begin);
    if (result != RunResult::kDone) continue;
    flush_output();
    own_group_text();
    empty_text_arena();
    return Status::ok();
  }
}

int64_t Worker::memory() const {
  return memory_bytes_ + state_.text.capacity + (groups_ ? groups_->memory() : 0) +
         (partition_tops_ ? partition_tops_->memory() : 0);
}

}  // namespace strom::engine::exec
