// A device module whose device is the CPU with memory apart from that of its users: what is not copied is not there.
// Lets a whole server run its queries through the GPU service at a speed that tests can live with; the CUDA module over
// interpreted PTX is the same to the service. Opened by pg_strom_gpu_service, see STROM_DEVICE_MODULE.
// Environment: STROM_HOST_DEVICES=n for so many of them, of which CUDA_VISIBLE_DEVICES chooses as of NVIDIA's;
// STROM_HOST_DEVICE_HANG=file: while the file is there, a kernel that starts does not end. Memory is released, as by
// CUDA, when the kernels that were started before it have ended.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "device/module.hpp"
#include "engine/block/fingerprint.hpp"
#include "engine/block/tile.hpp"
#include "engine/exec/execution.hpp"
#include "engine/inst/tile_cpu.hpp"
#include "engine/inst/copies_cpu.hpp"
#include "engine/inst/pages_cpu.hpp"

namespace strom::device {

/// Does what it is asked for one after the other, while the caller goes on.
struct ModuleStream {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  bool works = false, ends = false;
  std::thread thread{[this] { work(); }};

  ~ModuleStream() {
    {
      const std::lock_guard lock(mutex);
      ends = true;
    }
    changed.notify_all();
    thread.join();
  }
  void add(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex);
      waiting.push_back(std::move(job));
    }
    changed.notify_all();
  }
  void finish() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return waiting.empty() && !works; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return ends || !waiting.empty(); });
      if (waiting.empty()) return;
      const std::function<void()> job = std::move(waiting.front());
      waiting.pop_front();
      works = true;
      lock.unlock();
      job();
      lock.lock();
      works = false;
      changed.notify_all();
    }
  }
};

/// The records that were asked for, and those that have come.
struct ModuleEvent {
  std::mutex mutex;
  std::condition_variable changed;
  int wanted = 0, come = 0;
};

}  // namespace strom::device

namespace {

using namespace strom::device;
using strom::engine::block::BlockCopy;
using strom::engine::block::PageTask;
using strom::engine::block::RunResult;
using strom::engine::block::TileState;

/// Of a device. Environment STROM_HOST_DEVICE_MB sets it.
size_t all_memory() {
  const char* megabytes = std::getenv("STROM_HOST_DEVICE_MB");
  return megabytes == nullptr ? size_t{2} << 30 : std::strtoull(megabytes, nullptr, 10) << 20;
}
constexpr int kProcessors = 3, kFresh = 0x5a, kMostDevices = 16;

struct Block {
  int device;
  size_t bytes;
  int shared = -1;  // a memory file with what it had when it was shared
};

thread_local std::string last_error;
thread_local int current = 0;  // of the calling thread, as it has called use()
std::mutex mutex;
std::map<void*, Block> blocks;
std::mutex engine;  // of copies, which go one after the other whatever their streams; memory is not released meanwhile
size_t used[kMostDevices];

/// Kernels that were started and have not ended, by number.
struct Launches {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<uint64_t> running;
  uint64_t last = 0;

  uint64_t begin() {
    const std::lock_guard lock(mutex);
    return *running.insert(++last).first;
  }
  void end(uint64_t number) {
    const std::lock_guard lock(mutex);
    running.erase(number);
    changed.notify_all();
  }
  void await() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this, before = last] { return running.empty() || *running.begin() > before; });
  }
};
Launches& launches() {
  static auto* all = new Launches;  // streams that hang outlive the program's objects
  return *all;
}

int fail(int outcome, const char* why) {
  last_error = why;
  return outcome;
}

/// Numbers of the devices that are visible.
const std::vector<int>& devices() {
  static const std::vector<int> visible = [] {
    const char* all = std::getenv("STROM_HOST_DEVICES");
    const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES");
    const int count = all == nullptr ? 1 : std::min(kMostDevices, std::atoi(all));
    std::vector<int> numbers;
    if (chosen == nullptr || *chosen == '\0') {
      for (int i = 0; i < count; ++i) numbers.push_back(i);
      return numbers;
    }
    // As CUDA does: the first one that is not there ends the list.
    for (const char *at = chosen, *end = chosen + std::strlen(chosen); at < end; ++at) {
      int number = -1;
      const auto [rest, error] = std::from_chars(at, end, number);
      if (error != std::errc() || number < 0 || number >= count) break;
      numbers.push_back(number);
      at = rest;
    }
    return numbers;
  }();
  return visible;
}

const char* error_text() { return last_error.c_str(); }
int count(int* count) {
  *count = static_cast<int>(devices().size());
  return *count > 0 ? kModuleOk : fail(kModuleNoDevice, "no device is visible");
}
int use(int device) {
  current = device;
  return kModuleOk;
}

int facts(int device, DeviceFacts* facts) {
  const std::lock_guard lock(mutex);
  *facts = {};
  std::snprintf(facts->name, sizeof facts->name, "memory of its own");
  std::snprintf(facts->architecture, sizeof facts->architecture, "cpu");
  if (std::getenv("STROM_HOST_DEVICES") != nullptr)
    std::snprintf(facts->pci_address, sizeof facts->pci_address, "ffff:%02x:00.0",
                  devices()[static_cast<size_t>(device)]);
  facts->memory = all_memory();
  facts->free_memory = all_memory() - used[device];
  facts->processors = facts->tiles = kProcessors;
  return kModuleOk;
}

int allocate(size_t bytes, void** memory) {
  const std::lock_guard lock(mutex);
  if (bytes > all_memory() - used[current]) return fail(kModuleOutOfMemory, "out of memory");
  *memory = std::malloc(bytes);
  if (*memory == nullptr) return fail(kModuleOutOfMemory, "out of memory");
  std::memset(*memory, kFresh, bytes);
  blocks[*memory] = {current, bytes};
  used[current] += bytes;
  return kModuleOk;
}

int release(void* memory) {
  launches().await();
  const std::lock_guard lock(mutex);
  const auto found = blocks.find(memory);
  if (found == blocks.end()) return fail(kModuleLost, "released twice");
  used[found->second.device] -= found->second.bytes;
  const std::lock_guard copies(engine);
  std::memset(memory, kFresh, found->second.bytes);
  if (found->second.shared >= 0) close(found->second.shared);
  blocks.erase(found);
  std::free(memory);
  return kModuleOk;
}

/// The handle is the path of a memory file, which is there until the memory is released.
int share(void* memory, unsigned char* handle) {
  const std::lock_guard lock(mutex);
  const auto found = blocks.find(memory);
  if (found == blocks.end()) return fail(kModuleFailed, "not allocated");
  const int file = memfd_create("shared memory of a device", MFD_CLOEXEC);
  const size_t bytes = found->second.bytes;
  if (file < 0 || write(file, memory, bytes) != static_cast<ssize_t>(bytes))
    return fail(kModuleFailed, "no memory file");
  found->second.shared = file;
  std::memset(handle, 0, kShareHandleBytes);
  std::snprintf(reinterpret_cast<char*>(handle), kShareHandleBytes, "/proc/%d/fd/%d", getpid(), file);
  return kModuleOk;
}

int allocate_pinned(size_t bytes, void** memory) {
  *memory = std::malloc(bytes);
  return *memory == nullptr ? fail(kModuleOutOfMemory, "out of memory") : static_cast<int>(kModuleOk);
}
int release_pinned(void* memory) {
  launches().await();
  const std::lock_guard copies(engine);
  std::free(memory);
  return kModuleOk;
}
int register_host(void*, size_t) { return kModuleOk; }
int release_registered(void*) { return kModuleOk; }

int create_stream(ModuleStream** stream) {
  *stream = new ModuleStream;
  return kModuleOk;
}
int destroy_stream(ModuleStream* stream) {
  delete stream;
  return kModuleOk;
}
int finish_stream(ModuleStream* stream) {
  stream->finish();
  return kModuleOk;
}
int add_copy(ModuleStream* stream, std::function<void()> copy) {
  stream->add([copy = std::move(copy)] {
    const std::lock_guard copies(engine);
    copy();
  });
  return kModuleOk;
}
int copy_in(ModuleStream* stream, void* to, const void* from, size_t bytes) {
  // A word tells a running kernel something.
  if (bytes == sizeof(int32_t))
    return add_copy(stream, [=] {
      __atomic_store_n(static_cast<int32_t*>(to), *static_cast<const int32_t*>(from), __ATOMIC_RELAXED);
    });
  return add_copy(stream, [=] { std::memcpy(to, from, bytes); });
}
int copy_out(ModuleStream* stream, void* to, const void* from, size_t bytes) {
  return add_copy(stream, [=] { std::memcpy(to, from, bytes); });
}
int fill(ModuleStream* stream, void* device, int byte, size_t bytes) {
  return add_copy(stream, [=] { std::memset(device, byte, bytes); });
}
int run_tiles(ModuleStream* stream, TileState* states, RunResult* results, int count) {
  stream->add([=, number = launches().begin()] {
    static const auto run = strom::engine::inst::run_morsel_for(strom::engine::platform::best_isa());
    const char* hang = std::getenv("STROM_HOST_DEVICE_HANG");
    while (hang != nullptr && access(hang, F_OK) == 0) usleep(10000);
    for (int i = 0; i < count; ++i) results[i] = run(states[i]);
    launches().end(number);
  });
  return kModuleOk;
}
int run_pages(ModuleStream* stream, const PageTask* task, uint32_t count) {
  stream->add([=] { strom::engine::inst::run_pages_cpu(*task, count); });
  return kModuleOk;
}
int run_copies(ModuleStream* stream, const BlockCopy* copies, uint32_t count) {
  return add_copy(stream, [=] { strom::engine::inst::run_copies_cpu(copies, count); });
}
int create_event(ModuleEvent** event) {
  *event = new ModuleEvent;
  return kModuleOk;
}
int destroy_event(ModuleEvent* event) {
  delete event;
  return kModuleOk;
}
int record_event(ModuleEvent* event, ModuleStream* stream) {
  const std::lock_guard lock(event->mutex);
  ++event->wanted;
  stream->add([event] {
    // Within the lock: who sees it may destroy the event.
    const std::lock_guard inner(event->mutex);
    ++event->come;
    event->changed.notify_all();
  });
  return kModuleOk;
}
int await_event(ModuleStream* stream, ModuleEvent* event) {
  const std::lock_guard lock(event->mutex);
  stream->add([event, wanted = event->wanted] {
    std::unique_lock inner(event->mutex);
    event->changed.wait(inner, [&] { return event->come >= wanted; });
  });
  return kModuleOk;
}
int is_event_done(ModuleEvent* event, int* is_done) {
  const std::lock_guard lock(event->mutex);
  *is_done = event->come >= event->wanted;
  return kModuleOk;
}

constexpr ModuleTable kTable = {kModuleVersion,
                                sizeof(ModuleTable),
                                strom::engine::block::fingerprint,
                                error_text,
                                count,
                                facts,
                                use,
                                allocate,
                                release,
                                share,
                                allocate_pinned,
                                release_pinned,
                                register_host,
                                release_registered,
                                create_stream,
                                destroy_stream,
                                finish_stream,
                                copy_in,
                                copy_out,
                                fill,
                                run_tiles,
                                run_pages,
                                run_copies,
                                create_event,
                                destroy_event,
                                record_event,
                                await_event,
                                is_event_done};

}  // namespace

extern "C" __attribute__((visibility("default"))) const strom::device::ModuleTable* strom_device_module() {
  return &kTable;
}
