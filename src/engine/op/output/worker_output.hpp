// The output buffer of one worker on the host, and the batches made of it. It drops rows that are not among the first
// ones of an order. Used by the workers of exec/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/op/pipeline/assemble.hpp"
#include "engine/op/top_rows/partition_tops.hpp"
#include "engine/op/top_rows/top_keys.hpp"
#include "engine/op/pipeline/worker.hpp"

namespace strom::engine::op {

class WorkerOutput {
 public:
  /// `budget`: bytes to remember the first rows of partitions.
  WorkerOutput(const plan::Program& program, uint32_t pipeline, const Assembly& assembly, int64_t budget,
               WorkerSink* sink);

  /// For tile code. The buffer's texts must stay until flush().
  block::OutputBuffer* buffer() { return &output_; }
  /// Rows after this sort key are not needed, see TileState::top_last.
  int64_t top_last() const { return top_ ? top_->last() : 0; }
  /// Copies rows that were made elsewhere to the buffer, which is flushed when it is full. `translate` returns where
  /// the host has a text.
  template <class F>
  void append(const std::vector<block::TableColumn>& columns, const uint8_t* has_flags, int32_t rows, F&& translate) {
    for (int32_t done = 0; done < rows;) {
      if (output_.count == output_.capacity) flush();
      const int32_t begin = output_.count;
      const int32_t count = append_some(columns, has_flags, done, rows - done);
      for (size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].phys != registry::Phys::kStr) continue;
        auto* texts = static_cast<registry::StrView*>(output_batch_.columns[i].data) + begin;
        const uint8_t* flags = output_has_flags_[i] ? output_batch_.columns[i].flags + begin : nullptr;
        for (int32_t row = 0; row < count; ++row)
          texts[row] = flags != nullptr && flags[row] != 0 ? registry::StrView{nullptr, 0} : translate(texts[row]);
      }
      done += count;
    }
  }
  /// Hands on the buffer's rows. Texts that will not last are copied first.
  void flush();
  int64_t memory() const { return partition_tops_ ? partition_tops_->memory() : 0; }

 private:
  int32_t append_some(const std::vector<block::TableColumn>& columns, const uint8_t* has_flags, int32_t from,
                      int32_t rows);
  void new_output();
  OutputBatch make_output(int32_t capacity) const;
  OutputBatch copy_of_output() const;
  void drop_output_behind_top();
  void drop_output_behind_partition_tops();
  std::string partition_of(int32_t row) const;
  void keep_output(const std::vector<int32_t>& rows);
  void own_output_text(OutputBatch* batch) const;

  const plan::Program& program_;
  const uint32_t pipeline_;
  const Assembly& assembly_;
  WorkerSink* const sink_;
  std::optional<TopKeys> top_;
  std::optional<PartitionTops> partition_tops_;
  OutputBatch output_batch_;
  std::vector<uint8_t> output_has_flags_;
  block::OutputBuffer output_{};
};

}  // namespace strom::engine::op
