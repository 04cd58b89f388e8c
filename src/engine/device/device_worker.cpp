#include "engine/device/device_worker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <span>
#include <utility>

#include "engine/block/tile_op.hpp"

namespace strom::engine::device {

using block::kBufferRows;
using block::kTilePadding;
using block::kTileRows;
using block::RunResult;
using block::TableColumn;
using block::TileState;
using registry::Phys;
using registry::StrView;

namespace {

constexpr int32_t kOutputCapacity = 4 * kTileRows;
constexpr int32_t kFallbackCapacity = 3 * kTileRows;
/// Arena of computed text of one state. Rows whose text does not fit are fallback rows.
constexpr int64_t kTextCapacity = 4 << 20;
/// Limits of the memory of one worker's states: kMostWork of memory that only tiles see, kMostData of mirrored memory,
/// which takes time to allocate.
constexpr size_t kMostWork = size_t{1} << 30, kMostData = 128 << 20;
/// Tiles of one state in a launch. Their rows must fit a count of 32 bits (block::TileCode::own_groups).
constexpr int32_t kTilesPerLaunch = 1024;
static_assert(int64_t{kTilesPerLaunch} * kTileRows <= UINT32_MAX);
/// A morsel whose columns are larger is run in several launches.
constexpr size_t kLargeSlot = 64 << 20;
constexpr int32_t kLeastSlice = 4 * kTileRows;

size_t size_of(Phys phys) { return static_cast<size_t>(registry::phys_size(phys)); }

}  // namespace

Result<std::unique_ptr<DeviceWorker>> DeviceWorker::create(const plan::Program& program, uint32_t pipeline,
                                                           const op::Assembly& assembly, const DevicePipeline& shared,
                                                           const Share& share, int64_t group_budget,
                                                           op::WorkerSink* sink, const KeepGoing& keep_going) {
  std::unique_ptr<DeviceWorker> worker(
      new DeviceWorker(program, pipeline, assembly, shared, share, group_budget, sink));
  STROM_TRY(worker->allocate(keep_going));
  return std::unique_ptr<DeviceWorker>(std::move(worker));
}

DeviceWorker::DeviceWorker(const plan::Program& program, uint32_t pipeline, const op::Assembly& assembly,
                           const DevicePipeline& shared, const Share& share, int64_t group_budget, op::WorkerSink* sink)
    : program_(program),
      pipeline_(pipeline),
      assembly_(assembly),
      shared_(shared),
      group_budget_(group_budget),
      sink_(sink),
      cached_(&shared.device()),
      rows_in_(assembly.segments.size()),
      rows_out_(assembly.segments.size()) {
  std::set<uint32_t> loaded;
  for (const block::TileInstr& instr : assembly.instrs)
    if (instr.op == static_cast<uint16_t>(block::TileOp::kLoadColumn)) loaded.insert(instr.imm);
  columns_.assign(loaded.begin(), loaded.end());
  lay_out_work();
  lay_out_data();
  states_ = count_states(share);
  chunk_rows_.resize(states_);
  if (program.pipelines[pipeline].sink != plan::SinkKind::kAggregate) {
    output_ = std::make_unique<op::WorkerOutput>(program, pipeline, assembly, group_budget, sink);
    return;
  }
  groups_ = std::make_unique<op::HostGroupTable>(assembly);
  tables_ = std::make_unique<DeviceGroups>(assembly, group_budget, states_);
}

/// All workers together fill the device. More states, or more than a morsel has tiles, would only cost time: to make
/// them, and to copy them at each launch.
size_t DeviceWorker::count_states(const Share& share) const {
  const int64_t blocks = std::max(1, device().states_per_worker()), workers = share.workers;
  const int64_t tiles = (share.morsel_rows + kTileRows - 1) / kTileRows;
  const auto useful = static_cast<size_t>(std::max<int64_t>(1, std::min((blocks + workers - 1) / workers, tiles)));
  return std::clamp<size_t>(std::min(kMostWork / layout_.work_bytes, kMostData / layout_.data_bytes), 1, useful);
}

/// Plans the memory that exec/cpu_worker.cpp allocates for a CPU worker.
void DeviceWorker::lay_out_work() {
  op::DeviceOffsets offsets;
  const size_t tile = kTileRows + kTilePadding, buffer = kBufferRows + kTilePadding;
  for (size_t reg = 0; reg < assembly_.register_phys.size(); ++reg) {
    const bool is_constant = reg < assembly_.constants.size();
    const size_t size = size_of(static_cast<Phys>(assembly_.register_phys[reg]));
    layout_.register_values.push_back(is_constant ? 0 : offsets.take(tile * size));
    layout_.register_flags.push_back(is_constant ? 0 : offsets.take(tile));
  }
  for (size_t i = 0; i < assembly_.segments.size(); ++i) {
    layout_.buffer_rows.push_back(i == 0 ? 0 : offsets.take(buffer * sizeof(int32_t)));
    layout_.carried.emplace_back();
    if (i == 0) continue;
    const uint16_t* carried = assembly_.lists.data() + assembly_.segments[i - 1].carried;
    for (int k = 1; k <= carried[0]; ++k) {
      const size_t size = size_of(static_cast<Phys>(assembly_.register_phys[carried[k]]));
      const size_t values = offsets.take(buffer * size);
      layout_.carried.back().emplace_back(values, offsets.take(buffer));
    }
  }
  layout_.scratch_positions = offsets.take(buffer * sizeof(int32_t));
  layout_.scratch_mask = offsets.take(tile);
  layout_.scratch_values = offsets.take(tile * 16);
  layout_.local_rows = offsets.take(tile * sizeof(int32_t));
  if (assembly_.code.makes_text && !assembly_.code.keeps_text) layout_.text = offsets.take(kTextCapacity);
  layout_.work_bytes = offsets.used();
}

void DeviceWorker::lay_out_data() {
  op::DeviceOffsets offsets;
  layout_.fallback_rows = offsets.take((kFallbackCapacity + kTilePadding) * sizeof(int32_t));
  layout_.fallback_join_rows = offsets.take(kFallbackCapacity * joins() * sizeof(uint32_t));
  if (assembly_.code.keeps_text) layout_.text = offsets.take(kTextCapacity);
  for (const Phys phys : assembly_.output_phys) {
    const size_t values = offsets.take((kOutputCapacity + kTilePadding) * size_of(phys));
    layout_.outputs.emplace_back(values, offsets.take(kOutputCapacity + kTilePadding));
  }
  layout_.data_bytes = offsets.used();
}

Status DeviceWorker::allocate(const KeepGoing& keep_going) {
  STROM_ASSIGN(work_, device().allocate(states_ * layout_.work_bytes, false, keep_going));
  STROM_ASSIGN(data_, device().allocate(states_ * layout_.data_bytes, true, keep_going));
  if (tables_) STROM_TRY(tables_->allocate(&device(), keep_going));
  op::DeviceImage image;
  const size_t segments = assembly_.segments.size(), columns = assembly_.output_phys.size();
  at_.states = image.reserve(states_ * sizeof(TileState));
  at_.results = image.reserve(states_ * sizeof(RunResult));
  at_.outputs = image.reserve(states_ * sizeof(block::OutputBuffer));
  at_.output_flags = image.reserve(states_ * columns);
  at_.fallback = image.reserve(states_ * sizeof(block::FallbackBuffer));
  at_.groups = image.reserve((tables_ ? tables_->count() : 1) * sizeof(block::GroupTable));
  at_.rows_in = image.reserve(states_ * segments * sizeof(uint64_t));
  at_.rows_out = image.reserve(states_ * segments * sizeof(uint64_t));
  control_bytes_ = image.size();
  at_.stop = image.reserve(sizeof(int32_t));
  for (size_t i = 0; i < states_; ++i) write_state(i, &image);
  if (tables_) tables_->write(at_.groups, &image);
  STROM_ASSIGN(control_, device().allocate(image.size(), true, keep_going));
  image.write(control_->host(), control_->device());
  pending_.push_back({control_.get(), control_bytes_, image.size() - control_bytes_});
  if (!tables_) return {};
  tables_->set_tables(control<block::GroupTable>(at_.groups));
  for (size_t table = 0; table < tables_->count(); ++table) tables_->reset(table, tables_->capacity(), &pending_);
  return {};
}

void DeviceWorker::write_state(size_t i, op::DeviceImage* image) const {
  const size_t registers = assembly_.register_phys.size(), segments = assembly_.segments.size();
  const auto flags = [&](size_t offset) { return reinterpret_cast<uint8_t*>(work(i, offset)); };
  std::vector<block::RegStorage> storage;
  std::vector<block::Reg> regs;
  for (size_t reg = 0; reg < registers; ++reg) {
    const bool is_constant = reg < assembly_.constants.size();
    storage.push_back(
        is_constant ? shared_.constant(reg)
                    : block::RegStorage{work(i, layout_.register_values[reg]), flags(layout_.register_flags[reg])});
    regs.push_back({storage.back().data, is_constant ? storage.back().flags : nullptr});
  }
  const size_t buffers = image->reserve(segments * sizeof(block::SegmentBuffer));
  for (size_t s = 1; s < segments; ++s) {
    std::vector<block::RegStorage> carried;
    for (const auto& [values, value_flags] : layout_.carried[s])
      carried.push_back({work(i, values), flags(value_flags)});
    block::SegmentBuffer buffer{};
    buffer.rows = reinterpret_cast<int32_t*>(work(i, layout_.buffer_rows[s]));
    const size_t offset = buffers + s * sizeof buffer;
    std::memcpy(image->at(offset), &buffer, sizeof buffer);
    image->point(offset + offsetof(block::SegmentBuffer, carried),
                 image->put(std::span<const block::RegStorage>(carried)));
    image->point(offset + offsetof(block::SegmentBuffer, has_flags), image->reserve(carried.size() + 1));
  }
  const size_t output_columns = image->reserve(layout_.outputs.size() * sizeof(TableColumn));
  for (size_t c = 0; c < layout_.outputs.size(); ++c) {
    const TableColumn column{data(i, layout_.outputs[c].first),
                             reinterpret_cast<uint8_t*>(data(i, layout_.outputs[c].second)), assembly_.output_phys[c]};
    std::memcpy(image->at(output_columns + c * sizeof column), &column, sizeof column);
  }
  const size_t output = at_.outputs + i * sizeof(block::OutputBuffer);
  image->point(output + offsetof(block::OutputBuffer, columns), output_columns);
  image->point(output + offsetof(block::OutputBuffer, has_flags), at_.output_flags + i * layout_.outputs.size());
  std::memcpy(image->at(output + offsetof(block::OutputBuffer, capacity)), &kOutputCapacity, sizeof kOutputCapacity);

  const block::FallbackBuffer fallback{reinterpret_cast<int32_t*>(data(i, layout_.fallback_rows)),
                                       reinterpret_cast<uint32_t*>(data(i, layout_.fallback_join_rows)), 0,
                                       kFallbackCapacity};
  std::memcpy(image->at(at_.fallback + i * sizeof fallback), &fallback, sizeof fallback);

  TileState state{};
  state.code = shared_.code();
  state.joins = shared_.joins();
  if (assembly_.code.makes_text) {
    char* arena = assembly_.code.keeps_text ? data(i, layout_.text) : work(i, layout_.text);
    state.text = {arena, 0, kTextCapacity, 0};
  }
  state.scratch_positions = reinterpret_cast<int32_t*>(work(i, layout_.scratch_positions));
  state.scratch_mask = reinterpret_cast<uint8_t*>(work(i, layout_.scratch_mask));
  state.scratch_values = work(i, layout_.scratch_values);
  state.local_rows = reinterpret_cast<int32_t*>(work(i, layout_.local_rows));
  const size_t at = at_.states + i * sizeof state;
  std::memcpy(image->at(at), &state, sizeof state);
  image->point(at + offsetof(TileState, regs), image->put(std::span<const block::Reg>(regs)));
  image->point(at + offsetof(TileState, storage), image->put(std::span<const block::RegStorage>(storage)));
  image->point(at + offsetof(TileState, buffers), buffers);
  image->point(at + offsetof(TileState, segment_rows_in), at_.rows_in + i * segments * sizeof(uint64_t));
  image->point(at + offsetof(TileState, segment_rows_out), at_.rows_out + i * segments * sizeof(uint64_t));
  image->point(at + offsetof(TileState, stop), at_.stop);
  image->point(at + offsetof(TileState, output), output);
  image->point(at + offsetof(TileState, fallback), at_.fallback + i * sizeof fallback);
  if (tables_)
    image->point(at + offsetof(TileState, groups), at_.groups + tables_->table_of(i) * sizeof(block::GroupTable));
}

// ---- groups ----

/// Adds the groups of one table, which have been copied to the host, to groups_.
void DeviceWorker::take_groups(size_t table) {
  tables_->take(table, [this](StrView text) { return host_text(text); }, groups_.get(), &pending_);
  if (groups_->memory() > group_budget_) hand_groups_on();
}

void DeviceWorker::hand_groups_on() {
  groups_ = sink_->take_groups(std::move(groups_), {});
  if (!groups_) groups_ = std::make_unique<op::HostGroupTable>(assembly_);
  rows_since_flush_ = 0;
}

// ---- results ----

/// Where the host has the text.
StrView DeviceWorker::host_text(StrView text) {
  if (text.len <= 0) return {text.len < 0 ? nullptr : "", text.len};
  if (const auto cached = cached_.host_text(text)) return *cached;
  if (const auto in_page = pages_ ? pages_->host_text(text) : std::nullopt) return *in_page;
  StrView on_host{nullptr, 0};
  const auto is_in = [&](const DeviceRegion* region) {
    const char* mirrored = region == nullptr ? nullptr : region->on_host(text.ptr, static_cast<size_t>(text.len));
    if (mirrored != nullptr) on_host = {mirrored, text.len};
    return mirrored != nullptr;
  };
  if (is_in(slot_.get()) || is_in(data_.get()) || is_in(&shared_.region()) ||
      std::any_of(shared_.cached_joins().begin(), shared_.cached_joins().end(), is_in))
    return on_host;
  lost_text_ = true;
  return {nullptr, 0};
}

void DeviceWorker::take_output(size_t i) {
  block::OutputBuffer& output = control<block::OutputBuffer>(at_.outputs)[i];
  std::vector<TableColumn> columns;
  columns.reserve(layout_.outputs.size());
  for (size_t c = 0; c < layout_.outputs.size(); ++c)
    columns.push_back({host_data(i, layout_.outputs[c].first),
                       reinterpret_cast<uint8_t*>(host_data(i, layout_.outputs[c].second)), assembly_.output_phys[c]});
  auto* has_flags = control<uint8_t>(at_.output_flags) + i * layout_.outputs.size();
  output_->append(columns, has_flags, output.count, [this](StrView text) { return host_text(text); });
  std::memset(has_flags, 0, layout_.outputs.size());
  output.count = 0;
}

/// The ranges of the states' results that have to be copied from the device. *with_groups: the group tables among them.
std::vector<DeviceRange> DeviceWorker::want_results(std::set<size_t>* with_groups) const {
  const auto* states = control<TileState>(at_.states);
  const auto* outputs = control<block::OutputBuffer>(at_.outputs);
  const auto* fallback = control<block::FallbackBuffer>(at_.fallback);
  std::vector<DeviceRange> wanted;
  const auto want = [&](size_t i, size_t offset, size_t bytes) {
    if (bytes > 0) wanted.push_back({data_.get(), i * layout_.data_bytes + offset, bytes});
  };
  for (size_t i = 0; i < states_; ++i) {
    want(i, layout_.fallback_rows, static_cast<size_t>(fallback[i].count) * sizeof(int32_t));
    want(i, layout_.fallback_join_rows, static_cast<size_t>(fallback[i].count) * joins() * sizeof(uint32_t));
    const auto* has_flags = control<uint8_t>(at_.output_flags) + i * layout_.outputs.size();
    for (size_t c = 0; c < layout_.outputs.size(); ++c) {
      const auto rows = static_cast<size_t>(outputs[i].count);
      want(i, layout_.outputs[c].first, rows * size_of(assembly_.output_phys[c]));
      if (has_flags[c] != 0) want(i, layout_.outputs[c].second, rows);
    }
    if (leaves_groups(i) && with_groups->insert(tables_->table_of(i)).second)
      tables_->want(tables_->table_of(i), &wanted);
    if (assembly_.code.keeps_text)
      want(i, layout_.text, static_cast<size_t>(std::min(states[i].text.used, states[i].text.capacity)));
  }
  return wanted;
}

/// True when the state's groups have to leave the device now: there is no room for more, or their texts will be
/// dropped.
bool DeviceWorker::leaves_groups(size_t state) const {
  if (!tables_ || !tables_->has_groups(tables_->table_of(state))) return false;
  const RunResult result = control<RunResult>(at_.results)[state];
  const bool loses_text = result == RunResult::kDone || result == RunResult::kTextFull;
  return result == RunResult::kGroupsFull || (tables_->has_text() && loses_text);
}

void DeviceWorker::take_fallback_rows(size_t state, int64_t chunk) {
  block::FallbackBuffer& buffer = control<block::FallbackBuffer>(at_.fallback)[state];
  if (buffer.count == 0) return;
  block::FallbackBuffer on_host = buffer;
  on_host.rows = reinterpret_cast<int32_t*>(host_data(state, layout_.fallback_rows));
  on_host.join_rows = reinterpret_cast<uint32_t*>(host_data(state, layout_.fallback_join_rows));
  fallback_rows_ += on_host.count;
  sink_->add_fallback_rows(op::rows_of(on_host, pipeline_, chunk, chunk_rows_[state], assembly_.code.join_count));
  buffer.count = 0;
}

/// Takes the results of a launch that have to leave the states now. Texts do not stay in place once the slice is done
/// or the arena is emptied.
Status DeviceWorker::take_results(const op::Morsel& morsel, const KeepGoing& keep_going) {
  auto* states = control<TileState>(at_.states);
  const auto* outputs = control<block::OutputBuffer>(at_.outputs);
  const auto* results = control<RunResult>(at_.results);
  DeviceWork work;
  std::set<size_t> with_groups;
  work.out = want_results(&with_groups);
  if (!work.out.empty()) STROM_TRY(device().run(work, keep_going));
  for (size_t i = 0; i < states_; ++i) {
    take_fallback_rows(i, morsel.chunk);
    if (outputs[i].count > 0) take_output(i);
  }
  if (output_) {
    output_->flush();
    for (size_t i = 0; i < states_; ++i) states[i].top_last = output_->top_last();
  }
  for (const size_t i : with_groups) take_groups(i);
  for (size_t i = 0; i < states_; ++i)
    if (results[i] == RunResult::kDone || results[i] == RunResult::kTextFull)
      states[i].text.used = states[i].text.overflowed = 0;
  if (lost_text_ && !cached_.holds()) return Status(ErrorCode::kFileChanged, "a file changed while it was being read");
  if (lost_text_) return Status(ErrorCode::kInternal, "a text of the device is nowhere in its memory");
  return {};
}

void DeviceWorker::update_counts() {
  const size_t segments = assembly_.segments.size();
  for (size_t s = 0; s < segments; ++s) {
    rows_in_[s] = rows_out_[s] = 0;
    for (size_t i = 0; i < states_; ++i) {
      rows_in_[s] += control<uint64_t>(at_.rows_in)[i * segments + s];
      rows_out_[s] += control<uint64_t>(at_.rows_out)[i * segments + s];
    }
  }
}

// ---- morsels ----

/// Finds or caches columns on the device; these need no slot.
Status DeviceWorker::take_cached(const op::Morsel& morsel, const KeepGoing& keep_going, int32_t* corrupt_column) {
  const auto staging = [&](size_t bytes) -> Result<const DeviceRegion*> {
    if (!slot_ || slot_->size() < bytes) {
      slot_.reset();
      STROM_ASSIGN(slot_, device().allocate(bytes, true, keep_going));
    }
    return slot_.get();
  };
  STROM_TRY(cached_.take(morsel, program_.sources[program_.pipelines[pipeline_].source], columns_, staging, keep_going,
                         corrupt_column));
  if (slot_ && slot_->size() > 2 * kLargeSlot) slot_.reset();
  return {};
}

/// As many rows of the morsel as fit the slot, which is made or enlarged for them if possible.
Result<ColumnSlice> DeviceWorker::fit_slice(const op::Morsel& morsel, const KeepGoing& keep_going,
                                            int32_t* corrupt_column) {
  ColumnSlice slice{morsel.batch.get(), &program_.sources[program_.pipelines[pipeline_].source],
                    &columns_,          morsel.begin,
                    morsel.rows,        &cached_,
                    shared_.files()};
  for (;;) {
    STROM_ASSIGN(const size_t bytes, slot_bytes(slice, corrupt_column));
    if (slot_ && bytes <= slot_->size()) return slice;
    const bool is_small = slice.rows <= kLeastSlice;
    if (is_small || bytes <= kLargeSlot) {
      slot_.reset();
      Result<std::unique_ptr<DeviceRegion>> slot = device().allocate(bytes + bytes / 4, true, keep_going);
      if (slot.is_ok()) {
        slot_ = std::move(slot).value();
        return slice;
      }
      if (slot.status().code() != ErrorCode::kOverBudget) return slot.status();
      if (is_small) {
        slice.rows = morsel.rows;
        read_ahead(slice);
        return slot.status();
      }
    }
    slice.rows /= 2;
  }
}

/// Gives each state a part of a slice, in whole tiles: rows of the columns behind `lead`, and of the chunk from
/// `first_row` on. Build rows have no columns; they are their numbers.
void DeviceWorker::divide(const SlotContent& content, int64_t lead, int64_t first_row, int32_t rows) {
  const bool is_over_build_rows = std::any_of(assembly_.instrs.begin(), assembly_.instrs.end(), [](const auto& instr) {
    return instr.op == static_cast<decltype(instr.op)>(block::TileOp::kBuildRow);
  });
  if (is_over_build_rows) lead = first_row;
  const auto all = static_cast<int64_t>(states_);
  const int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  const int64_t part = (tiles + all - 1) / all * kTileRows;
  for (int64_t i = 0; i < all; ++i) {
    TileState& state = control<TileState>(at_.states)[i];
    const int64_t begin = std::min<int64_t>(i * part, rows);
    state.columns = content.columns;
    state.selection = content.selection;
    state.morsel_begin = lead + begin;
    state.morsel_rows = static_cast<int32_t>(std::min<int64_t>(part, rows - begin));
    state.cursor = 0;
    control<RunResult>(at_.results)[i] = RunResult::kPaused;
    if (output_) state.top_last = output_->top_last();
    chunk_rows_[static_cast<size_t>(i)] = first_row + begin;
  }
}

/// Lets all states run. But once a table that they share was full, only so many states run at a time that each surely
/// has room in it for one tile; otherwise none might finish its tile.
void DeviceWorker::give_budgets() {
  size_t running = states_;
  if (groups_were_full_ && tables_->count() == 1) running = std::max<size_t>(1, tables_->capacity() / kTileRows);
  for (size_t i = 0; i < states_; ++i) {
    const bool done = control<RunResult>(at_.results)[i] == RunResult::kDone;
    control<TileState>(at_.states)[i].budget = running > 0 ? kTilesPerLaunch : 0;
    if (!done && running > 0) --running;
  }
}

Status DeviceWorker::run_slice(const op::Morsel& morsel, const KeepGoing& keep_going, int32_t* corrupt_column) {
  for (;;) {
    give_budgets();
    DeviceWork work;
    work.in = std::move(pending_);
    pending_.clear();
    work.files = std::exchange(pending_files_, {});
    work.in.push_back({control_.get(), 0, control_bytes_});
    work.cached = cached_.regions();
    work.cached.insert(work.cached.end(), shared_.cached_joins().begin(), shared_.cached_joins().end());
    work.states = reinterpret_cast<TileState*>(control_->device() + at_.states);
    work.results = reinterpret_cast<RunResult*>(control_->device() + at_.results);
    work.count = static_cast<int>(states_);
    work.stop = reinterpret_cast<int32_t*>(control_->device() + at_.stop);
    work.out.push_back({control_.get(), 0, control_bytes_});
    const bool decodes = pages_ && pages_->is_to_be_decoded();
    if (decodes) pages_->add_to(&work);
    STROM_TRY(device().run(work, keep_going));
    if (decodes) pages_->decoded();
    bool ends = true;
    for (size_t i = 0; i < states_; ++i) {
      const RunResult result = control<RunResult>(at_.results)[i];
      if (result == RunResult::kCorruptText) {
        *corrupt_column = control<TileState>(at_.states)[i].corrupt_column;
        return Status(ErrorCode::kCorruptFile, "text offset outside of its buffer");
      }
      ends = ends && result == RunResult::kDone;
      groups_were_full_ = groups_were_full_ || result == RunResult::kGroupsFull;
    }
    STROM_TRY(take_results(morsel, keep_going));
    if (ends) return {};
    if (!keep_going()) return Status(ErrorCode::kCancelled, "stopped");
  }
}

/// Called before a slice of `rows` rows is run.
Status DeviceWorker::begin_slice(int32_t rows) {
  if (!groups_ || (rows_since_flush_ += rows) < op::kMaxSummedRows) return {};
  STROM_TRY(finish());
  hand_groups_on();
  rows_since_flush_ = rows;
  return {};
}

/// Runs a morsel of pages that the device reads by itself. Pages that it cannot read go back to the source.
Status DeviceWorker::run_pages(op::Morsel* morsel, const KeepGoing& keep_going, int32_t* corrupt_column) {
  if (!pages_) {
    const auto is_text = [](Phys phys) { return phys == Phys::kStr; };
    const bool texts_return = (tables_ && tables_->has_text()) ||
                              std::any_of(assembly_.output_phys.begin(), assembly_.output_phys.end(), is_text);
    pages_ =
        std::make_unique<DevicePages>(&device(), shared_.page_files(),
                                      program_.sources[program_.pipelines[pipeline_].source], columns_, texts_return);
  }
  STROM_TRY(pages_->read(morsel->batch->pages.get(), keep_going));
  for (;;) {
    STROM_ASSIGN(const int32_t rows, pages_->next_slice(keep_going));
    if (rows == 0) break;
    STROM_TRY(begin_slice(rows));
    divide({pages_->columns(), nullptr, 0, {}}, 0, morsel->page_rows, rows);
    STROM_TRY(run_slice(*morsel, keep_going, corrupt_column));
    morsel->page_rows += rows;
  }
  update_counts();
  return {};
}

Status DeviceWorker::run(op::Morsel* morsel, const KeepGoing& keep_going, int32_t* corrupt_column) {
  if (morsel->batch->pages != nullptr) {
    const Status status = run_pages(morsel, keep_going, corrupt_column);
    // The CPU cannot go on with these pages.
    return status.code() == ErrorCode::kOverBudget ? Status(ErrorCode::kInternal, status.message()) : status;
  }
  struct LetGo {
    CachedColumns* cached;
    ~LetGo() { cached->let_go(); }
  } const let_go{&cached_};
  STROM_TRY(take_cached(*morsel, keep_going, corrupt_column));
  while (morsel->rows > 0) {
    STROM_ASSIGN(const ColumnSlice slice, fit_slice(*morsel, keep_going, corrupt_column));
    STROM_ASSIGN(SlotContent content, fill_slot(slice, *slot_, keep_going, corrupt_column));
    pending_.push_back({slot_.get(), 0, content.bytes});
    copied_bytes_ += static_cast<int64_t>(content.bytes);
    pending_files_ = std::move(content.files);
    STROM_TRY(begin_slice(slice.rows));
    divide(content, slice.lead(), slice.begin, slice.rows);
    const Status status = run_slice(*morsel, keep_going, corrupt_column);
    // Some rows of the slice may have left already, so the slice cannot begin again elsewhere.
    if (status.code() == ErrorCode::kOverBudget) return Status(ErrorCode::kInternal, status.message());
    STROM_TRY(status);
    morsel->begin += slice.rows;
    morsel->rows -= slice.rows;
  }
  update_counts();
  return {};
}

Status DeviceWorker::finish() {
  DeviceWork work;
  std::vector<size_t> with_groups;
  for (size_t table = 0; tables_ && table < tables_->count(); ++table) {
    if (!tables_->has_groups(table)) continue;
    tables_->want(table, &work.out);
    with_groups.push_back(table);
  }
  if (with_groups.empty()) return {};
  work.in = std::exchange(pending_, {});  // empties tables that no tile has seen
  STROM_TRY(device().run(work, [] { return true; }));
  for (const size_t i : with_groups) take_groups(i);
  return {};
}

int64_t DeviceWorker::memory() const {
  return static_cast<int64_t>(control_->size() + data_->size()) + (groups_ ? groups_->memory() : 0) +
         (output_ ? output_->memory() : 0);
}

}  // namespace strom::engine::device
