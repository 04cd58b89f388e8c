#include "engine/op/output/worker_output.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace strom::engine::op {

using registry::Phys;

namespace {

constexpr int32_t kOutputCapacity = 8 * block::kTileRows;

}  // namespace

WorkerOutput::WorkerOutput(const plan::Program& program, uint32_t pipeline, const Assembly& assembly, int64_t budget,
                           WorkerSink* sink)
    : program_(program), pipeline_(pipeline), assembly_(assembly), sink_(sink) {
  const plan::TopRows& top = program.pipelines[pipeline].top;
  if (!top.partition.empty())
    partition_tops_.emplace(top.rows, top.distinct, budget);
  else if (top.rows > 0)
    top_.emplace(top.rows);
  new_output();
}

int32_t WorkerOutput::append_some(const std::vector<block::TableColumn>& columns, const uint8_t* has_flags,
                                  int32_t from, int32_t rows) {
  const int32_t begin = output_.count, count = std::min(rows, output_.capacity - begin);
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto size = static_cast<size_t>(registry::phys_size(columns[i].phys));
    block::TableColumn& to = output_batch_.columns[i];
    std::memcpy(static_cast<char*>(to.data) + static_cast<size_t>(begin) * size,
                static_cast<const char*>(columns[i].data) + static_cast<size_t>(from) * size,
                static_cast<size_t>(count) * size);
    if (has_flags[i] != 0 && output_has_flags_[i] == 0) {
      std::memset(to.flags, 0, static_cast<size_t>(begin));
      output_has_flags_[i] = 1;
    }
    if (has_flags[i] != 0)
      std::memcpy(to.flags + begin, columns[i].flags + from, static_cast<size_t>(count));
    else if (output_has_flags_[i] != 0)
      std::memset(to.flags + begin, 0, static_cast<size_t>(count));
  }
  output_.count += count;
  return count;
}

OutputBatch WorkerOutput::make_output(int32_t capacity) const {
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

void WorkerOutput::new_output() {
  output_batch_ = make_output(kOutputCapacity);
  output_has_flags_.assign(assembly_.output_phys.size(), 0);
  output_ = {output_batch_.columns.data(), output_has_flags_.data(), 0, kOutputCapacity};
}

OutputBatch WorkerOutput::copy_of_output() const {
  OutputBatch copy = make_output(output_.count);
  const auto rows = static_cast<size_t>(output_.count);
  for (size_t i = 0; i < copy.columns.size(); ++i) {
    const block::TableColumn& from = output_batch_.columns[i];
    std::memcpy(copy.columns[i].data, from.data, rows * static_cast<size_t>(registry::phys_size(from.phys)));
    if (output_has_flags_[i]) std::memcpy(copy.columns[i].flags, from.flags, rows);
  }
  return copy;
}

/// Drops rows after the first ones. Their sort keys are the output's last column.
void WorkerOutput::drop_output_behind_top() {
  const auto* keys = static_cast<const int64_t*>(output_batch_.columns.back().data);
  top_->add(keys, output_.count);
  const int64_t last = top_->last();
  std::vector<int32_t> kept;
  for (int32_t i = 0; i < output_.count; ++i)
    if (keys[i] <= last) kept.push_back(i);
  keep_output(kept);
}

/// Bytes that are equal for rows of the same partition only: the output's columns behind those of the program.
std::string WorkerOutput::partition_of(int32_t row) const {
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

void WorkerOutput::drop_output_behind_partition_tops() {
  const auto* keys = static_cast<const int64_t*>(output_batch_.columns.back().data);
  std::vector<const PartitionTops::SortKeys*> found;
  found.reserve(output_.count);
  for (int32_t i = 0; i < output_.count; ++i) found.push_back(partition_tops_->add(partition_of(i), keys[i]));
  std::vector<int32_t> kept;
  for (int32_t i = 0; i < output_.count; ++i)
    if (!partition_tops_->is_behind(found[static_cast<size_t>(i)], keys[i])) kept.push_back(i);
  const int64_t left_out = output_.count - static_cast<int64_t>(kept.size());
  if (!partition_tops_->is_worth_it(output_.count, left_out)) partition_tops_.reset();
  keep_output(kept);
}

/// Keeps only these rows of the output, which are in ascending order.
void WorkerOutput::keep_output(const std::vector<int32_t>& kept) {
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

void WorkerOutput::flush() {
  if (output_.count == 0) return;
  if (top_) drop_output_behind_top();
  if (partition_tops_) drop_output_behind_partition_tops();
  if (output_.count == 0) return;
  // Few rows leave in memory of their size, and the buffer is kept.
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

/// Called before the memory of the output's texts changes: when the chunk or the arena is left.
void WorkerOutput::own_output_text(OutputBatch* batch) const {
  for (size_t i = 0; i < batch->columns.size(); ++i) {
    if (!assembly_.copied_outputs[i]) continue;
    const block::TableColumn& column = batch->columns[i];
    batch->texts.own(static_cast<registry::StrView*>(column.data), batch->has_flags[i] ? column.flags : nullptr,
                     batch->rows);
  }
  batch->memory_bytes += batch->texts.memory();
}

}  // namespace strom::engine::op
