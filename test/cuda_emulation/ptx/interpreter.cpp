#include "cuda_emulation/ptx/interpreter.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

#include "cuda_emulation/ptx/error.hpp"

namespace strom::ptx {

namespace {

// A thread that spins gives way to the others of its block after this many instructions.
constexpr std::uint32_t kTimeSlice = 50'000;
constexpr int kPoison = 0xcd;

std::string describe(const Thread& t) {
  const auto triple = [](const Dim3& d) {
    return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
  };
  return t.block->launch->kernel->name + ", block " + triple(t.block->id) + ", thread " + triple(t.id);
}

std::string describe(const Instruction* i, const Function& function) {
  const SourceLine& source = function.sources[static_cast<std::size_t>(i - function.code.data())];
  const std::string where = function.is_kernel ? "" : function.name + " ";
  return where + "line " + std::to_string(source.line) + ": " + source.text;
}

std::string describe_waiting(const Thread& t) {
  return "thread " + std::to_string(t.index) + " waits at " + describe(t.pc, *t.frame().function);
}

// The memory that generic addresses of shared variables point into. Reserved, not committed.
class SharedWindow {
 public:
  SharedWindow() {
    void* start =
        mmap(nullptr, kSharedWindowBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<std::byte*>(start);
  }
  ~SharedWindow() { munmap(start_, kSharedWindowBytes); }
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;
  std::byte* start() const { return start_; }

 private:
  std::byte* start_;
};

// One block at a time, its threads in turn: each runs until it waits, ends, or has used its time.
class BlockRunner {
 public:
  explicit BlockRunner(const LaunchState& launch);
  void run(std::uint64_t number, const std::atomic<bool>& stop);
  std::uint64_t instructions() const { return block_.instructions; }

 private:
  void start(std::uint64_t number);
  void run_thread(Thread& t);
  bool run_warp(std::size_t warp);
  bool complete_warp_operations(std::size_t warp);
  bool release_barriers();
  bool release_barrier(std::uint32_t number, std::size_t live);
  [[noreturn]] void fail_deadlock() const;

  SharedWindow window_;
  Block block_;
};

BlockRunner::BlockRunner(const LaunchState& launch) {
  const std::size_t count = std::size_t{launch.block.x} * launch.block.y * launch.block.z;
  block_.launch = &launch;
  block_.shared = window_.start();
  block_.threads.resize(count);
  for (std::size_t n = 0; n < count; n++) {
    Thread& t = block_.threads[n];
    t.block = &block_;
    t.index = static_cast<std::uint32_t>(n);
    t.id = {t.index % launch.block.x, t.index / launch.block.x % launch.block.y,
            t.index / (launch.block.x * launch.block.y)};
  }
}

void BlockRunner::start(std::uint64_t number) {
  const LaunchState& launch = *block_.launch;
  block_.id = {static_cast<std::uint32_t>(number % launch.grid.x),
               static_cast<std::uint32_t>(number / launch.grid.x % launch.grid.y),
               static_cast<std::uint32_t>(number / launch.grid.x / launch.grid.y)};
  block_.barriers = {};
  std::memset(block_.shared + launch.shared_first, kPoison, launch.shared_end - launch.shared_first);
  for (Thread& t : block_.threads) {
    t.state = Thread::State::kRunning;
    t.carry = t.yields = false;
    push_frame(t, *launch.kernel, 0);
  }
}

void BlockRunner::run_thread(Thread& t) {
  std::uint32_t left = kTimeSlice;
  while (t.state == Thread::State::kRunning && left != 0 && !t.yields) {
    const Instruction* i = t.pc;
    std::uint64_t* r = t.registers;
    do {
      i = i->run(i, r, t);
      left--;
    } while (i != nullptr && left != 0);
    if (i != nullptr) t.pc = i;
  }
  t.yields = false;
  block_.instructions += kTimeSlice - left;
}

// False when no lane of the warp can go on.
bool BlockRunner::run_warp(std::size_t warp) {
  const std::size_t end = std::min(block_.threads.size(), warp * 32 + 32);
  bool progress = false;
  do {
    for (std::size_t n = warp * 32; n < end; n++) {
      if (block_.threads[n].state != Thread::State::kRunning) continue;
      run_thread(block_.threads[n]);
      progress = true;
    }
  } while (complete_warp_operations(warp));
  return progress;
}

bool BlockRunner::complete_warp_operations(std::size_t warp) {
  const std::size_t first = warp * 32, count = std::min<std::size_t>(block_.threads.size() - first, 32);
  bool completed = false;
  for (std::size_t n = 0; n < count; n++) {
    const Thread& t = block_.threads[first + n];
    if (t.state != Thread::State::kAtWarpOperation) continue;
    Thread* lanes[32] = {};
    std::uint32_t live = 0;
    bool complete = true;
    for (std::size_t lane = 0; lane < count && complete; lane++) {
      Thread& other = block_.threads[first + lane];
      if ((t.mask >> lane & 1) == 0 || other.state == Thread::State::kDone) continue;
      complete = other.state == Thread::State::kAtWarpOperation && other.mask == t.mask && other.pc == t.pc;
      lanes[lane] = &other;
      live |= 1u << lane;
    }
    if (!complete) continue;
    const Instruction* i = t.pc;
    i->warp(i, lanes, live);
    for (Thread* lane : lanes) {
      if (lane == nullptr) continue;
      lane->pc = i + 1;
      lane->state = Thread::State::kRunning;
    }
    completed = true;
  }
  return completed;
}

bool BlockRunner::release_barriers() {
  std::uint32_t waiting = 0;
  std::size_t live = 0;
  for (const Thread& t : block_.threads) {
    live += t.state != Thread::State::kDone;
    if (t.state == Thread::State::kAtBarrier) waiting |= 1u << t.barrier;
  }
  bool released = false;
  for (std::uint32_t number = 0; number < block_.barriers.size(); number++) {
    if ((waiting >> number & 1) != 0 && release_barrier(number, live)) released = true;
  }
  return released;
}

bool BlockRunner::release_barrier(std::uint32_t number, std::size_t live) {
  Barrier& barrier = block_.barriers[number];
  const auto waits = [&](const Thread& t) { return t.state == Thread::State::kAtBarrier && t.barrier == number; };
  std::size_t arrived = barrier.arrived_early, votes = 0, voters = 0;
  const Thread* first = nullptr;
  const Thread* differs = nullptr;
  for (const Thread& t : block_.threads) {
    if (!waits(t)) continue;
    arrived++;
    voters++;
    votes += get<bool>(t.registers[t.pc->c]) != (t.pc->e != 0);
    if (first == nullptr) first = &t;
    if (t.pc != first->pc) differs = &t;
  }
  // __syncthreads() in branches that threads of one block take differently; named barriers may differ.
  if (barrier.expected == 0 && arrived == live && differs != nullptr) {
    throw Error(describe(*first) + ": divergent barrier: " + describe_waiting(*first) + "; " +
                describe_waiting(*differs));
  }
  if (arrived < (barrier.expected == 0 ? live : barrier.expected)) return false;
  for (Thread& t : block_.threads) {
    if (!waits(t)) continue;
    switch (static_cast<Reduction>(t.pc->immediate)) {
      case Reduction::kNone: break;
      case Reduction::kCount: t.registers[t.pc->dst] = votes; break;
      case Reduction::kAnd: t.registers[t.pc->dst] = votes == voters; break;
      case Reduction::kOr: t.registers[t.pc->dst] = votes != 0; break;
    }
    t.pc++;
    t.state = Thread::State::kRunning;
  }
  barrier = {};
  return true;
}

void BlockRunner::fail_deadlock() const {
  std::string message;
  const Instruction* last = nullptr;
  int shown = 0;
  for (const Thread& t : block_.threads) {
    if (t.state == Thread::State::kDone || t.pc == last || shown == 4) continue;
    message += (message.empty() ? describe(t) + ": deadlock or divergent barrier: " : "; ") + describe_waiting(t);
    last = t.pc;
    shown++;
  }
  throw Error(message);
}

void BlockRunner::run(std::uint64_t number, const std::atomic<bool>& stop) {
  start(number);
  const std::size_t warps = (block_.threads.size() + 31) / 32;
  while (!stop.load(std::memory_order_relaxed)) {
    bool progress = false;
    for (std::size_t warp = 0; warp < warps; warp++) progress |= run_warp(warp);
    const auto is_done = [](const Thread& t) { return t.state == Thread::State::kDone; };
    if (std::all_of(block_.threads.begin(), block_.threads.end(), is_done)) return;
    if (!release_barriers() && !progress) fail_deadlock();
  }
}

}  // namespace

void fail(const Instruction* i, const Thread& t, const std::string& message) {
  throw Error(describe(t) + ": " + message + ": " + describe(i, *t.frame().function));
}

void push_frame(Thread& t, const Function& function, std::uint32_t depth) {
  while (t.frames.size() <= depth) t.frames.push_back(std::make_unique<Frame>());
  Frame& frame = *t.frames[depth];
  if (frame.function != &function) {
    // Values above a width are rubbish on a device too; a pattern makes their use visible.
    frame.slots.assign(function.registers, 0xcdcdcdcdcdcdcdcdu);
    frame.slots.insert(frame.slots.end(), function.constants.begin(), function.constants.end());
    if (frame.local_capacity < function.local_bytes || frame.local.get_deleter().align < function.local_align) {
      const std::size_t align = std::max<std::size_t>(function.local_align, 16);
      frame.local = {static_cast<std::byte*>(::operator new(function.local_bytes, std::align_val_t(align))),
                     AlignedDelete{align}};
      frame.local_capacity = function.local_bytes;
    }
    frame.function = &function;
  }
  t.depth = depth;
  t.registers = frame.slots.data();
  t.local = frame.local.get();
  t.pc = function.code.data();
}

std::uint64_t run_grid(const LaunchState& launch, unsigned os_threads) {
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  std::atomic<std::uint64_t> next{0}, instructions{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::string error;
  const auto work = [&] {
    try {
      BlockRunner runner(launch);
      for (std::uint64_t block; !stop && (block = next.fetch_add(1)) < blocks;) runner.run(block, stop);
      instructions += runner.instructions();
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex);
      if (!stop.exchange(true)) error = e.what();
    }
  };
  const std::uint64_t wanted = os_threads != 0 ? os_threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (std::uint64_t n = 1; n < std::min(wanted, blocks); n++) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (stop) throw Error(error);
  return instructions;
}

}  // namespace strom::ptx
