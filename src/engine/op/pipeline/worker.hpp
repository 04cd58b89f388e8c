// What a pipeline's workers share, whatever device they run tiles on. Used by exec/pipeline_run.cpp.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/op/pipeline/assemble.hpp"
#include "engine/op/pipeline/statistics.hpp"
#include "engine/op/output/result_batch.hpp"
#include "engine/op/hash_agg/group_table.hpp"
#include "engine/op/output/text_store.hpp"

namespace strom::engine::op {

/// Rows of one chunk for one worker.
struct Morsel {
  int64_t chunk = 0, begin = 0;
  int32_t rows = 0;
  std::shared_ptr<const columnar::BatchView> batch;
  bool is_away = false;   // taken by another device than the one that caches its columns
  int64_t page_rows = 0;  // rows read of BatchView::pages
  int64_t number = 0;     // in the order of the source's rows, with lanes
  size_t lane = 0;        // whose worker runs it
};

/// Full output columns, owning their memory.
struct OutputBatch {
  std::vector<block::TableColumn> columns;
  std::vector<bool> has_flags;
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  TextStore texts;
  int64_t rows = 0, memory_bytes = 0;
};

/// Takes the results of workers; several call it at a time.
class WorkerSink {
 public:
  virtual ~WorkerSink() = default;
  virtual void take_output(OutputBatch batch) = 0;
  /// Takes a table that is flushed before the end, in the middle of `morsel`. The table owns its texts. Returns an
  /// empty table for reuse, if there is one.
  virtual std::unique_ptr<HostGroupTable> take_groups(std::unique_ptr<HostGroupTable> groups, const Morsel& morsel) = 0;
  virtual void add_fallback_rows(std::vector<FallbackRow> rows) = 0;
};

/// Sums stay exact for this many rows of one table, see agg/accumulate.hpp.
inline constexpr int64_t kMaxSummedRows = int64_t{1} << 31;

/// The value of a constant's register, the same in all rows. Texts are not copied.
struct ConstantValue {
  explicit ConstantValue(const plan::Constant& constant);
  /// For a prepared form.
  explicit ConstantValue(registry::StrView view);
  size_t size;  // bytes of the value
  uint8_t bytes[16] = {};
  uint8_t flag;  // block::kNullFlag or another flag
};

/// Fallback rows of a morsel that begins at row `begin` of its chunk.
std::vector<FallbackRow> rows_of(const block::FallbackBuffer& fallback, uint32_t pipeline, int64_t chunk, int64_t begin,
                                 uint32_t joins);

/// Runs morsels of one pipeline on one device.
class Worker {
 public:
  virtual ~Worker() = default;

  /// Called every few milliseconds or more often while a morsel runs. False or an exception abandons the morsel.
  using KeepGoing = std::function<bool()>;

  /// Runs one morsel to its end. kCorruptFile, with the ordinal of the column in *corrupt_column; kCancelled when
  /// `keep_going` said so; kOverBudget: the device has no memory for the rest of the morsel, which is in *morsel.
  virtual Status run(Morsel* morsel, const KeepGoing& keep_going, int32_t* corrupt_column) = 0;
  /// Called after the last morsel, on the thread that merges: takes what the device holds to groups() and to the sink.
  virtual Status finish() { return Status::ok(); }

  virtual int64_t fallback_rows() const = 0;
  /// nullptr when the pipeline has no groups.
  virtual HostGroupTable* groups() = 0;
  virtual const std::vector<uint64_t>& rows_in() const = 0;  // of each segment
  virtual const std::vector<uint64_t>& rows_out() const = 0;
  virtual int64_t memory() const = 0;
  /// Bytes of columns that were copied to a device, and that were already there.
  virtual DeviceBytes device_bytes() const { return {}; }
  /// Bytes of pages that the device has read from files by itself.
  virtual int64_t read_bytes() const { return 0; }
};

}  // namespace strom::engine::op
