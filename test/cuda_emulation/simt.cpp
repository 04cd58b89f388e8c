#include "cuda_emulation/simt.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "cuda_emulation/fiber.hpp"

namespace strom::simt {

namespace {

constexpr int kPoison = 0xcd;

struct SimtThread {
  enum class State { kReady, kAtBarrier, kAtWarp, kDone };
  State state = State::kReady;
  uint3 id{};
  std::uint32_t mask = 0;
  bool predicate = false;
  SourceLine place{};
  Fiber fiber;
};

// A lane may read the results of one meeting while others already bring values to the next.
struct Warp {
  std::uint64_t values[32] = {};
  std::uint64_t results[32] = {};
  std::uint32_t live[32] = {};
};

class Block {
 public:
  Block(const LaunchOptions& options, const std::function<void()>& body);
  void run(std::uint64_t number, const std::atomic<bool>& stop);

  int synchronize(SourceLine place, Reduction reduction, bool predicate);
  const std::uint64_t* meet(SourceLine place, std::uint32_t mask, std::uint64_t value, std::uint32_t* live);
  [[noreturn]] void fail_thread(SourceLine place, const std::string& message);
  unsigned lane() const { return current_ & 31; }
  void* dynamic_shared() const { return dynamic_.get(); }

 private:
  static void enter(void* block) { static_cast<Block*>(block)->run_thread(); }
  void run_thread();
  void start(std::uint64_t number);
  bool run_warp(std::size_t warp);
  bool complete_meetings(std::size_t warp);
  bool release_barrier();
  std::string describe(const SimtThread& t) const;
  [[noreturn]] void fail_deadlock() const;

  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, std::align_val_t(128)); }
  };

  const LaunchOptions& options_;
  const std::function<void()>& body_;
  uint3 id_{};
  std::vector<SimtThread> threads_;
  std::vector<Warp> warps_;
  std::unique_ptr<std::byte, Free> dynamic_;
  std::size_t current_ = 0;
  int reduced_[4] = {};  // by Reduction
  std::string error_;
};

thread_local Block* running = nullptr;

std::string text_of(SourceLine place) { return std::string(place.file) + ":" + std::to_string(place.line); }

std::string triple(const uint3& d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

Block::Block(const LaunchOptions& options, const std::function<void()>& body)
    : options_(options),
      body_(body),
      threads_(std::size_t{options.block.x} * options.block.y * options.block.z),
      warps_((threads_.size() + 31) / 32),
      dynamic_(static_cast<std::byte*>(::operator new(options.dynamic_shared_bytes, std::align_val_t(128)))) {
  for (std::size_t n = 0; n < threads_.size(); n++) {
    const auto index = static_cast<unsigned>(n);
    threads_[n].id = {index % options.block.x, index / options.block.x % options.block.y,
                      index / (options.block.x * options.block.y)};
  }
}

void Block::start(std::uint64_t number) {
  id_ = {static_cast<unsigned>(number % options_.grid.x),
         static_cast<unsigned>(number / options_.grid.x % options_.grid.y),
         static_cast<unsigned>(number / options_.grid.x / options_.grid.y)};
  running = this;
  blockIdx = id_;
  blockDim = options_.block;
  gridDim = options_.grid;
  std::memset(dynamic_.get(), kPoison, options_.dynamic_shared_bytes);
  for (SimtThread& t : threads_) {
    t.state = SimtThread::State::kReady;
    t.fiber.prepare(&Block::enter, this);
  }
}

void Block::run_thread() {
  try {
    body_();
  } catch (const std::exception& e) {
    error_ = triple(id_) + " thread " + triple(threads_[current_].id) + ": " + e.what();
  }
  threads_[current_].state = SimtThread::State::kDone;
  threads_[current_].fiber.leave();
}

void Block::run(std::uint64_t number, const std::atomic<bool>& stop) {
  start(number);
  while (!stop.load(std::memory_order_relaxed)) {
    bool progress = false;
    for (std::size_t warp = 0; warp < warps_.size(); warp++) progress |= run_warp(warp);
    if (std::all_of(threads_.begin(), threads_.end(),
                    [](const SimtThread& t) { return t.state == SimtThread::State::kDone; }))
      return;
    if (!release_barrier() && !progress) fail_deadlock();
  }
}

bool Block::run_warp(std::size_t warp) {
  const std::size_t end = std::min(threads_.size(), warp * 32 + 32);
  bool progress = false;
  do {
    for (current_ = warp * 32; current_ < end; current_++) {
      SimtThread& t = threads_[current_];
      if (t.state != SimtThread::State::kReady) continue;
      threadIdx = t.id;
      t.fiber.resume();
      if (!error_.empty()) throw Error("block " + error_);
      progress = true;
    }
  } while (complete_meetings(warp));
  return progress;
}

bool Block::complete_meetings(std::size_t warp) {
  const std::size_t first = warp * 32, count = std::min<std::size_t>(threads_.size() - first, 32);
  bool completed = false;
  for (std::size_t n = 0; n < count; n++) {
    const SimtThread& t = threads_[first + n];
    if (t.state != SimtThread::State::kAtWarp) continue;
    std::uint32_t live = 0;
    bool complete = true;
    for (std::size_t lane = 0; lane < count && complete; lane++) {
      const SimtThread& other = threads_[first + lane];
      if ((t.mask >> lane & 1) == 0 || other.state == SimtThread::State::kDone) continue;
      complete = other.state == SimtThread::State::kAtWarp && other.mask == t.mask &&
                 other.place.line == t.place.line && std::strcmp(other.place.file, t.place.file) == 0;
      live |= 1u << lane;
    }
    if (!complete) continue;
    for (std::size_t lane = 0; lane < count; lane++) {
      if ((live >> lane & 1) == 0) continue;
      warps_[warp].live[lane] = live;
      warps_[warp].results[lane] = warps_[warp].values[lane];
      threads_[first + lane].state = SimtThread::State::kReady;
    }
    completed = true;
  }
  return completed;
}

bool Block::release_barrier() {
  std::size_t live = 0, arrived = 0;
  const SimtThread* first = nullptr;
  const SimtThread* differs = nullptr;
  reduced_[static_cast<int>(Reduction::kCount)] = 0;
  for (const SimtThread& t : threads_) {
    live += t.state != SimtThread::State::kDone;
    if (t.state != SimtThread::State::kAtBarrier) continue;
    arrived++;
    reduced_[static_cast<int>(Reduction::kCount)] += t.predicate;
    if (first == nullptr) first = &t;
    if (t.place.line != first->place.line || std::strcmp(t.place.file, first->place.file) != 0) differs = &t;
  }
  if (arrived == 0 || arrived != live) return false;
  if (differs != nullptr)
    throw Error("divergent barrier in block " + triple(id_) + ": " + describe(*first) + "; " + describe(*differs));
  const int count = reduced_[static_cast<int>(Reduction::kCount)];
  reduced_[static_cast<int>(Reduction::kAnd)] = count == static_cast<int>(arrived);
  reduced_[static_cast<int>(Reduction::kOr)] = count != 0;
  for (SimtThread& t : threads_) {
    if (t.state == SimtThread::State::kAtBarrier) t.state = SimtThread::State::kReady;
  }
  return true;
}

std::string Block::describe(const SimtThread& t) const {
  return "thread " + triple(t.id) + " waits at " + text_of(t.place);
}

void Block::fail_deadlock() const {
  std::string message;
  int line = -1, shown = 0;
  for (const SimtThread& t : threads_) {
    if (t.state == SimtThread::State::kDone || t.place.line == line || shown == 4) continue;
    message += (message.empty() ? "deadlock or divergent barrier in block " + triple(id_) + ": " : "; ") + describe(t);
    line = t.place.line;
    shown++;
  }
  throw Error(message);
}

int Block::synchronize(SourceLine place, Reduction reduction, bool predicate) {
  SimtThread& t = threads_[current_];
  t.place = place;
  t.predicate = predicate;
  t.state = SimtThread::State::kAtBarrier;
  t.fiber.suspend();
  return reduced_[static_cast<int>(reduction)];
}

const std::uint64_t* Block::meet(SourceLine place, std::uint32_t mask, std::uint64_t value, std::uint32_t* live) {
  SimtThread& t = threads_[current_];
  const unsigned own = lane();
  Warp& warp = warps_[current_ / 32];
  if ((mask >> own & 1) == 0) fail_thread(place, "lane is not in its own mask");
  warp.values[own] = value;
  t.place = place;
  t.mask = mask;
  t.state = SimtThread::State::kAtWarp;
  t.fiber.suspend();
  *live = warp.live[own];
  return warp.results;
}

// Caught by run_thread(), so that the kernel's frames are unwound.
void Block::fail_thread(SourceLine place, const std::string& message) {
  throw Error(message + " at " + text_of(place));
}

}  // namespace

void run_grid(const LaunchOptions& options, const std::function<void()>& thread_body) {
  const std::uint64_t blocks = std::uint64_t{options.grid.x} * options.grid.y * options.grid.z;
  const std::uint64_t threads = std::uint64_t{options.block.x} * options.block.y * options.block.z;
  if (blocks == 0 || threads == 0 || threads > 1024) throw Error("launch of an impossible grid");
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::string error;
  const auto work = [&] {
    try {
      Block block(options, thread_body);
      for (std::uint64_t n; !stop && (n = next.fetch_add(1)) < blocks;) block.run(n, stop);
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex);
      if (!stop.exchange(true)) error = e.what();
    }
    running = nullptr;
  };
  const std::uint64_t wanted =
      options.os_threads != 0 ? options.os_threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (std::uint64_t n = 1; n < std::min(wanted, blocks); n++) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (stop) throw Error(error);
}

void* dynamic_shared() { return running->dynamic_shared(); }
int synchronize_block(SourceLine place, Reduction reduction, bool predicate) {
  return running->synchronize(place, reduction, predicate);
}
const std::uint64_t* meet(SourceLine place, std::uint32_t mask, std::uint64_t value, std::uint32_t* live) {
  return running->meet(place, mask, value, live);
}
unsigned lane() { return running->lane(); }
void fail(SourceLine place, const std::string& message) { running->fail_thread(place, message); }

}  // namespace strom::simt
