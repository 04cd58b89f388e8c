#include "cuda_emulation/fake_cudart.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <vector>

namespace strom::cuda_emulation {
namespace {

TEST(FakeCudart, CopiesCheckTheirDeviceSide) {
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 64), cudaSuccess);
  std::vector<char> host(65, 5);
  EXPECT_EQ(cudaMemcpy(device, host.data(), 64, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host.data(), 65, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host.data(), host.data(), 1, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(static_cast<char*>(device) + 60, 1, 4), cudaSuccess);
  EXPECT_EQ(cudaMemset(static_cast<char*>(device) + 60, 1, 5), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host.data(), device, 64, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(host[0], 5);
  EXPECT_EQ(host[63], 1);
  const std::size_t before = live_allocations();
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(live_allocations(), before - 1);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

TEST(FakeCudart, MemoryIsLimited) {
  std::size_t available = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&available, &total), cudaSuccess);
  void* device = nullptr;
  EXPECT_EQ(cudaMalloc(&device, available + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(device, nullptr);
  (void)cudaGetLastError();
}

TEST(FakeCudart, UnknownKernelsAndDevicesAreRefused) {
  int number = 0;
  EXPECT_EQ(cudaGetDeviceCount(&number), cudaSuccess);
  EXPECT_EQ(number, 1);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaLaunchKernel(&number, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_STREQ(cudaGetErrorName(cudaGetLastError()), "cudaErrorInvalidDeviceFunction");
}

TEST(FakeCudart, StreamsAndEvents) {
  cudaStream_t stream;
  cudaEvent_t start, end;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(start, stream), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(end, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaEventDestroy(start), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
}  // namespace strom::cuda_emulation
