// A device module whose device is the CPU with memory apart from that of its users: what is not copied is not there.
// Lets a whole server run its queries through the GPU service at a speed that tests can live with; the CUDA module over
// interpreted PTX is the same to the service. Opened by pg_strom_gpu_service, see STROM_DEVICE_MODULE.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "device/module.hpp"
#include "engine/block/tile.hpp"
#include "engine/exec/execution.hpp"
#include "engine/exec/isa.hpp"

namespace {

using namespace strom::device;
using strom::engine::block::RunResult;
using strom::engine::block::TileState;

/// Of the device. Environment STROM_HOST_DEVICE_MB sets it.
size_t all_memory() {
  const char* megabytes = std::getenv("STROM_HOST_DEVICE_MB");
  return megabytes == nullptr ? size_t{2} << 30 : std::strtoull(megabytes, nullptr, 10) << 20;
}
constexpr int kProcessors = 3, kFresh = 0x5a;

thread_local std::string last_error;
std::mutex mutex;
std::map<void*, size_t> blocks;
size_t used = 0;

int fail(int outcome, const char* why) {
  last_error = why;
  return outcome;
}

const char* error_text() { return last_error.c_str(); }
int count(int* devices) {
  *devices = 1;
  return kModuleOk;
}
int use(int) { return kModuleOk; }

int facts(int, DeviceFacts* facts) {
  const std::lock_guard lock(mutex);
  *facts = {};
  std::snprintf(facts->name, sizeof facts->name, "memory of its own");
  std::snprintf(facts->architecture, sizeof facts->architecture, "cpu");
  facts->memory = all_memory();
  facts->free_memory = all_memory() - used;
  facts->processors = facts->tiles = kProcessors;
  return kModuleOk;
}

int allocate(size_t bytes, void** memory) {
  const std::lock_guard lock(mutex);
  if (bytes > all_memory() - used) return fail(kModuleOutOfMemory, "out of memory");
  *memory = std::malloc(bytes);
  if (*memory == nullptr) return fail(kModuleOutOfMemory, "out of memory");
  std::memset(*memory, kFresh, bytes);
  blocks[*memory] = bytes;
  used += bytes;
  return kModuleOk;
}

int release(void* memory) {
  const std::lock_guard lock(mutex);
  const auto found = blocks.find(memory);
  if (found == blocks.end()) return fail(kModuleLost, "released twice");
  used -= found->second;
  std::memset(memory, kFresh, found->second);
  blocks.erase(found);
  std::free(memory);
  return kModuleOk;
}

int allocate_pinned(size_t bytes, void** memory) {
  *memory = std::malloc(bytes);
  return *memory == nullptr ? fail(kModuleOutOfMemory, "out of memory") : static_cast<int>(kModuleOk);
}
int release_pinned(void* memory) {
  std::free(memory);
  return kModuleOk;
}
int register_host(void*, size_t) { return kModuleOk; }
int release_registered(void*) { return kModuleOk; }

// All is done when it is asked for, so streams and events are nothing.
int create_stream(ModuleStream** stream) {
  *stream = reinterpret_cast<ModuleStream*>(std::malloc(1));
  return kModuleOk;
}
int destroy_stream(ModuleStream* stream) {
  std::free(stream);
  return kModuleOk;
}
int finish_stream(ModuleStream*) { return kModuleOk; }
int copy(ModuleStream*, void* to, const void* from, size_t bytes) {
  std::memcpy(to, from, bytes);
  return kModuleOk;
}
int fill(ModuleStream*, void* device, int byte, size_t bytes) {
  std::memset(device, byte, bytes);
  return kModuleOk;
}
int run_tiles(ModuleStream*, TileState* states, RunResult* results, int count) {
  static const auto run = strom::engine::exec::run_morsel_for(strom::engine::exec::best_isa());
  for (int i = 0; i < count; ++i) results[i] = run(states[i]);
  return kModuleOk;
}
int create_event(ModuleEvent** event) {
  *event = reinterpret_cast<ModuleEvent*>(std::malloc(1));
  return kModuleOk;
}
int destroy_event(ModuleEvent* event) {
  std::free(event);
  return kModuleOk;
}
int record_event(ModuleEvent*, ModuleStream*) { return kModuleOk; }
int await_event(ModuleStream*, ModuleEvent*) { return kModuleOk; }
int is_event_done(ModuleEvent*, int* is_done) {
  *is_done = 1;
  return kModuleOk;
}

constexpr ModuleTable kTable = {kModuleVersion,
                                sizeof(ModuleTable),
                                error_text,
                                count,
                                facts,
                                use,
                                allocate,
                                release,
                                allocate_pinned,
                                release_pinned,
                                register_host,
                                release_registered,
                                create_stream,
                                destroy_stream,
                                finish_stream,
                                copy,
                                copy,
                                fill,
                                run_tiles,
                                create_event,
                                destroy_event,
                                record_event,
                                await_event,
                                is_event_done};

}  // namespace

extern "C" __attribute__((visibility("default"))) const strom::device::ModuleTable* strom_device_module() {
  return &kTable;
}
