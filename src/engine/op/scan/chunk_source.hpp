// Where the rows of a pipeline come from: what a scan reads. Implemented by src/pg/source and by tests, used by
// engine/exec.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "engine/op/scan/key_range.hpp"

namespace strom::engine::op {

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
  /// Chunks begin anew. The caller's thread, when no thread reads any and all fallback rows have been taken.
  virtual void rewind() = 0;
  /// The rows of a chunk have been processed; `has_fallback`: PostgreSQL will ask for some of them. Any thread.
  virtual void release(int64_t chunk, bool has_fallback) = 0;
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
  /// Stands for what is in chunk `index` in any query, but for chance: devices cache columns by it. Of a fed
  /// chunk: on the thread that feeds, before it is handed out.
  virtual uint64_t cache_key(int64_t index) const { return static_cast<uint64_t>(index); }
  /// Where it is stored, likewise: an index of Options::near_devices.
  virtual uint32_t storage_index(int64_t index) const {
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

}  // namespace strom::engine::op
