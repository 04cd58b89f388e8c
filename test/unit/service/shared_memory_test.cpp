// Device memory that other processes open, and how long it stays.
#include "service/shared_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "service/scheduler.hpp"

namespace strom::service::test {
namespace {

constexpr uint64_t kRoom = uint64_t{64} << 20;

class SharedMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    reading_ = Descriptor(ends[0]);
    lease_ = Descriptor(ends[1]);
  }
  static Descriptor file_of(const std::string& bytes) {
    Descriptor file(memfd_create("test", MFD_CLOEXEC));
    EXPECT_EQ(write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    return file;
  }
  static std::string bytes_of_handle(const Shared& shared, size_t bytes) {
    std::ifstream file(reinterpret_cast<const char*>(shared.handle), std::ios::binary);
    std::string found((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_EQ(found.size(), shared.bytes);
    return found.substr(0, bytes);
  }
  Result<Shared> add(const std::string& bytes, uint64_t count) {
    const Descriptor file = file_of(bytes);
    return memory_.add(file.get(), count, std::move(reading_), [] { return true; });
  }

  std::unique_ptr<device::Device> device_ =
      device::Device::open(device::Module::open(STROM_HOST_MODULE_PATH).value(), 0).value();
  Scheduler scheduler_{kRoom};
  int asked_ = 0;
  SharedMemory memory_{device_.get(), &scheduler_, [this](uint64_t) { return ++asked_ < 3; }};
  Descriptor reading_, lease_;
};

TEST_F(SharedMemoryTest, stays_until_nobody_has_the_lease) {
  std::string bytes(size_t{9} << 20, 'x');
  for (size_t i = 0; i < bytes.size(); i += 4099) bytes[i] = static_cast<char>(i % 251);
  const auto shared = add(bytes, bytes.size());
  ASSERT_TRUE(shared.is_ok()) << shared.status().message();
  EXPECT_EQ(shared.value().bytes, uint64_t{10} << 20);  // whole granules
  EXPECT_EQ(bytes_of_handle(shared.value(), bytes.size()), bytes);
  EXPECT_EQ(scheduler_.lendable(), kRoom - shared.value().bytes);

  Descriptor other(fcntl(lease_.get(), F_DUPFD_CLOEXEC, 0));
  lease_ = {};
  EXPECT_EQ(write(other.get(), "bytes", 5), 5);  // that nobody reads
  EXPECT_EQ(bytes_of_handle(shared.value(), 1), bytes.substr(0, 1));
  EXPECT_EQ(scheduler_.lendable(), kRoom - shared.value().bytes);
  other = {};
  while (scheduler_.lendable() != kRoom) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_NE(access(reinterpret_cast<const char*>(shared.value().handle), F_OK), 0);
}

TEST_F(SharedMemoryTest, no_memory) {
  const Status status = add("x", kRoom + 1).status();
  EXPECT_EQ(status.code(), ErrorCode::kOverBudget);
  EXPECT_EQ(asked_, 3);  // others were asked for theirs as long as they had some
  EXPECT_EQ(scheduler_.lendable(), kRoom);
  EXPECT_EQ(add("x", UINT64_MAX).status().code(), ErrorCode::kOverBudget);
}

TEST_F(SharedMemoryTest, gives_back_what_was_not_filled) {
  EXPECT_EQ(add("short", 1000).status().code(), ErrorCode::kFileChanged);
  EXPECT_EQ(scheduler_.lendable(), kRoom);
  const Descriptor file = file_of("bytes");
  EXPECT_EQ(memory_.add(file.get(), 5, Descriptor(), [] { return false; }).status().code(), ErrorCode::kCancelled);
  EXPECT_EQ(scheduler_.lendable(), kRoom);
}

}  // namespace
}  // namespace strom::service::test
