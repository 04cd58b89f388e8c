// The device interface over the emulated device (or a real one, see test_module.hpp), and modules that cannot be used.
#include "device/device.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "engine/block/copies.hpp"
#include "engine/block/tile.hpp"
#include "test_module.hpp"

namespace strom::device {
namespace {

TEST(Module, what_cannot_be_opened) {
  EXPECT_EQ(Module::open("/nowhere/module.so").status().code(), ErrorCode::kFileNotFound);
  EXPECT_EQ(Module::open("/etc/passwd").status().code(), ErrorCode::kIoError);
  const Status newer = Module::open(STROM_NOT_A_MODULE_PATH).status();
  EXPECT_EQ(newer.code(), ErrorCode::kUnsupported);
  EXPECT_NE(newer.message().find("another version"), std::string::npos) << newer.message();
}

#ifdef STROM_CUDA_MODULE_PATH
// On a machine without a driver or device; with one, it is used.
TEST(CudaModule, no_device_is_an_error_and_no_more) {
  const auto module = Module::open(STROM_CUDA_MODULE_PATH);
  ASSERT_TRUE(module.is_ok()) << module.status().message() << " " << module.status().detail();
  int count = 0;
  if (module.value()->table().count(&count) == kModuleOk && count > 0) GTEST_SKIP() << "there is a device";
  for (int i = 0; i < 2; ++i) {
    const Status status = Device::open(module.value(), 0).status();
    EXPECT_EQ(status.code(), ErrorCode::kDeviceLost);
    EXPECT_FALSE(status.message().empty());
  }
}
#endif

#ifdef STROM_EMULATED_MODULE_PATH
class CudaDevice : public testing::Test {
 protected:
  void SetUp() override {
    auto module = Module::open(test::module_path());
    ASSERT_TRUE(module.is_ok()) << module.status().message() << " " << module.status().detail();
    auto device = Device::open(module.value(), 0);
    ASSERT_TRUE(device.is_ok()) << device.status().message();
    device_ = std::move(device).value();
  }
  template <class T>
  static T value(Result<T> result) {
    if (!result.is_ok()) throw std::runtime_error(result.status().message());
    return std::move(result).value();
  }
  std::unique_ptr<Device> device_;
};

TEST_F(CudaDevice, facts) {
  if (test::is_emulated()) {
    EXPECT_STREQ(device_->facts().name, "PTX interpreter");
    EXPECT_STREQ(device_->facts().architecture, "sm_90");
  }
  EXPECT_GT(device_->facts().memory, 0u);
  EXPECT_LE(device_->facts().free_memory, device_->facts().memory);
  EXPECT_GT(device_->facts().processors, 0);
  const auto module = Module::open(test::module_path());
  EXPECT_EQ(Device::open(module.value(), 999).status().code(), ErrorCode::kDeviceLost);
}

TEST_F(CudaDevice, handles_for_other_processes) {
  const DeviceMemory memory = value(device_->allocate(kShareGranule)), other = value(device_->allocate(kShareGranule));
  EXPECT_NE(value(device_->share(memory)), value(device_->share(other)));
  EXPECT_FALSE(device_->share(DeviceMemory()).is_ok());
  EXPECT_TRUE(device_->share(memory).is_ok());  // the device goes on
}

TEST_F(CudaDevice, copies) {
  constexpr size_t kBytes = 1 << 20;
  std::vector<uint8_t> bytes(kBytes), back(kBytes);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  const DeviceMemory memory = value(device_->allocate(kBytes));
  const Stream stream = value(device_->create_stream());
  ASSERT_TRUE(stream.copy_in(memory.get(), bytes.data(), kBytes).is_ok());
  ASSERT_TRUE(stream.fill(memory.get(), 7, 10).is_ok());
  ASSERT_TRUE(stream.copy_out(back.data(), memory.get(), kBytes).is_ok());
  ASSERT_TRUE(stream.finish().is_ok());
  std::fill(bytes.begin(), bytes.begin() + 10, uint8_t{7});
  EXPECT_EQ(back, bytes);
}

TEST_F(CudaDevice, copies_within_the_device) {
  constexpr size_t kBytes = 64 << 10;
  std::vector<uint8_t> bytes(kBytes), back(kBytes);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  const DeviceMemory from = value(device_->allocate(kBytes)), to = value(device_->allocate(kBytes));
  auto* const source = static_cast<char*>(from.get());
  auto* const target = static_cast<char*>(to.get());
  const std::vector<engine::block::BlockCopy> copies = {
      {target + 4096, source, 8}, {target, source + 8192, 512}, {target + 16384, source + 1000, 40'000}};
  const size_t list = copies.size() * sizeof copies[0];
  const DeviceMemory listed = value(device_->allocate(list));
  const Stream stream = value(device_->create_stream());
  ASSERT_TRUE(stream.copy_in(source, bytes.data(), kBytes).is_ok());
  ASSERT_TRUE(stream.fill(target, 9, kBytes).is_ok());
  ASSERT_TRUE(stream.copy_in(listed.get(), copies.data(), list).is_ok());
  ASSERT_TRUE(stream.run_copies(static_cast<engine::block::BlockCopy*>(listed.get()), 3).is_ok());
  ASSERT_TRUE(stream.copy_out(back.data(), target, kBytes).is_ok());
  ASSERT_TRUE(stream.finish().is_ok());
  std::vector<uint8_t> wanted(kBytes, 9);
  std::copy_n(bytes.begin(), 8, wanted.begin() + 4096);
  std::copy_n(bytes.begin() + 8192, 512, wanted.begin());
  std::copy_n(bytes.begin() + 1000, 40'000, wanted.begin() + 16384);
  EXPECT_EQ(back, wanted);
}

TEST_F(CudaDevice, streams_wait_for_events) {
  const PinnedMemory pinned = value(device_->allocate_pinned(64));
  const DeviceMemory memory = value(device_->allocate(64));
  const Stream first = value(device_->create_stream()), second = value(device_->create_stream());
  const Event event = value(device_->create_event());
  ASSERT_TRUE(first.fill(memory.get(), 9, 64).is_ok());
  ASSERT_TRUE(first.record(event).is_ok());
  ASSERT_TRUE(second.wait_for(event).is_ok());
  ASSERT_TRUE(second.copy_out(pinned.get(), memory.get(), 64).is_ok());
  ASSERT_TRUE(second.finish().is_ok());
  EXPECT_TRUE(value(device_->is_done(event)));
  EXPECT_EQ(static_cast<uint8_t*>(pinned.get())[63], 9);
}

TEST_F(CudaDevice, memory_that_is_not_there) {
  const Status status = device_->allocate(size_t{1} << 60).status();
  EXPECT_EQ(status.code(), ErrorCode::kOutOfMemory);
  EXPECT_TRUE(device_->allocate(64).is_ok());
}

TEST_F(CudaDevice, memory_is_given_back) {
  const uint64_t before = device_->facts().free_memory;
  for (int i = 0; i < 100; ++i) (void)value(device_->allocate(1 << 20));
  const auto again = Device::open(Module::open(test::module_path()).value(), 0);
  if (test::is_emulated()) {  // others may use a real one
    EXPECT_EQ(again.value()->facts().free_memory, before);
  }
  EXPECT_GT(again.value()->facts().free_memory, before / 2);
}

TEST_F(CudaDevice, several_threads) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, i, &right] {
      if (!device_->use().is_ok()) return;
      const Stream stream = value(device_->create_stream());
      for (int k = 0; k < 50; ++k) {
        const DeviceMemory memory = value(device_->allocate(4096));
        std::vector<uint8_t> bytes(4096, static_cast<uint8_t>(i * 50 + k)), back(4096);
        if (stream.copy_in(memory.get(), bytes.data(), 4096).is_ok() &&
            stream.copy_out(back.data(), memory.get(), 4096).is_ok() && stream.finish().is_ok() && back == bytes)
          ++right;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

// A kernel that reads what is not there ends the device for this process: in a process of its own.
TEST_F(CudaDevice, a_bad_kernel_loses_the_device) {
  const auto run = [this] {
    const DeviceMemory states = value(device_->allocate(sizeof(engine::block::TileState)));
    const DeviceMemory results = value(device_->allocate(sizeof(engine::block::RunResult)));
    const Stream stream = value(device_->create_stream());
    (void)stream.fill(states.get(), 0x5a, sizeof(engine::block::TileState));  // wild pointers
    Status status = stream.run_tiles(static_cast<engine::block::TileState*>(states.get()),
                                     static_cast<engine::block::RunResult*>(results.get()), 1);
    if (status.is_ok()) status = stream.finish();
    const Status later = stream.finish();
    _exit(status.code() == ErrorCode::kDeviceLost && later.code() == ErrorCode::kDeviceLost ? 0 : 1);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a context of CUDA does not survive a fork
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace strom::device
