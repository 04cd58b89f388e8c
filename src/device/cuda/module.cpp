// The CUDA device module, over the CUDA runtime: see device/module.hpp. The kernels are engine/inst/tile_cuda.cu,
// pages_cuda.cu and copies_cuda.cu.
// cudart is linked statically and looks for libcuda at the first call. So a machine without a driver gets an error and
// nothing worse.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "device/module.hpp"

namespace strom::engine::inst {
uint64_t kernel_fingerprint();
cudaError_t launch_morsels(block::TileState* states, block::RunResult* results, int count, cudaStream_t stream);
cudaError_t morsels_per_processor(int* count);
cudaError_t launch_pages(const block::PageTask* task, uint32_t count, cudaStream_t stream);
cudaError_t launch_copies(const block::BlockCopy* copies, uint32_t count, cudaStream_t stream);
}  // namespace strom::engine::inst

namespace strom::device {
namespace {

thread_local std::string last_error;

// The errors below come from a kernel or the hardware. None of them leaves a usable context: the runtime repeats them
// for every call. All other errors concern one call only.
int outcome_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return kModuleOk;
    case cudaErrorMemoryAllocation: return kModuleOutOfMemory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorDevicesUnavailable: return kModuleNoDevice;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorNotSupported: return kModuleFailed;
    default: return kModuleLost;
  }
}

int checked(cudaError_t error) {
  const int outcome = outcome_of(error);
  if (outcome == kModuleOk) return outcome;
  last_error = cudaGetErrorString(error);
  (void)cudaGetLastError();  // clears the error, so that the next call does not report it again
  return outcome;
}

cudaStream_t cuda(ModuleStream* stream) { return reinterpret_cast<cudaStream_t>(stream); }
cudaEvent_t cuda(ModuleEvent* event) { return reinterpret_cast<cudaEvent_t>(event); }

const char* error_text() { return last_error.c_str(); }
int count(int* devices) { return checked(cudaGetDeviceCount(devices)); }
int use(int device) { return checked(cudaSetDevice(device)); }

int facts(int device, DeviceFacts* facts) {
  cudaDeviceProp found;
  if (const int outcome = checked(cudaGetDeviceProperties(&found, device))) return outcome;
  *facts = {};
  std::snprintf(facts->name, sizeof facts->name, "%s", found.name);
  std::snprintf(facts->architecture, sizeof facts->architecture, "sm_%d%d", found.major, found.minor);
  if (found.pciDomainID != 0 || found.pciBusID != 0 || found.pciDeviceID != 0)
    std::snprintf(facts->pci_address, sizeof facts->pci_address, "%04x:%02x:%02x.0", found.pciDomainID, found.pciBusID,
                  found.pciDeviceID);
  facts->processors = found.multiProcessorCount;
  int blocks = 0;
  if (const int outcome = checked(engine::inst::morsels_per_processor(&blocks))) return outcome;
  facts->tiles = found.multiProcessorCount * blocks;
  int shares = 0;
  if (cudaDeviceGetAttribute(&shares, cudaDevAttrPageableMemoryAccess, device) != cudaSuccess) (void)cudaGetLastError();
  facts->shares_host_memory = shares;
  size_t available = 0, total = 0;
  if (const int outcome = checked(cudaMemGetInfo(&available, &total))) return outcome;
  facts->memory = total;
  facts->free_memory = available;
  if (const int outcome = checked(cudaDriverGetVersion(&facts->driver_version))) return outcome;
  return checked(cudaRuntimeGetVersion(&facts->runtime_version));
}

int allocate(size_t bytes, void** memory) { return checked(cudaMalloc(memory, bytes)); }
int release(void* memory) { return checked(cudaFree(memory)); }
int share(void* memory, unsigned char* handle) {
  static_assert(sizeof(cudaIpcMemHandle_t) == kShareHandleBytes);
  cudaIpcMemHandle_t made;
  const int outcome = checked(cudaIpcGetMemHandle(&made, memory));
  if (outcome == kModuleOk) std::memcpy(handle, &made, sizeof made);
  return outcome;
}
int allocate_pinned(size_t bytes, void** memory) { return checked(cudaMallocHost(memory, bytes)); }
int release_pinned(void* memory) { return checked(cudaFreeHost(memory)); }
int register_host(void* memory, size_t bytes) {
  return checked(cudaHostRegister(memory, bytes, cudaHostRegisterDefault));
}
int release_registered(void* memory) { return checked(cudaHostUnregister(memory)); }

int create_stream(ModuleStream** stream) {
  return checked(cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t*>(stream), cudaStreamNonBlocking));
}
int destroy_stream(ModuleStream* stream) { return checked(cudaStreamDestroy(cuda(stream))); }
int finish_stream(ModuleStream* stream) { return checked(cudaStreamSynchronize(cuda(stream))); }

int copy_in(ModuleStream* stream, void* device, const void* host, size_t bytes) {
  return checked(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, cuda(stream)));
}
int copy_out(ModuleStream* stream, void* host, const void* device, size_t bytes) {
  return checked(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, cuda(stream)));
}
int fill(ModuleStream* stream, void* device, int byte, size_t bytes) {
  return checked(cudaMemsetAsync(device, byte, bytes, cuda(stream)));
}
int run_tiles(ModuleStream* stream, engine::block::TileState* states, engine::block::RunResult* results, int count) {
  return checked(engine::inst::launch_morsels(states, results, count, cuda(stream)));
}
int run_pages(ModuleStream* stream, const engine::block::PageTask* task, uint32_t count) {
  return checked(engine::inst::launch_pages(task, count, cuda(stream)));
}

int run_copies(ModuleStream* stream, const engine::block::BlockCopy* copies, uint32_t count) {
  return checked(engine::inst::launch_copies(copies, count, cuda(stream)));
}

int create_event(ModuleEvent** event) {
  return checked(cudaEventCreateWithFlags(reinterpret_cast<cudaEvent_t*>(event), cudaEventDisableTiming));
}
int destroy_event(ModuleEvent* event) { return checked(cudaEventDestroy(cuda(event))); }
int record_event(ModuleEvent* event, ModuleStream* stream) {
  return checked(cudaEventRecord(cuda(event), cuda(stream)));
}
int await_event(ModuleStream* stream, ModuleEvent* event) {
  return checked(cudaStreamWaitEvent(cuda(stream), cuda(event), 0));
}
int is_event_done(ModuleEvent* event, int* is_done) {
  const cudaError_t error = cudaEventQuery(cuda(event));
  *is_done = error == cudaSuccess;
  return error == cudaErrorNotReady ? static_cast<int>(kModuleOk) : checked(error);
}

constexpr ModuleTable kTable = {kModuleVersion,
                                sizeof(ModuleTable),
                                engine::inst::kernel_fingerprint,
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
}  // namespace strom::device

extern "C" __attribute__((visibility("default"))) const strom::device::ModuleTable* strom_device_module() {
  return &strom::device::kTable;
}
