// See workers.hpp.
#include "arrow_files/workers.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace strom::tool {

namespace {

constexpr int64_t kMostThreads = 1024;

class Pieces {
 public:
  Pieces(int64_t count, const std::function<Status(int64_t, int)>& work) : count_(count), work_(work) {}

  void run(int thread) {
    for (int64_t piece = next_.fetch_add(1); piece < count_; piece = next_.fetch_add(1)) {
      Status status;
      try {
        status = work_(piece, thread);
      } catch (const std::bad_alloc&) {
        status = Status(ErrorCode::kOutOfMemory, "out of memory");
      }
      if (!status.is_ok()) keep(piece, std::move(status));
    }
  }
  const Status& failure() const { return failure_; }

 private:
  void keep(int64_t piece, Status status) {
    next_.store(count_);
    std::lock_guard lock(mutex_);
    if (piece > failed_piece_) return;
    failed_piece_ = piece;
    failure_ = std::move(status);
  }

  const int64_t count_;
  const std::function<Status(int64_t, int)>& work_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  int64_t failed_piece_ = std::numeric_limits<int64_t>::max();
  Status failure_;
};

}  // namespace

void add_threads_option(OptionTable& table, int64_t* threads) {
  table.number('n', "num-workers", threads, 0, kMostThreads,
               "threads that work at once; 0 (default): as many as there are processors");
}

int thread_count(int64_t option) {
  if (option > 0) return static_cast<int>(option);
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Status run_pieces(int64_t pieces, int threads, const std::function<Status(int64_t piece, int thread)>& work) {
  Pieces state(pieces, work);
  std::vector<std::thread> helpers;
  try {
    for (int thread = 1; thread < threads && thread < pieces; ++thread)
      helpers.emplace_back([&state, thread] { state.run(thread); });
  } catch (const std::system_error&) {  // fewer threads do it, too
  }
  state.run(0);
  for (std::thread& helper : helpers) helper.join();
  return state.failure();
}

}  // namespace strom::tool
