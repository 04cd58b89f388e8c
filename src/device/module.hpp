// The table of functions of a device module: a shared object that drives one kind of device, opened by device::Module
// in the GPU service only. Plain C, so that different compilers can build service and module. The CUDA module is
// cuda/module.cpp; tests build the same source over a runtime that interprets PTX.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strom::engine::block {
struct BlockCopy;
struct PageTask;
struct TileState;
enum class RunResult : int32_t;
}  // namespace strom::engine::block

namespace strom::device {

inline constexpr uint32_t kModuleVersion = 8;

/// Bytes by which another process opens device memory: a cudaIpcMemHandle_t.
inline constexpr size_t kShareHandleBytes = 64;

/// What a function of a module returns.
enum ModuleOutcome : int {
  kModuleOk = 0,
  kModuleFailed,       // the call has no effect, and the device still works
  kModuleOutOfMemory,  // likewise
  kModuleNoDevice,     // no driver, no device, or a driver that is too old
  kModuleLost,         // nothing works any more in this process
};

struct DeviceFacts {
  char name[256];
  char architecture[32];  // "sm_90"
  char pci_address[32];   // "0000:01:00.0", empty when it is on no such bus
  uint64_t memory, free_memory;
  int32_t processors;      // streaming multiprocessors
  int32_t tiles;           // tile states that run at a time
  int32_t driver_version;  // CUDA's numbers: 13000
  int32_t runtime_version;
  int32_t shares_host_memory;  // kernels can use any memory of the process
};

struct ModuleStream;
struct ModuleEvent;

/// Any thread may call these functions, once it has called use(). The host must not follow pointers to device memory.
struct ModuleTable {
  uint32_t version;
  uint32_t size;  // of this struct

  /// engine::block::fingerprint() of the kernels.
  uint64_t (*fingerprint)();
  /// Why this thread's last call failed.
  const char* (*error_text)();
  int (*count)(int* devices);
  int (*facts)(int device, DeviceFacts* facts);
  /// Makes the device the calling thread's; the first call makes its context.
  int (*use)(int device);

  int (*allocate)(size_t bytes, void** memory);
  int (*release)(void* memory);
  /// The handle, of kShareHandleBytes, by which other processes open memory of allocate() until it is released. They
  /// see its present contents, and the whole granule of the driver that it lies in.
  int (*share)(void* memory, unsigned char* handle);
  int (*allocate_pinned)(size_t bytes, void** memory);
  int (*release_pinned)(void* memory);
  /// Makes the caller's memory as fast to copy as pinned memory, until release_registered.
  int (*register_host)(void* memory, size_t bytes);
  int (*release_registered)(void* memory);

  int (*create_stream)(ModuleStream** stream);
  int (*destroy_stream)(ModuleStream* stream);
  /// Waits for the stream. Returns failures of its earlier work.
  int (*finish_stream)(ModuleStream* stream);
  int (*copy_in)(ModuleStream* stream, void* device, const void* host, size_t bytes);
  int (*copy_out)(ModuleStream* stream, void* host, const void* device, size_t bytes);
  int (*fill)(ModuleStream* stream, void* device, int byte, size_t bytes);
  /// Block i runs states[i] until results[i]; both are in device memory.
  int (*run_tiles)(ModuleStream* stream, engine::block::TileState* states, engine::block::RunResult* results,
                   int count);
  /// Does a task's step for its first `count` pages. The task and all that it points to are in device memory.
  int (*run_pages)(ModuleStream* stream, const engine::block::PageTask* task, uint32_t count);
  /// Makes `count` copies within device memory, where the array is, too.
  int (*run_copies)(ModuleStream* stream, const engine::block::BlockCopy* copies, uint32_t count);

  int (*create_event)(ModuleEvent** event);
  int (*destroy_event)(ModuleEvent* event);
  int (*record_event)(ModuleEvent* event, ModuleStream* stream);
  int (*await_event)(ModuleStream* stream, ModuleEvent* event);  // the stream waits, the caller does not
  int (*is_event_done)(ModuleEvent* event, int* is_done);
};

/// The one symbol that a module exports.
using ModuleEntry = const ModuleTable* (*)();
inline constexpr char kModuleSymbol[] = "strom_device_module";

}  // namespace strom::device
