// What is found of GPUs and drivers, in made-up trees of /proc, /sys and /dev.
#include "device/nvidia_driver.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace strom::device {
namespace {

class NvidiaDriverTest : public testing::Test {
 protected:
  NvidiaDriverTest() {
    char name[] = "/tmp/strom_driver_XXXXXX";
    root_ = mkdtemp(name);
  }
  ~NvidiaDriverTest() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void add_pci(const std::string& address, const std::string& vendor, const std::string& type,
               const std::string& driver) const {
    const std::string folder = "/sys/bus/pci/devices/" + address;
    write(folder + "/vendor", vendor + "\n");
    write(folder + "/class", type + "\n");
    if (!driver.empty()) std::filesystem::create_symlink("../../drivers/" + driver, root_ + folder + "/driver");
  }
  NvidiaDriver inspect() const { return inspect_nvidia_driver(root_); }

  std::string root_;
};

TEST_F(NvidiaDriverTest, nothing) {
  const NvidiaDriver found = inspect();
  EXPECT_TRUE(found.gpus.empty());
  EXPECT_EQ(found.branch(), 0);
  EXPECT_EQ(found.version + found.cuda_library + found.cufile_library + found.nvidia_fs_version, "");
  EXPECT_TRUE(found.missing_files.empty());
}

TEST_F(NvidiaDriverTest, gpus_among_other_devices) {
  add_pci("0000:00:02.0", "0x8086", "0x030000", "i915");
  add_pci("0000:01:00.1", "0x10de", "0x040300", "snd_hda_intel");  // a GPU's sound
  add_pci("0000:01:00.0", "0x10de", "0x030200", "nouveau");
  add_pci("0000:81:00.0", "0x10de", "0x030000", "");
  const NvidiaDriver found = inspect();
  ASSERT_EQ(found.gpus.size(), 2u);
  EXPECT_EQ(found.gpus[0].address, "0000:01:00.0");
  EXPECT_EQ(found.gpus[0].driver, "nouveau");
  EXPECT_EQ(found.gpus[1].driver, "");
}

TEST_F(NvidiaDriverTest, a_working_driver) {
  add_pci("0000:01:00.0", "0x10de", "0x030200", "nvidia");
  write("/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\nGCC version: gcc 12.2.0\n");
  write("/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 1\n");
  write("/proc/driver/nvidia-fs/version", "version: 2.25.7\n");
  for (const char* name : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0", "/usr/lib64/libcuda.so.1"})
    write(name, "");
  const NvidiaDriver found = inspect();
  ASSERT_EQ(found.gpus.size(), 1u);
  EXPECT_EQ(found.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(found.version, "580.65.06");
  EXPECT_EQ(found.branch(), 580);
  EXPECT_EQ(found.nvidia_fs_version, "2.25.7");
  EXPECT_EQ(found.cuda_library, root_ + "/usr/lib64/libcuda.so.1");
  EXPECT_TRUE(found.missing_files.empty());
  EXPECT_TRUE(found.closed_files.empty());
}

TEST_F(NvidiaDriverTest, containers_without_a_bus) {
  write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54  Thu\n");
  write("/proc/driver/nvidia/gpus/0000:0a:00.0/information", "Model:\n");
  write("/dev/nvidiactl", "");
  const NvidiaDriver found = inspect();
  ASSERT_EQ(found.gpus.size(), 1u);
  EXPECT_EQ(found.gpus[0].driver, "nvidia");
  EXPECT_EQ(found.gpus[0].name, "");
  EXPECT_EQ(found.branch(), 550);
  EXPECT_EQ(found.missing_files.size(), 2u);
}

TEST_F(NvidiaDriverTest, files_of_others) {
  if (geteuid() == 0) GTEST_SKIP() << "root may open everything";
  write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.1  Thu\n");
  write("/dev/nvidiactl", "");
  std::filesystem::permissions(root_ + "/dev/nvidiactl", std::filesystem::perms::none);
  EXPECT_EQ(inspect().closed_files.size(), 1u);
}

}  // namespace
}  // namespace strom::device
