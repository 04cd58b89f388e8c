// Where the rows of a pipeline come from. Implemented by src/pg/source and by tests, used by engine/exec.
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
  /// Makes the next chunk ready; false at the end. On the caller's thread; may throw like an InterruptCheck.
  virtual bool feed() = 0;
  /// Asked after feed() has returned false. True: chunks that are being read may still give pages back
  /// (columnar::PageBatch), so feed() has to be called again.
  virtual bool is_waiting() const { return false; }
  /// Tells whether chunks may be pages for a device to read. Called before the first feed() of a run.
  virtual void let_devices_read(bool allowed) { (void)allowed; }
  /// How many chunks may be ready or in use at a time, for `threads` threads; at least 1. Asked once, before feed().
  virtual int64_t limit(int threads) = 0;
  /// Goes back to the first chunk. On the caller's thread, when no thread reads a chunk and all fallback rows have been
  /// taken.
  virtual void rewind() = 0;
  /// Tells that the rows of a chunk have been processed; `has_fallback`: PostgreSQL will ask for some of them. Any
  /// thread.
  virtual void release(int64_t chunk, bool has_fallback) = 0;
};

/// Where a pipeline's rows come from. Engine threads call chunk() at the same time, and it must not call PostgreSQL.
/// The views must stay valid as long as a copy of the chunk's BatchView is held, and text until the Execution is
/// destroyed unless stable_text() says otherwise. A source is read more than once, from chunk 0 on, when an inner side
/// does not fit its budget.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  virtual int64_t chunk_count() const = 0;
  /// Rows of all chunks together; decides how many threads are worth starting.
  virtual int64_t total_rows() const = 0;
  /// Rows of chunk `index` with the columns of plan::Source in order; layouts must load into the declared types.
  virtual Result<columnar::BatchView> chunk(int64_t index) const = 0;
  /// The number of columns of chunk `index` that threads can load separately, with one call of load_column() each,
  /// before chunk() is called. For columns whose loading takes long. 0: none. For sources without a feeder; errors are
  /// those of chunk().
  virtual int64_t loadable_columns(int64_t index) const {
    (void)index;
    return 0;
  }
  virtual void load_column(int64_t index, int64_t column) const { (void)index, (void)column; }
  /// Not nullptr: chunk_count() is not called, and chunk() is called once for each chunk that was fed. Such a chunk is
  /// one morsel, and its view is valid until the chunk is released.
  virtual ChunkFeeder* feeder() const { return nullptr; }
  /// A hash of what chunk `index` holds, equal in all queries: devices cache columns by it. For a fed chunk: called on
  /// the thread that feeds, before the chunk is handed out.
  virtual uint64_t cache_key(int64_t index) const { return static_cast<uint64_t>(index); }
  /// The storage of the chunk: an index of Options::near_devices. Called as cache_key().
  virtual uint32_t storage_index(int64_t index) const {
    (void)index;
    return 0;
  }
  /// Rows of a chunk from `begin` on, up to the next stripe's, belong to stripe `number`.
  struct Stripe {
    int64_t begin;
    uint64_t number;
  };
  /// The stripes of a fed chunk that is held. Rows of a stripe belong together even if the source is cut into chunks in
  /// another way each time. A stripe's rows are in neighbouring chunks.
  virtual std::vector<Stripe> stripes(int64_t index) const { return {{0, static_cast<uint64_t>(index)}}; }
  /// False when text, too, is valid only while the chunk's BatchView is held. Texts that are needed longer are then
  /// copied.
  virtual bool stable_text() const { return true; }
  /// True when text columns may have compressed values (columnar::ColumnView::has_packed) and numerics are in their
  /// stored form. Loading such a column takes time.
  virtual bool converts_late() const { return false; }
  /// True when may_hold() can exclude chunks by their values of `column`; for sources without a feeder.
  virtual bool has_bounds(uint32_t column) const {
    (void)column;
    return false;
  }
  /// False when no row of chunk `index` has one of `keys` in `column`. Called by engine threads.
  virtual bool may_hold(int64_t index, uint32_t column, const KeyRange& keys) const {
    (void)index, (void)column, (void)keys;
    return true;
  }
  /// Names the contents of `columns` in all rows, without reading any. If two calls give the same name, the rows read
  /// between them have that name's contents. On the caller's thread; may throw like an InterruptCheck.
  virtual columnar::RowsOrigin origin(const std::vector<uint32_t>& columns) const {
    (void)columns;
    return {};
  }
  /// Names the chunk in an error message, e.g. `record batch 3 of file "..."`.
  virtual std::string describe(int64_t index) const { return "chunk " + std::to_string(index); }
};

}  // namespace strom::engine::op
