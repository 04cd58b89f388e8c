// Memory of the machine that a test runs its kernels on: the (fake) CUDA runtime's under nvcc, the heap under simt.hpp.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace strom::cuda_emulation {

#if defined(__CUDACC__)

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

inline void* allocate_device(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes));
  return memory;
}
inline void free_device(void* memory) { (void)cudaFree(memory); }
inline void copy_to_device(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
}
inline void copy_to_host(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}
/// Waits for the launches before it; throws what went wrong in them.
inline void finish() {
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

#else

inline void* allocate_device(std::size_t bytes) { return ::operator new(bytes); }
inline void free_device(void* memory) { ::operator delete(memory); }
inline void copy_to_device(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
inline void copy_to_host(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
inline void finish() {}

#endif

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.data(), values.size()) {}
  DeviceArray(std::size_t size, T value) : DeviceArray(std::vector<T>(size, value)) {}
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { free_device(memory_); }

  T* get() const { return static_cast<T*>(memory_); }
  std::vector<T> to_host() const {
    finish();
    std::vector<T> values(size_);
    if (size_ != 0) copy_to_host(values.data(), memory_, size_ * sizeof(T));
    return values;
  }

 private:
  DeviceArray(const T* values, std::size_t size)
      : size_(size), memory_(size == 0 ? nullptr : allocate_device(size * sizeof(T))) {
    if (size != 0) copy_to_device(memory_, values, size * sizeof(T));
  }

  std::size_t size_;
  void* memory_;
};

}  // namespace strom::cuda_emulation
