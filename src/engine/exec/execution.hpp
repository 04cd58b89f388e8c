// Runs a program: pipelines over chunks of columnar data, on engine threads plus the calling thread. The caller (a
// PostgreSQL executor node, a test) pulls result batches; it is the only thread that ever leaves the engine.
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

/// Rows that a worker takes at a time: small enough for a quick stop and an even load. Environment STROM_MORSEL_ROWS
/// lowers it, so that tests run many threads over few rows.
int64_t default_morsel_rows();

/// Of a device. Environment STROM_DEVICE_MORSEL_ROWS lowers it, likewise.
int64_t default_device_morsel_rows();

/// Passes over the outer side. Inner sides that would need more go beyond their budget.
inline constexpr int64_t kMostPasses = 32;

struct Options {
  Isa isa = best_isa();
  block::RunMorsel run = nullptr;    // runs tiles; null = the CPU's for `isa`
  device::Device* device = nullptr;  // runs tiles of pipelines whose source has `device_rows` or more, by so many
  int64_t device_rows = 0;           // rows at a time; pieces for which it has no memory run on the CPU
  std::vector<device::Device*> more_devices{};  // of the same kind: threads are spread over all
  // Of `device` and more_devices, by which morsels are theirs in every query; empty: one only, or by place.
  std::vector<uint32_t> device_numbers{};
  // For storages of the last pipeline's source the places of devices that its morsels go to if they can; empty: all.
  std::vector<std::vector<uint32_t>> near_devices{};
  int64_t device_morsel_rows = default_device_morsel_rows();
  bool device_reads_files = true;  // where the device can and it is worth it
  bool device_keeps_joins = true;  // join tables that it has not yet, likewise
  int threads = 1;                 // including the calling one; at most one for each morsel is started
  int lanes =
      1;  // workers that rows are dealt out to where the order of work can be seen in results; or as many as threads
  int64_t morsel_rows = default_morsel_rows();
  int64_t memory_budget = 256 << 20;  // bytes for group tables and queued results
  int64_t join_memory_budget =
      1ll << 30;  // for each join table; a larger inner side is joined in up to kMostPasses passes
  const block::Inflater* inflater = nullptr;  // of compressed texts; null: they are PostgreSQL's
  bool single_byte_encoding = false;          // LIKE and char_length: one byte per character instead of UTF-8
};

struct Stats {
  std::vector<std::vector<op::StageStats>> stages;  // per pipeline
  std::vector<double> milliseconds;                 // per pipeline, wall clock
  int64_t chunks = 0, rows = 0, bytes = 0;          // of the last pipeline's source
  int64_t chunks_loaded = 0, chunks_skipped = 0;    // likewise; skipped: no row could have matched a join
  int64_t fallback_rows = 0, partial_flushes = 0, peak_memory = 0;
  int threads = 0;
  int64_t passes = 0;                     // over the last pipeline's source
  int64_t device_rows = 0;                // of morsels that ran on devices, of all pipelines
  std::vector<int64_t> rows_by_device{};  // those of Options::device, then of more_devices
  int64_t device_file_bytes = 0;          // that devices have read from files by themselves
  op::DeviceBytes device_bytes;
  op::DeviceJoins device_joins;
};

/// Of the pipeline that runs.
struct Progress {
  uint32_t pipeline = 0;
  int64_t chunks_done = 0, chunks = 0;  // chunks 0: their number is not known; taken or left out
  int64_t rows = 0;                     // of the chunks that were taken
};

/// Runs on the calling thread between small pieces of work; may throw to abandon the execution (threads are joined by
/// the destructor).
using InterruptCheck = std::function<void()>;

class Execution {
 public:
  /// `sources[i]` feeds Program::sources[i]; `params` fill constants with param >= 0. The program must be verified.
  static Result<std::unique_ptr<Execution>> create(const plan::Program& program,
                                                   std::vector<const op::ChunkSource*> sources,
                                                   const std::vector<plan::Constant>& params, Options options);
  virtual ~Execution() = default;

  /// Next result batch, or nullptr when there is none left. Fallback rows may be taken at any time in between; all of
  /// them are known once next() has returned nullptr. Those of a pass over the outer side that something follows are
  /// given to on_pass_end()'s hook.
  virtual Result<std::shared_ptr<const op::ResultBatch>> next(const InterruptCheck& interrupt) = 0;
  virtual std::vector<op::FallbackRow> take_fallback_rows() = 0;

  /// After next() has given the first batch of groups, or the end: each group is in one of the batches to come, and no
  /// row is a fallback row.
  virtual bool has_all_groups() const = 0;

  /// For fallback rows, on the caller's thread, after the build pipelines are done (next() was called once): rows of
  /// the build table of `join` whose key equals `keys` (register values in the order of Join::inner_keys), appended to
  /// `rows`; payload() then reads one value of a build row.
  virtual Status lookup(uint32_t join, const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const = 0;
  virtual plan::Constant payload(uint32_t join, uint32_t ordinal, int64_t row) const = 0;
  /// A row may be a fallback row in every pass. It is of the running one when this is true for each of the joins of the
  /// last pipeline; keys that the engine cannot hold count as nulls.
  virtual bool is_in_pass(uint32_t join, const std::vector<plan::Constant>& keys) const = 0;
  /// False when is_in_pass() is true whatever the keys are.
  virtual bool is_partitioned(uint32_t join) const = 0;
  /// A build row has been matched by a row that PostgreSQL decides: for joins whose build rows go on by themselves.
  virtual void mark_matched(uint32_t join, int64_t row) = 0;
  /// Adds a build row that PostgreSQL has decided (fallback rows of build pipelines): called inside the hook below. Its
  /// number in the table, -1 when it is of another pass. Rows that read an unheld payload are fallback rows.
  virtual Result<int64_t> add_build_row(uint32_t join, const std::vector<plan::Constant>& keys,
                                        const std::vector<plan::Constant>& payload) = 0;
  /// Called on the caller's thread with the fallback rows of build pipeline `pipeline`, before its table is finished.
  using FallbackBuildHook = std::function<void(uint32_t pipeline, const std::vector<op::FallbackRow>& rows)>;
  virtual void on_fallback_build(FallbackBuildHook hook) = 0;
  /// Called on the caller's thread when a pass over the outer side has fallback rows, and another or the rows of a
  /// build side follow; while its join tables are still there.
  using PassEndHook = std::function<void(const std::vector<op::FallbackRow>& rows)>;
  virtual void on_pass_end(PassEndHook hook) = 0;

  /// When the rows of a build pipeline's source are made ready.
  enum class Collect : uint8_t {
    kNot,        // they are there
    kIfNeeded,   // by the hook, right before they are read; not where none of them could get into a result
    kIfReached,  // likewise, and not where no probing row gets as far as their join
  };
  /// By build pipeline; all the others are read first. The hook runs on the caller's thread and may call
  /// set_parameter(), for parameters that have been unheld so far and are of the last pipeline.
  using CollectHook = std::function<void(uint32_t pipeline)>;
  virtual void on_collect(std::vector<Collect> sides, CollectHook hook) = 0;
  virtual void set_parameter(int32_t param, const plan::Constant& value) = 0;

  /// Ends the threads of an execution of which no more results are wanted.
  virtual void stop() = 0;
  /// The caller's thread, also from within an InterruptCheck.
  virtual Progress progress() const = 0;
  /// What was done so far. Not while threads run: after next() has returned nullptr or an error, or after stop().
  virtual Stats stats() const = 0;
};

}  // namespace strom::engine::exec
