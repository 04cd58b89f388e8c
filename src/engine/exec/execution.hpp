// Runs a program: pipelines over chunks of columnar data, on engine threads plus the calling thread. The caller (a
// PostgreSQL executor node, a test) pulls result batches; it is the only thread that ever leaves the engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "engine/block/tile.hpp"
#include "engine/exec/key_range.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::exec {

/// Instruction sets that the tile code is built for.
enum class Isa : uint8_t { kBaseline, kV2, kV3, kV4 };
const char* isa_name(Isa isa);  // "x86-64-v2", "AVX2", "AVX-512", "baseline"
/// Best level of this machine; lowered by environment STROM_ISA=v2|v3|v4 for tests.
Isa best_isa();

/// Rows that a worker takes at a time: small enough for a quick stop and an even load. Environment STROM_MORSEL_ROWS
/// lowers it, so that tests run many threads over few rows.
int64_t default_morsel_rows();

/// Of a device. Environment STROM_DEVICE_MORSEL_ROWS lowers it, likewise.
int64_t default_device_morsel_rows();

/// Prepares a source's chunks on the caller's thread, one after another, while engine threads read earlier ones.
class ChunkFeeder {
 public:
  virtual ~ChunkFeeder() = default;
  /// Makes the next chunk ready; false at the end. The caller's thread; may throw like an
  /// InterruptCheck.
  virtual bool feed() = 0;
  /// After feed() has said that there are no more: chunks that are being read may give pages back
  /// (columnar::PageBatch), so that it is to be asked again.
  virtual bool is_waiting() const { return false; }
  /// Whether chunks may be pages for a device to read. Before the first feed() of a run.
  virtual void let_devices_read(bool allowed) { (void)allowed; }
  /// How many chunks may be ready or being read at a time, for so many threads; at least 1. Asked once, before feed().
  virtual int64_t limit(int threads) = 0;
  /// Chunks begin anew. The caller's thread, when no thread reads any and all declined rows have been taken.
  virtual void rewind() = 0;
  /// The rows of a chunk have been processed; `declined`: PostgreSQL will ask for some of them. Any thread.
  virtual void release(int64_t chunk, bool declined) = 0;
};

/// Where a pipeline's rows come from. chunk() is called by engine threads at the same time and must not call
/// PostgreSQL; the views must stay valid as long as a copy of the chunk's BatchView is held, and text until the
/// Execution is gone unless stable_text() says otherwise. A source is read more than once, from chunk 0 on, when an
/// inner side does not fit its budget.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  virtual int64_t chunk_count() const = 0;
  /// Rows of all chunks together; decides how many threads are worth starting.
  virtual int64_t total_rows() const = 0;
  /// Rows of chunk `index` with the columns of plan::Source in order; layouts must load into the declared types.
  virtual Result<columnar::BatchView> chunk(int64_t index) const = 0;
  /// Columns of chunk `index` that threads can load each by itself, with one call of load_column(), before one of them
  /// asks for the chunk: they take long. 0: nothing can be loaded so. For sources without a feeder; errors are
  /// chunk()'s.
  virtual int64_t loadable_columns(int64_t index) const {
    (void)index;
    return 0;
  }
  virtual void load_column(int64_t index, int64_t column) const { (void)index, (void)column; }
  /// Not nullptr: chunk_count() is not asked, and chunk() is called once for each chunk that was fed, which is one
  /// morsel; the view is valid until the chunk is released.
  virtual ChunkFeeder* feeder() const { return nullptr; }
  /// Stands for what is in chunk `index` in any query, but for chance: devices keep their columns by it. Of a fed
  /// chunk: on the thread that feeds, before it is handed out.
  virtual uint64_t place(int64_t index) const { return static_cast<uint64_t>(index); }
  /// Which part of the source it is of, likewise; see Options::near_machines.
  virtual uint32_t part(int64_t index) const {
    (void)index;
    return 0;
  }
  /// Rows of a chunk from `begin` on, up to those of the next one, belong to stripe `number`.
  struct Stripe {
    int64_t begin;
    uint64_t number;
  };
  /// Of a fed chunk that is held: what belongs together whether or not the source is cut into chunks in the same way
  /// each time. A stripe's rows are in neighbouring chunks.
  virtual std::vector<Stripe> stripes(int64_t index) const { return {{0, static_cast<uint64_t>(index)}}; }
  /// False when text, too, is valid only while the chunk's BatchView is held: what is kept of it is then copied.
  virtual bool stable_text() const { return true; }
  /// True when text columns may have compressed values (columnar::ColumnView::has_packed) and numerics are as they are
  /// stored: loading such a column takes time.
  virtual bool converts_late() const { return false; }
  /// True when may_hold() can rule out chunks by their values of `column`; for sources without a feeder.
  virtual bool has_bounds(uint32_t column) const {
    (void)column;
    return false;
  }
  /// False when no row of chunk `index` has one of `keys` in `column`. Called by engine threads.
  virtual bool may_hold(int64_t index, uint32_t column, const KeyRange& keys) const {
    (void)index, (void)column, (void)keys;
    return true;
  }
  /// Names what `columns` of all rows hold, without reading any. What was read between two questions is what the name
  /// says if both have the same answer. The caller's thread; may throw like an InterruptCheck.
  virtual columnar::RowsOrigin origin(const std::vector<uint32_t>& columns) const {
    (void)columns;
    return {};
  }
  /// Names the chunk in an error message, e.g. `record batch 3 of file "..."`.
  virtual std::string describe(int64_t index) const { return "chunk " + std::to_string(index); }
};

/// A row that the engine could not evaluate (overflow, division by zero, ...): PostgreSQL decides it.
struct DeclinedRow {
  uint32_t pipeline;
  int64_t chunk;
  int64_t row;                      // in the columns of the chunk
  std::vector<int64_t> inner_rows;  // for the first inner_rows.size() joins of the pipeline: row of the join's
                                    // build table that this row was combined with, or -1 when it is to be
                                    // looked up again (unique keys)
  int32_t build_join = -1;  // >= 0: a build row of the pipeline's join at this place that goes on by itself, see
                            // inner_rows; neither the source nor the joins before it have a row
};

/// One column of a result batch: dense register values, flags[i] & 1 = null (flags may be null: no nulls).
struct ResultColumn {
  plan::ValueType type;
  const void* values = nullptr;  // phys layout; StrView for text, pointing into stable source memory or the batch
  const uint8_t* flags = nullptr;
};

/// Accumulators of one aggregate: count of non-null inputs (or rows), and value columns by AccKind:
/// kSumI64 and kCountTrue int64, kSumI128 __int128, kSumF32 float, kSumF64 and kAvgF64 double, kSumSquares, kSumDecimal
/// and kMoments and kPairMoments the structs of registry/aggregates.hpp, all others the argument's phys.
struct ResultAggregate {
  const int64_t* counts = nullptr;
  const void* values = nullptr;
};

struct ResultBatch {
  int64_t rows = 0;
  std::vector<ResultColumn> columns;        // kProject: outputs; kAggregate: group keys
  std::vector<ResultAggregate> aggregates;  // kAggregate
  std::vector<uint64_t> places;  // of the rows by the first key of Pipeline::order, in which they are; else empty
  int grouping_set = -1;         // its groups are of this set alone; -1: of each of Pipeline::grouping_sets,
                                 // to be merged by the keys that the set has
  std::shared_ptr<void> memory;  // owns what the pointers above point to
  int64_t memory_bytes = 0;      // of `memory`
};

/// Passes over the outer side. Inner sides that would need more go beyond their budget.
inline constexpr int64_t kMostPasses = 32;

class DeviceMachine;

struct Options {
  Isa isa = best_isa();
  block::RunMorsel run = nullptr;    // runs tiles; null = the CPU's for `isa`
  DeviceMachine* machine = nullptr;  // runs tiles of pipelines whose source has `device_rows` or more, by so many
  int64_t device_rows = 0;           // rows at a time; pieces for which it has no memory run on the CPU
  std::vector<DeviceMachine*> more_machines{};  // of the same kind: threads are spread over all
  // Of `machine` and more_machines, by which morsels are theirs in every query; empty: one only, or by place.
  std::vector<uint32_t> machine_numbers{};
  // For parts of the last pipeline's source the places of machines that its morsels go to if they can; empty: all.
  std::vector<std::vector<uint32_t>> near_machines{};
  int64_t device_morsel_rows = default_device_morsel_rows();
  bool device_reads_files = true;  // where the machine can and it is worth it
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

struct StageStats {
  std::string name;  // "scan", "filter", "join 1", "sink"
  int64_t rows_in = 0, rows_out = 0;
};

/// Columns for Options::machine.
struct DeviceBytes {
  int64_t copied = 0, kept = 0;  // to it now; there from earlier queries
  DeviceBytes& operator+=(const DeviceBytes& more) {
    copied += more.copied;
    kept += more.kept;
    return *this;
  }
};

/// Join tables that pipelines on Options::machine have probed.
struct DeviceJoins {
  int64_t built = 0, kept = 0;  // now; there from earlier queries
  DeviceJoins& operator+=(const DeviceJoins& more) {
    built += more.built;
    kept += more.kept;
    return *this;
  }
};

struct Stats {
  std::vector<std::vector<StageStats>> stages;    // per pipeline
  std::vector<double> milliseconds;               // per pipeline, wall clock
  int64_t chunks = 0, rows = 0, bytes = 0;        // of the last pipeline's source
  int64_t chunks_loaded = 0, chunks_skipped = 0;  // likewise; skipped: no row could have matched a join
  int64_t declined = 0, partial_flushes = 0, peak_memory = 0;
  int threads = 0;
  int64_t passes = 0;                   // over the last pipeline's source
  int64_t device_rows = 0;              // of morsels that ran on devices, of all pipelines
  std::vector<int64_t> machine_rows{};  // those of Options::machine, then of more_machines
  int64_t device_file_bytes = 0;        // that devices have read from files by themselves
  DeviceBytes device_bytes;
  DeviceJoins device_joins;
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
                                                   std::vector<const ChunkSource*> sources,
                                                   std::vector<plan::Constant> params, Options options);
  virtual ~Execution() = default;

  /// Next result batch, or nullptr when there is none left. Declined rows may be taken at any time in between; all of
  /// them are known once next() has returned nullptr. Those of a pass over the outer side that something follows are
  /// given to on_pass_end()'s hook.
  virtual Result<std::shared_ptr<const ResultBatch>> next(const InterruptCheck& interrupt) = 0;
  virtual std::vector<DeclinedRow> take_declined() = 0;

  /// After next() has given the first batch of groups, or the end: each group is in one of the batches to come, and no
  /// row was declined.
  virtual bool has_all_groups() const = 0;

  /// For re-checking on the caller's thread, after the build pipelines are done (next() was called once): rows of the
  /// build table of `join` whose key equals `keys` (register values in the order of Join::inner_keys), appended to
  /// `rows`; payload() then reads one value of a build row.
  virtual Status lookup(uint32_t join, const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const = 0;
  virtual plan::Constant payload(uint32_t join, uint32_t ordinal, int64_t row) const = 0;
  /// A row may be declined in every pass. It is of the running one when this is true for each of the joins of the last
  /// pipeline; keys that the engine cannot hold count as nulls.
  virtual bool is_in_pass(uint32_t join, const std::vector<plan::Constant>& keys) const = 0;
  /// False when is_in_pass() is true whatever the keys are.
  virtual bool is_partitioned(uint32_t join) const = 0;
  /// A build row has been matched by a row that PostgreSQL decides: for joins whose build rows go on by themselves.
  virtual void mark_matched(uint32_t join, int64_t row) = 0;
  /// Adds a build row that PostgreSQL has decided (declined rows of build pipelines): called inside the hook below. Its
  /// number in the table, -1 when it is of another pass. Rows that read an unheld payload are declined.
  virtual Result<int64_t> add_build_row(uint32_t join, const std::vector<plan::Constant>& keys,
                                        const std::vector<plan::Constant>& payload) = 0;
  /// Called on the caller's thread with the declined rows of build pipeline `pipeline`, before its table is finished.
  using DeclinedBuildHook = std::function<void(uint32_t pipeline, const std::vector<DeclinedRow>& rows)>;
  virtual void on_declined_build(DeclinedBuildHook hook) = 0;
  /// Called on the caller's thread when a pass over the outer side has declined rows, and another or the rows of a
  /// build side follow; while its join tables are still there.
  using PassEndHook = std::function<void(const std::vector<DeclinedRow>& rows)>;
  virtual void on_pass_end(PassEndHook hook) = 0;

  /// Ends the threads of an execution of which no more results are wanted.
  virtual void stop() = 0;
  /// The caller's thread, also from within an InterruptCheck.
  virtual Progress progress() const = 0;
  /// What was done so far. Not while threads run: after next() has returned nullptr or an error, or after stop().
  virtual Stats stats() const = 0;
};

}  // namespace strom::engine::exec
