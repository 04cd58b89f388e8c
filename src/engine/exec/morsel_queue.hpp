// Hands out the rows of a source to the threads of a pipeline. Used by exec/pipeline_run.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/block/hash.hpp"
#include "engine/op/pipeline/worker.hpp"
#include "engine/op/scan/chunk_source.hpp"

namespace strom::engine::exec {

/// Decides which of several devices a morsel belongs to. It is the same device in every query, so each device finds the
/// columns that it has cached, and no column is cached twice. If a device is left out, only its morsels go to others
/// (D. Thaler, C. V. Ravishankar, "Using name-based mappings to increase hit rates", 1998).
class MorselAffinity {
 public:
  /// `numbers` identify the devices in every query. `near`: for each storage of the source, the places in `numbers` of
  /// the devices that it prefers, empty: all.
  MorselAffinity(std::vector<uint32_t> numbers, std::vector<std::vector<uint32_t>> near)
      : numbers_(std::move(numbers)), near_(std::move(near)) {}

  size_t count() const { return std::max<size_t>(1, numbers_.size()); }
  /// The device's place for piece `piece` of chunk `chunk`.
  size_t of(const op::ChunkSource& source, int64_t chunk, int64_t piece) const {
    if (numbers_.size() <= 1) return 0;
    const uint64_t hash =
        block::combine(block::hash_value(static_cast<int64_t>(source.cache_key(chunk))), block::hash_value(piece));
    const uint32_t storage = near_.empty() ? 0 : source.storage_index(chunk);
    const bool has_choice = storage < near_.size() && !near_[storage].empty();
    const size_t candidates = has_choice ? near_[storage].size() : numbers_.size();
    size_t best = 0;
    uint64_t best_weight = 0;
    for (size_t i = 0; i < candidates; ++i) {
      const size_t device = has_choice ? near_[storage][i] : i;
      const uint64_t weight =
          block::hash_value(static_cast<int64_t>(block::combine(hash, block::hash_value(int64_t{numbers_[device]}))));
      if (i > 0 && weight <= best_weight) continue;
      best = device;
      best_weight = weight;
    }
    return best;
  }

 private:
  const std::vector<uint32_t> numbers_;
  const std::vector<std::vector<uint32_t>> near_;
};

/// Hands out morsels of a source, chunk after chunk. A device's threads get the device's own morsels first, then those
/// of other devices, so that none is idle. A fed source's chunks are loaded by whoever takes them.
///
/// With lanes, where there are no devices, morsels are dealt out to the lanes in turns, in the order of the source's
/// rows (fed ones by their stripes). A lane's morsels run one after another, on any thread. So what a lane sees does
/// not depend on time.
class MorselQueue {
 public:
  /// Chunks without any of the `wanted` keys are left out. `lanes`: 0 for no lanes.
  MorselQueue(const op::ChunkSource& source, int64_t morsel_rows, std::vector<op::ColumnKeys> wanted,
              MorselAffinity affinity, size_t lanes = 0)
      : source_(source),
        morsel_rows_(morsel_rows),
        wanted_(std::move(wanted)),
        affinity_(std::move(affinity)),
        lanes_(lanes),
        shares_(lanes > 0 ? lanes : affinity_.count()) {
    if (source.feeder() != nullptr) return;
    chunks_ = source.chunk_count();
    for (int64_t chunk = 0; chunk < chunks_; ++chunk) share_of_chunk(chunk).chunks.push_back(chunk);
  }

  /// For a thread of device `device`, 0 where there is none. False at the end; an error of the source is returned once.
  /// `waits`: waits for chunks that are yet to be fed.
  Result<bool> next(op::Morsel* morsel, bool waits, size_t device) {
    if (lanes_ > 0) return next_of_lanes(morsel, waits);
    return source_.feeder() != nullptr ? next_fed(morsel, waits, device) : next_slice(morsel, waits, device);
  }

  /// Called when a morsel of next() has been run: its lane is free for another thread. True when it was the last of its
  /// chunk; *has_fallback tells whether the chunk has fallback rows.
  bool end(const op::Morsel& morsel, bool* has_fallback) {
    if (lanes_ == 0) return true;
    bool was_last;
    {
      std::lock_guard lock(mutex_);
      shares_[morsel.lane].is_taken = false;
      Dealt& chunk = dealt_[morsel.chunk];
      chunk.has_fallback |= *has_fallback;
      *has_fallback = chunk.has_fallback;
      was_last = --chunk.morsels == 0;
      if (was_last) dealt_.erase(morsel.chunk);
    }
    fed_.notify_all();
    return was_last;
  }

  /// Fed chunks that no thread has taken yet.
  int64_t ready() {
    std::lock_guard lock(mutex_);
    return lanes_ > 0 ? static_cast<int64_t>(shares_[0].chunks.size()) : untaken_;
  }
  /// Called by the thread that feeds, for each chunk.
  void add_fed() {
    Share& share = share_of_chunk(chunks_);
    {
      std::lock_guard lock(mutex_);
      share.chunks.push_back(chunks_++);
      if (lanes_ == 0) ++untaken_;
    }
    fed_.notify_one();
  }
  /// Called when no more chunks will be fed.
  void end_feeding() {
    {
      std::lock_guard lock(mutex_);
      all_fed_ = true;
    }
    fed_.notify_all();
  }
  /// Ends all waits.
  void stop() {
    {
      std::lock_guard lock(mutex_);
      is_stopped_ = all_fed_ = true;
    }
    fed_.notify_all();
  }

  /// Adds the rows of a morsel of pages, once their number is known.
  void add_rows(int64_t rows) { rows_ += rows; }

  int64_t chunks() const { return chunks_; }
  int64_t rows() const { return rows_; }
  int64_t skipped() const { return skipped_; }
  int64_t loaded() const { return loaded_; }

 private:
  bool may_match(int64_t chunk) const {
    return std::all_of(wanted_.begin(), wanted_.end(), [&](const op::ColumnKeys& column) {
      return source_.may_hold(chunk, column.column, column.keys);
    });
  }

  struct Share {
    std::deque<int64_t> chunks;      // not loaded yet
    std::deque<op::Morsel> morsels;  // of chunks that were loaded
    bool is_taken = false;           // a morsel of the lane is running
  };

  /// With lanes, all chunks that are yet to be loaded are in one share.
  Share& share_of_chunk(int64_t chunk) { return shares_[lanes_ > 0 ? 0 : affinity_.of(source_, chunk, 0)]; }

  /// The free lane with the oldest morsel; nullptr: no free lane has a morsel.
  Share* free_lane() {
    Share* behind = nullptr;
    for (Share& share : shares_) {
      if (share.is_taken || share.morsels.empty()) continue;
      if (behind == nullptr || share.morsels.front().number < behind->morsels.front().number) behind = &share;
    }
    return behind;
  }

  /// The device's own share if it has some of `what`, else the share with the most; nullptr: no share has any.
  template <class T>
  Share* share_with(std::deque<T> Share::* what, size_t device) {
    if (!(shares_[device].*what).empty()) return &shares_[device];
    const auto most = std::max_element(shares_.begin(), shares_.end(), [what](const Share& a, const Share& b) {
      return (a.*what).size() < (b.*what).size();
    });
    return ((*most).*what).empty() ? nullptr : &*most;
  }

  Result<bool> next_fed(op::Morsel* morsel, bool waits, size_t device) {
    int64_t chunk;
    bool is_away;
    {
      std::unique_lock lock(mutex_);
      if (waits) fed_.wait(lock, [&] { return untaken_ > 0 || all_fed_; });
      Share* const from = share_with(&Share::chunks, device);
      if (from == nullptr) return false;
      chunk = from->chunks.front();
      from->chunks.pop_front();
      --untaken_;
      is_away = from != &shares_[device];
    }
    STROM_ASSIGN(auto view, source_.chunk(chunk));
    rows_ += view.selected_rows();
    *morsel = {chunk, view.begin, static_cast<int32_t>(view.rows),
               std::make_shared<const columnar::BatchView>(std::move(view)), is_away};
    return true;
  }

  /// Takes morsels of loaded chunks before it loads others. Threads load at the same time, because decompression takes
  /// long. `waits`: also waits for chunks that other threads are loading.
  Result<bool> next_slice(op::Morsel* morsel, bool waits, size_t device) {
    std::unique_lock lock(mutex_);
    for (;;) {
      Share& own = shares_[device];
      Share* from;
      if (own.morsels.empty() && !own.chunks.empty()) {
        STROM_TRY(load_chunk(&own, &lock));
      } else if ((from = share_with(&Share::morsels, device)) != nullptr) {
        take_slice(from, from != &own, morsel);
        return true;
      } else if ((from = share_with(&Share::chunks, device)) != nullptr) {
        STROM_TRY(load_chunk(from, &lock));
      } else if (loading_ == 0 || all_fed_) {
        return false;
      } else if (load_other_column(&lock)) {
        continue;
      } else if (!waits) {
        return false;
      } else {
        fed_.wait(lock, [&] {
          return share_with(&Share::morsels, device) != nullptr || loading_ == 0 || all_fed_ || has_unloaded_column();
        });
      }
    }
  }

  /// Loads chunks when there are too few morsels to run. Fed chunks hold pages until they have been run.
  Result<bool> next_of_lanes(op::Morsel* morsel, bool waits) {
    std::unique_lock lock(mutex_);
    std::deque<int64_t>& unloaded = shares_[0].chunks;
    const bool is_fed = source_.feeder() != nullptr;
    const auto most = static_cast<int64_t>(is_fed ? lanes_ + 1 : 2 * lanes_);
    for (;;) {
      if (Share* const lane = free_lane()) {
        take_slice(lane, false, morsel);
        --untaken_;
        lane->is_taken = true;
        return true;
      }
      const bool is_end = unloaded.empty() && untaken_ == 0 && loading_ == 0 && (!is_fed || all_fed_);
      if (is_end || is_stopped_) return false;
      if (!unloaded.empty() && untaken_ + loading_ < most) {
        STROM_TRY(load_chunk(&shares_[0], &lock));
      } else if (load_other_column(&lock)) {
        continue;
      } else if (waits) {
        fed_.wait(lock);
      } else {
        return false;
      }
    }
  }

  static void take_slice(Share* from, bool is_away, op::Morsel* morsel) {
    *morsel = std::move(from->morsels.front());
    from->morsels.pop_front();
    morsel->is_away = is_away;
  }

  /// Loads without holding the lock.
  Status load_chunk(Share* from, std::unique_lock<std::mutex>* lock) {
    const int64_t chunk = from->chunks.front();
    from->chunks.pop_front();
    if (!may_match(chunk)) {
      ++skipped_;
      return deal_out(chunk, nullptr);
    }
    ++loaded_;
    auto view = load_unlocked(chunk, lock);
    if (!view.is_ok()) return view.status();
    const int64_t rows = view.value().rows;
    rows_ += view.value().selected_rows();
    const auto batch = std::make_shared<const columnar::BatchView>(std::move(view).value());
    if (lanes_ > 0) return deal_out(chunk, batch);
    for (int64_t begin = 0; begin < rows; begin += morsel_rows_)
      shares_[affinity_.of(source_, chunk, begin / morsel_rows_)].morsels.push_back(
          {chunk, begin, static_cast<int32_t>(std::min(morsel_rows_, rows - begin)), batch});
    return Status::ok();
  }

  /// Gives a chunk to the lanes once all chunks before it have been given. nullptr: the chunk is left out.
  Status deal_out(int64_t chunk, std::shared_ptr<const columnar::BatchView> batch) {
    if (lanes_ == 0) return {};
    loaded_chunks_[chunk] = std::move(batch);
    for (auto next = loaded_chunks_.begin(); next != loaded_chunks_.end() && next->first == dealt_chunks_;
         next = loaded_chunks_.erase(next), ++dealt_chunks_) {
      if (next->second == nullptr) continue;
      if (source_.feeder() != nullptr)
        deal_out_stripes(next->first, next->second);
      else
        deal_out_slices(next->first, next->second);
    }
    fed_.notify_all();
    return {};
  }

  void deal_out_slices(int64_t chunk, const std::shared_ptr<const columnar::BatchView>& batch) {
    for (int64_t begin = 0; begin < batch->rows; begin += morsel_rows_)
      deal_out_rows(chunk, begin, std::min(morsel_rows_, batch->rows - begin), batch,
                    static_cast<uint64_t>(dealt_morsels_));
  }

  /// A chunk without rows has to be released, too.
  void deal_out_stripes(int64_t chunk, const std::shared_ptr<const columnar::BatchView>& batch) {
    const std::vector<op::ChunkSource::Stripe> stripes = source_.stripes(chunk);
    for (size_t i = 0; i < stripes.size(); ++i) {
      const int64_t end = i + 1 < stripes.size() ? stripes[i + 1].begin : batch->rows;
      deal_out_rows(chunk, batch->begin + stripes[i].begin, end - stripes[i].begin, batch, stripes[i].number);
    }
  }

  void deal_out_rows(int64_t chunk, int64_t begin, int64_t rows, std::shared_ptr<const columnar::BatchView> batch,
                     uint64_t stripe) {
    op::Morsel morsel{chunk, begin, static_cast<int32_t>(rows), std::move(batch)};
    morsel.number = dealt_morsels_++;
    morsel.lane = static_cast<size_t>(stripe % lanes_);
    ++dealt_[chunk].morsels;
    ++untaken_;
    shares_[morsel.lane].morsels.push_back(std::move(morsel));
  }

  Result<columnar::BatchView> load_unlocked(int64_t chunk, std::unique_lock<std::mutex>* lock) {
    struct Loading {  // waiting threads go on even if memory runs out
      MorselQueue* queue;
      std::unique_lock<std::mutex>* lock;
      ~Loading() {
        lock->lock();
        --queue->loading_;
        queue->fed_.notify_all();
      }
    };
    ++loading_;
    lock->unlock();
    const Loading loading{this, lock};
    if (const int64_t columns = source_.loadable_columns(chunk); columns > 1) load_columns(chunk, columns);
    return source_.chunk(chunk);
  }

  /// Columns of a chunk that is being loaded. Idle threads help the loading thread.
  struct UnloadedColumns {
    int64_t chunk, count;
    int64_t next = 0;  // the next column that no thread has begun
    int running = 0;
  };

  /// Ends when no thread loads a column any more, even if memory runs out.
  void load_columns(int64_t chunk, int64_t count) {
    std::unique_lock lock(mutex_);
    struct Ending {
      MorselQueue* queue;
      std::unique_lock<std::mutex>* lock;
      std::list<UnloadedColumns>::iterator own;
      ~Ending() {
        own->next = own->count;
        queue->fed_.wait(*lock, [this] { return own->running == 0; });
        queue->unloaded_columns_.erase(own);
      }
    };
    const auto own = unloaded_columns_.insert(unloaded_columns_.end(), UnloadedColumns{chunk, count});
    const Ending ending{this, &lock, own};
    fed_.notify_all();
    while (own->next < count) load_next_column(&*own, &lock);
  }

  void load_next_column(UnloadedColumns* columns, std::unique_lock<std::mutex>* lock) {
    struct Running {
      MorselQueue* queue;
      UnloadedColumns* columns;
      std::unique_lock<std::mutex>* lock;
      ~Running() {
        lock->lock();
        if (--columns->running == 0) queue->fed_.notify_all();
      }
    };
    const int64_t column = columns->next++;
    ++columns->running;
    lock->unlock();
    const Running running{this, columns, lock};
    source_.load_column(columns->chunk, column);
  }

  bool has_unloaded_column() const {
    return std::any_of(unloaded_columns_.begin(), unloaded_columns_.end(),
                       [](const UnloadedColumns& columns) { return columns.next < columns.count; });
  }

  /// False when no column is left to load.
  bool load_other_column(std::unique_lock<std::mutex>* lock) {
    for (UnloadedColumns& columns : unloaded_columns_) {
      if (columns.next == columns.count) continue;
      load_next_column(&columns, lock);
      return true;
    }
    return false;
  }

  const op::ChunkSource& source_;
  int64_t chunks_ = 0;  // of a fed source: so far
  const int64_t morsel_rows_;
  const std::vector<op::ColumnKeys> wanted_;
  const MorselAffinity affinity_;
  const size_t lanes_;
  std::mutex mutex_;
  std::vector<Share> shares_;  // for each device, or each lane
  int64_t untaken_ = 0;        // chunks of a fed source, morsels of lanes
  // With lanes: chunks that wait for an earlier one, and how many chunks and morsels were dealt out.
  std::map<int64_t, std::shared_ptr<const columnar::BatchView>> loaded_chunks_;
  int64_t dealt_chunks_ = 0, dealt_morsels_ = 0;
  struct Dealt {
    int64_t morsels = 0;  // not run yet
    bool has_fallback = false;
  };
  std::map<int64_t, Dealt> dealt_;  // by chunk
  bool is_stopped_ = false;
  std::condition_variable fed_;
  bool all_fed_ = false;
  int loading_ = 0;
  std::list<UnloadedColumns> unloaded_columns_;
  std::atomic<int64_t> rows_{0}, skipped_{0}, loaded_{0};
};

}  // namespace strom::engine::exec
