// What pgstrom.doctor() says of GPUs and machines that the tests do not have.
#include <gtest/gtest.h>

#include <algorithm>

#include "pg/sqlfn/findings.hpp"

namespace strom::pg::sqlfn {
namespace {

using device::NvidiaDriver;

std::vector<Finding> examine(const NvidiaDriver& driver, const std::string& module = "/nowhere/pg_strom_cuda.so") {
  std::vector<Finding> findings;
  check_gpu(driver, "postgres", module, &findings);
  return findings;
}

Finding found(const std::vector<Finding>& findings, const std::string& check) {
  const auto place =
      std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.check == check; });
  EXPECT_NE(place, findings.end()) << check;
  return place == findings.end() ? Finding() : *place;
}

NvidiaDriver working_driver() {
  NvidiaDriver driver;
  driver.gpus = {{"0000:01:00.0", "NVIDIA H200", "nvidia"}, {"0000:02:00.0", "", "nvidia"}};
  driver.version = "580.65.06";
  driver.cuda_library = "/usr/lib64/libcuda.so.1";
  return driver;
}

TEST(Doctor, no_gpu) {
  NvidiaDriver driver;
  driver.cuda_library = "/usr/lib64/libcuda.so.1";  // libcuda without a device
  const auto findings = examine(driver);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].health, Health::kNote);
  EXPECT_EQ(findings[0].fix, "");
}

TEST(Doctor, a_gpu_that_works) {
  NvidiaDriver driver = working_driver();
  driver.nvidia_fs_version = "2.25.7";
  driver.cufile_library = "/usr/lib64/libcufile.so.0";
  const auto findings = examine(driver, "/proc/self/exe");
  EXPECT_NE(found(findings, "GPU").detail.find("NVIDIA H200 at 0000:01:00.0, NVIDIA GPU at 0000:02:00.0"),
            std::string::npos);
  for (const Finding& finding : findings) EXPECT_EQ(finding.health, Health::kOk) << finding.check;
}

TEST(Doctor, the_service) {
  const auto of = [](const ServiceState& state) {
    std::vector<Finding> findings;
    check_service(state, "the statement", &findings);
    return findings;
  };
  EXPECT_TRUE(of({"", "nobody listens", true, false}).empty());  // no GPU: nothing is missing
  EXPECT_EQ(of({"a GPU", "", true, true})[0].health, Health::kOk);
  EXPECT_EQ(of({"", "nobody listens", false, true})[0].fix, "the statement");
  EXPECT_EQ(of({"", "nobody listens", true, true})[0].health, Health::kError);
}

TEST(Doctor, each_failure_has_its_cure) {
  NvidiaDriver driver = working_driver();
  EXPECT_EQ(found(examine(driver), "CUDA module").health, Health::kNote);
  EXPECT_NE(found(examine(driver), "GPUDirect Storage").fix.find("nvidia-fs"), std::string::npos);
  driver.nvidia_fs_version = "2.25.7";
  EXPECT_NE(found(examine(driver), "GPUDirect Storage").fix.find("libcufile"), std::string::npos);

  const auto expect_error = [&driver](const std::string& check, const std::string& fix) {
    const Finding finding = found(examine(driver), check);
    EXPECT_EQ(finding.health, Health::kError) << check;
    EXPECT_NE(finding.fix.find(fix), std::string::npos) << finding.fix;
  };
  driver.closed_files = {"/dev/nvidiactl"};
  expect_error("GPU device files", "usermod -aG video postgres");
  driver.missing_files = {"/dev/nvidia-uvm"};
  expect_error("GPU device files", "nvidia-modprobe");
  driver.cuda_library = "";
  expect_error("CUDA library", "libcuda1");
  driver.version = "550.54";
  expect_error("GPU driver", "--only-upgrade");
  driver.version = "";
  expect_error("GPU driver", "modprobe nvidia");
  driver.gpus[0].driver = "nouveau";
  expect_error("GPU driver", "apt-get install nvidia-driver");
}

TEST(Doctor, shared_memory) {
  std::vector<Finding> findings;
  CacheState cache;
  check_shared_memory(cache, SharedMemory::kPosix, &findings);
  EXPECT_EQ(findings.back().health, Health::kNote);
  cache.limit = 1 << 20;
  check_shared_memory(cache, SharedMemory::kFiles, &findings);
  EXPECT_EQ(findings.back().health, Health::kWarning);
  EXPECT_NE(findings.back().fix.find("dynamic_shared_memory_type"), std::string::npos);
  cache.limit = uint64_t{1} << 60;
  check_shared_memory(cache, SharedMemory::kSystemV, &findings);
  EXPECT_EQ(findings.back().health, Health::kOk);
  EXPECT_EQ(findings.back().detail.find("eighth"), std::string::npos);
  check_shared_memory(cache, SharedMemory::kPosix, &findings);
  if (findings.back().health != Health::kWarning) GTEST_SKIP() << "no /dev/shm";
  EXPECT_NE(findings.back().fix.find("mount -o remount"), std::string::npos);
}

TEST(Doctor, memory_of_the_column_cache) {
  constexpr uint64_t kGigabyte = uint64_t{1} << 30;
  std::vector<Finding> findings;
  CacheState cache{kGigabyte, true, kGigabyte / 2, 0, 8 * kGigabyte, false};
  check_shared_memory(cache, SharedMemory::kSystemV, &findings);
  EXPECT_EQ(findings.back().health, Health::kOk);
  EXPECT_EQ(findings.back().detail,
            "It may take 1024MB of shared memory, by default an eighth of the machine's 8192MB, and has taken 512MB.");
  cache.lacking = kGigabyte;
  cache.in_cgroup = true;
  check_shared_memory(cache, SharedMemory::kSystemV, &findings);
  EXPECT_EQ(findings.back().health, Health::kNote);
  EXPECT_NE(findings.back().detail.find("an eighth of the cgroup's"), std::string::npos);
  EXPECT_NE(findings.back().detail.find("no room for 1024MB of columns."), std::string::npos);
  EXPECT_EQ(findings.back().fix, "ALTER SYSTEM SET pg_strom.column_cache_memory = '2312MB'; SELECT pg_reload_conf();");
  cache.lacking = 4 * kGigabyte;
  check_shared_memory(cache, SharedMemory::kSystemV, &findings);
  EXPECT_EQ(findings.back().fix, "");
  EXPECT_NE(findings.back().detail.find("more than the machine can spare"), std::string::npos);
}

TEST(Doctor, sizes) {
  EXPECT_EQ(size_text(1 << 10), "1kB");
  EXPECT_EQ(size_text(1 << 30), "1024MB");
  EXPECT_EQ(size_text(uint64_t{64} << 30), "64GB");
}

}  // namespace
}  // namespace strom::pg::sqlfn
