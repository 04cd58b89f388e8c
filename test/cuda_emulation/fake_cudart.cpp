#include "cuda_emulation/fake_cudart.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "cuda_emulation/fatbin.hpp"
#include "cuda_emulation/ptx/module.hpp"

namespace strom::cuda_emulation {

namespace {

constexpr std::uint32_t kDefaultSharedBytes = 48u << 10;
constexpr std::uint32_t kMaxSharedBytes = 227u << 10;
constexpr std::uint32_t kMaxThreads = 1024;
constexpr int kMultiprocessors = 2;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr std::size_t kDeviceBytes = std::size_t{8} << 30;
constexpr int kPoison = 0xcd;

/// One object file's fat binary; its PTX is parsed at the first use.
struct FatBinary {
  const void* data = nullptr;
  std::vector<std::unique_ptr<ptx::Module>> modules;
  bool loaded = false;
};

struct KernelEntry {
  FatBinary* binary = nullptr;
  std::string name;
  std::uint32_t max_dynamic_shared = kDefaultSharedBytes;
};

struct VariableEntry {
  FatBinary* binary = nullptr;
  std::string name;
};

struct LaunchConfiguration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};

struct Runtime {
  std::mutex mutex;  // of everything but the map of allocations, which has its own
  std::vector<std::unique_ptr<FatBinary>> binaries;
  std::map<const void*, KernelEntry> kernels;
  std::map<const void*, VariableEntry> variables;
  std::map<const void*, std::size_t> device_memory, host_memory;
  ptx::AllocationMap allocations;
  std::atomic<bool> host_memory_shared{false};
  std::size_t device_bytes = 0;
  cudaError_t sticky = cudaSuccess;
  std::string failure;
  std::atomic<std::uint64_t> instructions{0}, launches{0};
};

// Never destroyed: objects of other translation units may free device memory at exit.
Runtime& runtime() {
  static auto* instance = new Runtime;
  return *instance;
}

thread_local cudaError_t last_error = cudaSuccess;
thread_local std::vector<LaunchConfiguration> configurations;

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

// What a call that synchronises with the device returns.
cudaError_t synchronise() {
  const std::lock_guard lock(runtime().mutex);
  return remember(runtime().sticky);
}

// Caller holds the mutex. Throws ptx::Error.
void load(FatBinary& binary) {
  if (binary.loaded) return;
  std::vector<std::unique_ptr<ptx::Module>> modules;
  for (const std::string& text : extract_ptx(binary.data)) modules.push_back(std::make_unique<ptx::Module>(text));
  for (const auto& module : modules) {
    for (const auto& [name, variable] : module->variables())
      runtime().allocations.add(variable.address, variable.bytes);
  }
  binary.modules = std::move(modules);
  binary.loaded = true;
}

const ptx::Module* module_with_kernel(FatBinary& binary, const std::string& name) {
  for (const auto& module : binary.modules) {
    if (module->find_kernel(name) != nullptr) return module.get();
  }
  return nullptr;
}

// The kernel of a host stub, loaded; nullptr with `error` set.
const ptx::Module* find_module(const void* stub, KernelEntry& entry, cudaError_t* error) {
  const std::lock_guard lock(runtime().mutex);
  const auto found = runtime().kernels.find(stub);
  *error = cudaErrorInvalidDeviceFunction;
  if (found == runtime().kernels.end()) return nullptr;
  entry = found->second;
  try {
    load(*entry.binary);
  } catch (const std::exception& e) {
    runtime().failure = e.what();
    *error = cudaErrorInvalidPtx;
    return nullptr;
  }
  return module_with_kernel(*entry.binary, entry.name);
}

cudaError_t check_launch(const ptx::Function& kernel, const KernelEntry& entry, dim3 grid, dim3 block,
                         std::size_t shared) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535 || grid.x > 0x7fffffff) {
    return cudaErrorInvalidConfiguration;
  }
  if (threads == 0 || threads > kMaxThreads || block.z > 64) return cudaErrorInvalidConfiguration;
  if (kernel.max_threads != 0 && threads > kernel.max_threads) return cudaErrorInvalidValue;
  if (shared > entry.max_dynamic_shared || shared + kernel.static_shared_bytes > kMaxSharedBytes)
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t launch(const void* stub, dim3 grid, dim3 block, void** arguments, std::size_t shared) {
  if (const cudaError_t sticky = synchronise(); sticky != cudaSuccess) return sticky;
  KernelEntry entry;
  cudaError_t error;
  const ptx::Module* module = find_module(stub, entry, &error);
  if (module == nullptr) return remember(error);
  const ptx::Function& kernel = *module->find_kernel(entry.name);
  if (const cudaError_t refused = check_launch(kernel, entry, grid, block, shared); refused != cudaSuccess)
    return remember(refused);
  runtime().launches++;
  try {
    ptx::LaunchOptions options;
    options.grid = {grid.x, grid.y, grid.z};
    options.block = {block.x, block.y, block.z};
    options.dynamic_shared_bytes = static_cast<std::uint32_t>(shared);
    options.allocations = runtime().host_memory_shared ? nullptr : &runtime().allocations;
    runtime().instructions += module->launch(entry.name, options, {arguments, kernel.parameters.size()});
  } catch (const std::exception& e) {
    // The launch itself succeeded: a device would report this later.
    const std::lock_guard lock(runtime().mutex);
    runtime().failure = e.what();
    runtime().sticky = cudaErrorLaunchFailure;
  }
  return cudaSuccess;
}

cudaError_t allocate(void** pointer, std::size_t bytes, bool on_device) {
  if (pointer == nullptr) return remember(cudaErrorInvalidValue);
  if (const cudaError_t sticky = synchronise(); sticky != cudaSuccess) return sticky;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex);
  if (on_device && bytes > kDeviceBytes - r.device_bytes) return remember(cudaErrorMemoryAllocation);
  *pointer = ::operator new(bytes, std::align_val_t(256), std::nothrow);
  if (*pointer == nullptr) return remember(cudaErrorMemoryAllocation);
  std::memset(*pointer, kPoison, bytes);
  (on_device ? r.device_memory : r.host_memory)[*pointer] = bytes;
  if (on_device) r.device_bytes += bytes;
  r.allocations.add(*pointer, bytes);
  return cudaSuccess;
}

cudaError_t release(void* pointer, bool on_device) {
  if (pointer == nullptr) return cudaSuccess;
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex);
  auto& memory = on_device ? r.device_memory : r.host_memory;
  const auto found = memory.find(pointer);
  if (found == memory.end()) return remember(cudaErrorInvalidValue);
  if (on_device) r.device_bytes -= found->second;
  memory.erase(found);
  r.allocations.remove(pointer);
  ::operator delete(pointer, std::align_val_t(256));
  return remember(r.sticky);
}

bool is_device(const void* pointer, std::size_t bytes) {
  return bytes == 0 || runtime().allocations.find(reinterpret_cast<std::uint64_t>(pointer), bytes).has_value();
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (const cudaError_t sticky = synchronise(); sticky != cudaSuccess) return sticky;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if ((to_device && !is_device(to, bytes)) || (from_device && !is_device(from, bytes)))
    return remember(cudaErrorInvalidValue);
  if (bytes != 0) std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t fill(void* to, int value, std::size_t bytes) {
  if (const cudaError_t sticky = synchronise(); sticky != cudaSuccess) return sticky;
  if (!is_device(to, bytes)) return remember(cudaErrorInvalidValue);
  if (bytes != 0) std::memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t find_symbol(const void* symbol, ptx::ModuleVariable* variable) {
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex);
  const auto found = r.variables.find(symbol);
  if (found == r.variables.end()) return remember(cudaErrorInvalidSymbol);
  try {
    load(*found->second.binary);
  } catch (const std::exception& e) {
    r.failure = e.what();
    return remember(cudaErrorInvalidPtx);
  }
  for (const auto& module : found->second.binary->modules) {
    if (const ptx::ModuleVariable* place = module->find_variable(found->second.name)) {
      *variable = *place;
      return cudaSuccess;
    }
  }
  return remember(cudaErrorInvalidSymbol);
}

struct Event {
  std::chrono::steady_clock::time_point time;
};

Event& event_of(cudaEvent_t event) { return *reinterpret_cast<Event*>(event); }

}  // namespace

std::string last_failure() {
  const std::lock_guard lock(runtime().mutex);
  return runtime().failure;
}

std::uint64_t executed_instructions() { return runtime().instructions; }
std::uint64_t launched_kernels() { return runtime().launches; }

void share_host_memory() { runtime().host_memory_shared = true; }

std::size_t live_allocations() {
  const std::lock_guard lock(runtime().mutex);
  return runtime().device_memory.size() + runtime().host_memory.size();
}

}  // namespace strom::cuda_emulation

using namespace strom::cuda_emulation;  // NOLINT(google-build-using-namespace)
namespace ptx = strom::ptx;

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the runtime's own names
extern "C" {

// ---- what nvcc's host code calls

struct FatBinaryWrapper {
  int magic, version;
  const void* data;
  void* unused;
};

void** __cudaRegisterFatBinary(void* wrapper) {
  auto binary = std::make_unique<FatBinary>();
  binary->data = static_cast<const FatBinaryWrapper*>(wrapper)->data;
  const std::lock_guard lock(runtime().mutex);
  runtime().binaries.push_back(std::move(binary));
  return reinterpret_cast<void**>(runtime().binaries.back().get());
}

void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  const std::lock_guard lock(runtime().mutex);
  runtime().kernels[stub] = {reinterpret_cast<FatBinary*>(handle), name};
}

void __cudaRegisterVar(void** handle, char* symbol, char*, const char* name, int, std::size_t, int, int) {
  const std::lock_guard lock(runtime().mutex);
  runtime().variables[symbol] = {reinterpret_cast<FatBinary*>(handle), name};
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  const LaunchConfiguration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t) {
  return launch(stub, grid, block, arguments, shared);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t) {
  return launch(kernel, grid, block, arguments, shared);
}

// ---- errors

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
    case cudaErrorInvalidSymbol: return "cudaErrorInvalidSymbol";
    case cudaErrorInvalidPtx: return "cudaErrorInvalidPtx";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
    default: return "cudaErrorUnknown";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  static thread_local std::string text;
  text = cudaGetErrorName(error);
  if (error == cudaErrorLaunchFailure || error == cudaErrorInvalidPtx) text += ": " + last_failure();
  return text.c_str();
}

// ---- devices

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return remember(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return synchronise(); }

cudaError_t cudaDeviceReset() {
  const std::lock_guard lock(runtime().mutex);
  runtime().sticky = last_error = cudaSuccess;
  runtime().failure.clear();
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMultiProcessorCount: *value = kMultiprocessors; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: *value = static_cast<int>(kMaxThreads); break;
    case cudaDevAttrMaxBlockDimZ: *value = 64; break;
    case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: *value = 65535; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(kDefaultSharedBytes); break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(kMaxSharedBytes); break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = static_cast<int>(kMaxSharedBytes + 1024); break;
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory: *value = 1; break;
    case cudaDevAttrCooperativeLaunch: *value = 0; break;
    default: return remember(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return remember(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "PTX interpreter");
  properties->major = 9;
  properties->multiProcessorCount = kMultiprocessors;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = static_cast<int>(kMaxThreads);
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->totalGlobalMem = kDeviceBytes;
  properties->sharedMemPerBlock = kDefaultSharedBytes;
  properties->sharedMemPerBlockOptin = kMaxSharedBytes;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  const std::lock_guard lock(runtime().mutex);
  *available = kDeviceBytes - runtime().device_bytes;
  *total = kDeviceBytes;
  return remember(runtime().sticky);
}

// ---- kernels

cudaError_t cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute, int value) {
  const std::lock_guard lock(runtime().mutex);
  const auto found = runtime().kernels.find(stub);
  if (found == runtime().kernels.end()) return remember(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || static_cast<std::uint32_t>(value) > kMaxSharedBytes) return remember(cudaErrorInvalidValue);
    found->second.max_dynamic_shared = static_cast<std::uint32_t>(value);
  }
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  KernelEntry entry;
  cudaError_t error;
  const ptx::Module* module = find_module(stub, entry, &error);
  if (module == nullptr) return remember(error);
  const ptx::Function& kernel = *module->find_kernel(entry.name);
  *attributes = {};
  attributes->sharedSizeBytes = kernel.static_shared_bytes;
  attributes->localSizeBytes = kernel.local_bytes;
  attributes->maxThreadsPerBlock = static_cast<int>(kernel.max_threads != 0 ? kernel.max_threads : kMaxThreads);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(entry.max_dynamic_shared);
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->numRegs = 64;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int threads, std::size_t,
                                                                   unsigned) {
  if (threads <= 0 || threads > static_cast<int>(kMaxThreads)) return remember(cudaErrorInvalidValue);
  *blocks = kBlocksPerMultiprocessor;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub, int threads,
                                                          std::size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, threads, shared, 0);
}

// ---- memory

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) { return allocate(pointer, bytes, true); }
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) { return allocate(pointer, bytes, true); }
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) { return allocate(pointer, bytes, true); }
cudaError_t cudaFree(void* pointer) { return release(pointer, true); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return release(pointer, true); }
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) { return allocate(pointer, bytes, false); }
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) { return allocate(pointer, bytes, false); }
cudaError_t cudaFreeHost(void* pointer) { return release(pointer, false); }

/// A handle that only this process knows what to do with.
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  if (!is_device(pointer, 1)) return remember(cudaErrorInvalidValue);
  *handle = {};
  std::memcpy(handle, &pointer, sizeof pointer);
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  runtime().allocations.add(pointer, bytes);
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
  return remember(runtime().allocations.remove(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  if (!is_device(host, 1)) return remember(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return copy(to, from, bytes, kind);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) { return fill(to, value, bytes); }
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) { return fill(to, value, bytes); }

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  ptx::ModuleVariable variable;
  const cudaError_t error = find_symbol(symbol, &variable);
  if (error == cudaSuccess) *address = variable.address;
  return error;
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind) {
  ptx::ModuleVariable variable;
  if (const cudaError_t error = find_symbol(symbol, &variable); error != cudaSuccess) return error;
  if (offset > variable.bytes || bytes > variable.bytes - offset) return remember(cudaErrorInvalidValue);
  std::memcpy(variable.address + offset, from, bytes);
  return synchronise();
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind) {
  ptx::ModuleVariable variable;
  if (const cudaError_t error = find_symbol(symbol, &variable); error != cudaSuccess) return error;
  if (offset > variable.bytes || bytes > variable.bytes - offset) return remember(cudaErrorInvalidValue);
  std::memcpy(to, variable.address + offset, bytes);
  return synchronise();
}

// ---- streams and events: everything has happened when a call returns

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = reinterpret_cast<cudaStream_t>(new char);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return cudaStreamCreate(stream); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<char*>(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return synchronise(); }
cudaError_t cudaStreamQuery(cudaStream_t) { return synchronise(); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event{std::chrono::steady_clock::now()});
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete &event_of(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event_of(event).time = std::chrono::steady_clock::now();
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) { return synchronise(); }
cudaError_t cudaEventQuery(cudaEvent_t) { return synchronise(); }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(event_of(end).time - event_of(start).time).count();
  return synchronise();
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
