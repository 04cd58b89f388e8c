// What the machine or a cgroup leaves, by files as Linux has them.
#include "base/machine_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace strom::base {
namespace {

constexpr uint64_t kGigabyte = uint64_t{1} << 30;

class MachineMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "machine_memory_" + std::to_string(getpid());
    write("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  void expect(uint64_t total, uint64_t available, bool is_limited) const {
    const MachineMemory found = read_machine_memory(root_);
    EXPECT_EQ(found.total, total);
    EXPECT_EQ(found.available, available);
    EXPECT_EQ(found.is_limited, is_limited);
  }

  std::string root_;
};

TEST_F(MachineMemoryTest, a_machine_without_groups) { expect(16 * kGigabyte, 8 * kGigabyte, false); }

TEST_F(MachineMemoryTest, nothing_is_told) {
  std::filesystem::remove_all(root_);
  expect(0, 0, false);
}

TEST_F(MachineMemoryTest, groups_without_limits) {
  write("/proc/self/cgroup", "4:memory:/a\n0::/b\n");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/b/memory.max", "max\n");
  expect(16 * kGigabyte, 8 * kGigabyte, false);
}

TEST_F(MachineMemoryTest, the_smallest_of_the_groups_around) {
  write("/proc/self/cgroup", "0::/system.slice/postgresql.service\n");
  write("/sys/fs/cgroup/system.slice/memory.max", "4294967296\n");
  write("/sys/fs/cgroup/system.slice/memory.current", "3221225472\n");
  write("/sys/fs/cgroup/system.slice/memory.stat", "anon 1\ninactive_file 1073741824\nactive_file 0\n");
  write("/sys/fs/cgroup/system.slice/postgresql.service/memory.max", "max\n");
  expect(4 * kGigabyte, 2 * kGigabyte, true);
  write("/sys/fs/cgroup/system.slice/postgresql.service/memory.max", "1073741824\n");
  write("/sys/fs/cgroup/system.slice/postgresql.service/memory.current", "2147483648\n");  // about to be killed
  expect(kGigabyte, 0, true);
}

TEST_F(MachineMemoryTest, a_container_of_the_first_version) {
  write("/proc/self/cgroup", "7:cpu,cpuacct:/docker/0123\n4:memory:/docker/0123\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
  write("/sys/fs/cgroup/memory/memory.stat",
        "inactive_file 1\ntotal_inactive_file 268435456\ntotal_active_file 268435456\n");
  expect(2 * kGigabyte, kGigabyte + kGigabyte / 2, true);
}

TEST(MachineMemory, what_is_left_to_others) {
  EXPECT_EQ(usual_part({16 * kGigabyte, 0, false}), 2 * kGigabyte);
  EXPECT_TRUE(leaves_part({16 * kGigabyte, 3 * kGigabyte, false}, kGigabyte));
  EXPECT_FALSE(leaves_part({16 * kGigabyte, 3 * kGigabyte - 1, false}, kGigabyte));
  EXPECT_FALSE(leaves_part({16 * kGigabyte, 0, true}, 1));
  EXPECT_TRUE(leaves_part({}, kGigabyte));
}

}  // namespace
}  // namespace strom::base
