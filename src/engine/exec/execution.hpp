// Runs a program: pipelines over chunks of columnar data, on engine threads and the calling thread. The caller (a
// PostgreSQL executor node, a test) pulls result batches. Only the caller's thread runs code outside of the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "engine/block/tile.hpp"
#include "engine/op/output/result_batch.hpp"
#include "engine/op/pipeline/statistics.hpp"
#include "engine/op/scan/chunk_source.hpp"
#include "engine/plan/ir.hpp"
#include "engine/platform/isa.hpp"

namespace strom::engine::device {
class Device;
}

namespace strom::engine::exec {

using platform::best_isa;
using platform::Isa;
using platform::isa_name;

/// Rows that a worker takes at a time: few enough for a quick stop and an even load. Environment STROM_MORSEL_ROWS
/// lowers the number, so that tests run many threads over few rows.
int64_t default_morsel_rows();

/// The same for a device. Environment STROM_DEVICE_MORSEL_ROWS lowers it.
int64_t default_device_morsel_rows();

/// Most passes over the outer side. Inner sides that would need more passes exceed their budget instead.
inline constexpr int64_t kMostPasses = 32;

struct Options {
  Isa isa = best_isa();
  block::RunMorsel run = nullptr;               // runs tiles; null = the CPU's for `isa`
  device::Device* device = nullptr;             // runs tiles of pipelines whose source has `device_rows` or more
  int64_t device_rows = 0;                      // morsels for which the device has no memory run on the CPU
  std::vector<device::Device*> more_devices{};  // of the same kind: threads are spread over all
  // Numbers of `device` and more_devices. They decide which device has a morsel, the same one in every query. Empty:
  // there is one device only, or the place in the list decides.
  std::vector<uint32_t> device_numbers{};
  // For each storage of the last pipeline's source, the places of the devices that its morsels prefer; empty: all.
  std::vector<std::vector<uint32_t>> near_devices{};
  int64_t device_morsel_rows = default_device_morsel_rows();
  bool device_reads_files = true;  // where the device can and reading is worth it
  bool device_keeps_joins = true;  // caches join tables, where the device can and it is worth it
  int threads = 1;                 // including the calling one; at most one for each morsel is started
  int lanes =
      1;  // workers that rows are dealt out to where the order of work can be seen in results; or as many as threads
  // The same for pipelines whose rows become one group, unless they are fed: a further thread costs little there.
  int single_group_threads = 0, single_group_lanes = 0;  // 0: as above
  int64_t morsel_rows = default_morsel_rows();
  int64_t memory_budget = 256 << 20;  // bytes for group tables and queued results
  int64_t join_memory_budget =
      1ll << 30;  // for each join table; a larger inner side is joined in up to kMostPasses passes
  const block::Inflater* inflater = nullptr;  // for compressed texts; null: their rows are fallback rows
  bool single_byte_encoding = false;          // LIKE and char_length: one byte per character instead of UTF-8
};

struct Stats {
  std::vector<std::vector<op::StageStats>> stages;  // per pipeline
  std::vector<double> milliseconds;                 // per pipeline, wall clock
  int64_t chunks = 0, rows = 0, bytes = 0;          // of the last pipeline's source
  int64_t chunks_loaded = 0, chunks_skipped = 0;    // likewise; skipped: no row of the chunk could have matched a join
  int64_t fallback_rows = 0, partial_flushes = 0, peak_memory = 0;
  int threads = 0;
  int64_t passes = 0;                     // over the last pipeline's source
  int64_t device_rows = 0;                // of morsels that ran on devices, in all pipelines
  std::vector<int64_t> rows_by_device{};  // those of Options::device, then of more_devices
  int64_t device_file_bytes = 0;          // read from files by devices themselves
  op::DeviceBytes device_bytes;
  op::DeviceJoins device_joins;
};

/// Progress of the running pipeline.
struct Progress {
  uint32_t pipeline = 0;
  int64_t chunks_done = 0, chunks = 0;  // taken or left out; `chunks` 0: their number is not known
  int64_t rows = 0;                     // of the chunks that were taken
};

/// Called on the calling thread between small pieces of work. It may throw to abandon the execution (the destructor
/// joins the threads).
using InterruptCheck = std::function<void()>;

class Execution {
 public:
  /// `sources[i]` feeds Program::sources[i]; `params` fill constants with param >= 0. The program must be verified.
  static Result<std::unique_ptr<Execution>> create(const plan::Program& program,
                                                   std::vector<const op::ChunkSource*> sources,
                                                   const std::vector<plan::Constant>& params, Options options);
  virtual ~Execution() = default;

  /// Next result batch, or nullptr when there is none left. Fallback rows may be taken at any time in between; all of
  /// them are known once next() has returned nullptr. When another run follows a pass over the outer side, the pass's
  /// fallback rows go to on_pass_end()'s hook.
  virtual Result<std::shared_ptr<const op::ResultBatch>> next(const InterruptCheck& interrupt) = 0;
  virtual std::vector<op::FallbackRow> take_fallback_rows() = 0;

  /// Valid after next() has given the first batch of groups, or nullptr. True when each group is in only one batch and
  /// no row is a fallback row.
  virtual bool has_all_groups() const = 0;

  /// For fallback rows, on the caller's thread, after the first call of next() (the build pipelines are done then).
  /// Appends to `rows` the rows of the build table of `join` whose key equals `keys` (register values in the order of
  /// Join::inner_keys). payload() then reads one value of a build row.
  virtual Status lookup(uint32_t join, const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const = 0;
  virtual plan::Constant payload(uint32_t join, uint32_t ordinal, int64_t row) const = 0;
  /// A row may be a fallback row in every pass. It belongs to the running pass when this is true for each of the joins
  /// of the last pipeline. Keys that the engine cannot hold count as nulls.
  virtual bool is_in_pass(uint32_t join, const std::vector<plan::Constant>& keys) const = 0;
  /// False when is_in_pass() is true for all keys.
  virtual bool is_partitioned(uint32_t join) const = 0;
  /// Tells that a fallback row has matched a build row: for joins whose unmatched or matched build rows go on by
  /// themselves.
  virtual void mark_matched(uint32_t join, int64_t row) = 0;
  /// Adds a build row that PostgreSQL has evaluated (a fallback row of a build pipeline). Called inside the hook below.
  /// Returns its number in the table, or -1 when it belongs to another pass. Probing rows that read an unheld payload
  /// are fallback rows.
  virtual Result<int64_t> add_build_row(uint32_t join, const std::vector<plan::Constant>& keys,
                                        const std::vector<plan::Constant>& payload) = 0;
  /// Called on the caller's thread with the fallback rows of build pipeline `pipeline`, before its table is finished.
  using FallbackBuildHook = std::function<void(uint32_t pipeline, const std::vector<op::FallbackRow>& rows)>;
  virtual void on_fallback_build(FallbackBuildHook hook) = 0;
  /// Called on the caller's thread when a pass over the outer side has fallback rows and another pass or the rows of a
  /// build side follow. The pass's join tables are still there.
  using PassEndHook = std::function<void(const std::vector<op::FallbackRow>& rows)>;
  virtual void on_pass_end(PassEndHook hook) = 0;

  /// When the rows of a build pipeline's source are collected.
  enum class Collect : uint8_t {
    kNot,        // they need no collection
    kIfNeeded,   // by the hook, right before they are read; never if none of them could get into a result
    kIfReached,  // likewise, and never if no probing row gets as far as their join
  };
  /// For each build pipeline. Pipelines that need no collection are read first. The hook runs on the caller's thread
  /// and may call set_parameter(), for parameters that have been unheld so far and belong to the last pipeline.
  using CollectHook = std::function<void(uint32_t pipeline)>;
  virtual void on_collect(std::vector<Collect> sides, CollectHook hook) = 0;
  virtual void set_parameter(int32_t param, const plan::Constant& value) = 0;

  /// Ends the threads of an execution whose further results are not needed.
  virtual void stop() = 0;
  /// On the caller's thread, also within an InterruptCheck.
  virtual Progress progress() const = 0;
  /// Statistics so far. Not while threads run: after next() has returned nullptr or an error, or after stop().
  virtual Stats stats() const = 0;
};

}  // namespace strom::engine::exec
