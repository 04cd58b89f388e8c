// What simt.hpp does beyond the kernels of kernels_test.cu: geometry, early exits, errors in all their forms.

#include <gtest/gtest.h>

#include <vector>

#include "cuda_emulation/simt.hpp"

namespace strom::simt {
namespace {

std::string failure_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.what();
  }
  return "no failure";
}

TEST(Simt, EveryThreadOfEveryBlockRunsOnce) {
  std::vector<int> runs(2 * 3 * 4 * 5 * 3 * 2);
  const auto kernel = [](int* out) {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    atomicAdd(&out[block * blockDim.x * blockDim.y * blockDim.z + thread], 1);
  };
  launch({.grid = dim3(2, 3, 4), .block = dim3(5, 3, 2)}, kernel, runs.data());
  EXPECT_EQ(runs, std::vector<int>(runs.size(), 1));
}

TEST(Simt, DynamicSharedMemoryIsPerBlockAndPoisoned) {
  std::vector<unsigned char> found(4);
  const auto kernel = [](unsigned char* out) {
    auto* bytes = static_cast<unsigned char*>(dynamic_shared());
    if (threadIdx.x == 0) out[blockIdx.x] = bytes[99];
    __syncthreads();
    bytes[threadIdx.x] = 1;
  };
  launch({.grid = dim3(4), .block = dim3(100), .dynamic_shared_bytes = 100}, kernel, found.data());
  EXPECT_EQ(found, std::vector<unsigned char>(4, 0xcd));
}

TEST(Simt, ThreadsThatHaveReturnedDoNotHoldUpABarrier) {
  std::vector<int> out(64);
  const auto kernel = [](int* to) {
    if (threadIdx.x >= 40) return;
    __syncthreads();
    to[threadIdx.x] = __syncthreads_count(1);
  };
  launch({.grid = dim3(1), .block = dim3(64)}, kernel, out.data());
  EXPECT_EQ(out[0], 40);
  EXPECT_EQ(out[39], 40);
  EXPECT_EQ(out[40], 0);
}

TEST(Simt, MeetingsOfDifferentLanesDoNotMix) {
  std::vector<int> out(32);
  const auto kernel = [](int* to) {
    const int lane_number = int(threadIdx.x);
    int value = lane_number;
    // The lower half meets more often than the upper one.
    if (lane_number < 16) {
      for (int i = 0; i < 3; i++) value = __shfl_xor_sync(0xffffu, value, 1);
    }
    to[lane_number] = __shfl_xor_sync(~0u, value, 16);
  };
  launch({.grid = dim3(1), .block = dim3(32)}, kernel, out.data());
  for (int n = 0; n < 32; n++) EXPECT_EQ(out[n], n < 16 ? n + 16 : (n - 16) ^ 1) << n;
}

TEST(Simt, ErrorsNameTheirPlace) {
  const auto deadlock = [] {
    if (threadIdx.x == 0) __syncthreads();
    if (threadIdx.x != 0) __syncwarp();
  };
  const std::string message = failure_of([&] { launch({.grid = dim3(3), .block = dim3(2)}, deadlock); });
  EXPECT_NE(message.find("deadlock or divergent barrier in block"), std::string::npos) << message;
  EXPECT_NE(message.find("simt_test.cpp:"), std::string::npos) << message;
}

TEST(Simt, LaneOutsideOfItsMask) {
  const auto kernel = [] { __syncwarp(2u); };
  const std::string message = failure_of([&] { launch({.grid = dim3(1), .block = dim3(1)}, kernel); });
  EXPECT_NE(message.find("lane is not in its own mask"), std::string::npos) << message;
}

TEST(Simt, ShuffleFromALaneThatIsNotThere) {
  const auto kernel = [] {
    if (threadIdx.x < 8) (void)__shfl_sync(0xffu, 1, 9);
  };
  const std::string message = failure_of([&] { launch({.grid = dim3(1), .block = dim3(32)}, kernel); });
  EXPECT_NE(message.find("does not take part"), std::string::npos) << message;
}

TEST(Simt, ExceptionsOfAKernelArriveAtItsCaller) {
  const auto kernel = [] {
    __syncthreads();
    if (threadIdx.x == 3) throw std::runtime_error("out of luck");
    __syncthreads();
  };
  const std::string message = failure_of([&] { launch({.grid = dim3(2), .block = dim3(32)}, kernel); });
  EXPECT_NE(message.find("thread (3,0,0): out of luck"), std::string::npos) << message;
  EXPECT_EQ(failure_of([] { launch({.grid = dim3(1), .block = dim3(32)}, [] { __syncthreads(); }); }), "no failure");
}

TEST(Simt, ImpossibleGrids) {
  EXPECT_THROW(launch({.grid = dim3(0), .block = dim3(1)}, [] {}), Error);
  EXPECT_THROW(launch({.grid = dim3(1), .block = dim3(1025)}, [] {}), Error);
}

TEST(Simt, Atomics) {
  int sum = 0, low = 9, high = -9, bits = 0, ones = -1, flips = 0;
  float total = 0;
  unsigned long long owner = 0;
  const auto kernel = [](int* a, int* b, int* c, int* d, int* e, int* f, float* g, unsigned long long* h) {
    const int n = int(threadIdx.x + blockIdx.x * blockDim.x);
    atomicAdd(a, n);
    atomicMin(b, -n);
    atomicMax(c, n);
    atomicOr(d, 1 << (n % 8));
    atomicAnd(e, ~(1 << (n % 4)));
    atomicXor(f, n);
    atomicAdd(g, 0.5f);
    if (n == 77) atomicCAS(h, 0ull, 77ull);
  };
  launch({.grid = dim3(4), .block = dim3(64)}, kernel, &sum, &low, &high, &bits, &ones, &flips, &total, &owner);
  EXPECT_EQ(sum, 255 * 128);
  EXPECT_EQ(low, -255);
  EXPECT_EQ(high, 255);
  EXPECT_EQ(bits, 255);
  EXPECT_EQ(ones, ~15);
  EXPECT_EQ(flips, 0);
  EXPECT_EQ(total, 128.0f);
  EXPECT_EQ(owner, 77u);
}

}  // namespace
}  // namespace strom::simt
