// Mounts and disks, in made-up trees of /proc and /sys.
#include "device/storage_place.hpp"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace strom::device {
namespace {

namespace fs = std::filesystem;

class StoragePlaceTest : public testing::Test {
 protected:
  StoragePlaceTest() {
    char name[] = "/tmp/strom_place_XXXXXX";
    root_ = mkdtemp(name);
    write("/proc/self/mountinfo",
          "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
          "21 20 259:1 / /data rw,noatime - xfs /dev/nvme0n1p1 rw,attr2\n"
          "22 20 9:0 / /data/raid rw master:1 propagate_from:2 - ext4 /dev/md0 rw,data=ordered\n"
          "23 20 0:40 / /data/with\\040blank rw - nfs4 server:/ex\\134port rw,vers=4.2,proto=rdma\n"
          "24 20 0:41 / /pool rw - btrfs /dev/nvme1n1 rw\n"
          "25 20 0:42 / /data rw - tmpfs none rw\n"
          "a line that is none\n");
    disk("sda", "8:0");
    disk("nvme0n1", "259:0");
    disk("nvme1n1", "259:5");
    disk("md0", "9:0");
    fs::create_directories(root_ + "/sys/devices/pci0/nvme0n1/nvme0n1p1");
    write("/sys/devices/pci0/nvme0n1/nvme0n1p1/partition", "1\n");
    link("../../devices/pci0/nvme0n1/nvme0n1p1", "/sys/dev/block/259:1");
    fs::create_directories(root_ + "/sys/devices/pci0/sda/sda1");
    write("/sys/devices/pci0/sda/sda1/partition", "1\n");
    link("../../devices/pci0/sda/sda1", "/sys/dev/block/8:1");
    write("/sys/devices/pci0/numa_node", "1\n");
    write("/sys/devices/nvme0/transport", "pcie\n");
    write("/sys/devices/subsystem/nvme7/transport", "rdma\n");
    link("../../nvme0", "/sys/devices/pci0/nvme0n1/device");
    link("../../subsystem", "/sys/devices/pci0/nvme1n1/device");
    write("/sys/devices/pci0/md0/md/level", "raid0\n");
    fs::create_directories(root_ + "/sys/devices/pci0/md0/slaves");
    link("../../nvme0n1/nvme0n1p1", "/sys/devices/pci0/md0/slaves/nvme0n1p1");
    link("../../nvme1n1", "/sys/devices/pci0/md0/slaves/nvme1n1");
  }
  ~StoragePlaceTest() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void link(const std::string& target, const std::string& path) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    fs::create_symlink(target, root_ + path);
  }
  void disk(const std::string& name, const std::string& number) const {
    fs::create_directories(root_ + "/sys/devices/pci0/" + name);
    link("../../devices/pci0/" + name, "/sys/dev/block/" + number);
  }
  StoragePlace inspect(const std::string& path, dev_t device) const { return inspect_storage(path, device, root_); }

  std::string root_;
};

TEST_F(StoragePlaceTest, a_partition) {
  const StoragePlace place = inspect("/home/a.arrow", makedev(8, 1));
  EXPECT_EQ(place.mount_point, "/");
  EXPECT_EQ(place.file_system, "ext4");
  ASSERT_EQ(place.disks.size(), 1u);
  EXPECT_EQ(place.disks[0].name, "sda");
  EXPECT_EQ(place.disks[0].kind, "SCSI or SATA");
  EXPECT_EQ(place.disks[0].numa_node, 1);
  EXPECT_EQ(place.option("errors"), "remount-ro");
  EXPECT_EQ(place.option("error"), "");
}

TEST_F(StoragePlaceTest, nvme_under_a_later_mount) {
  const StoragePlace place = inspect("/data/a.arrow", makedev(259, 1));
  EXPECT_EQ(place.file_system, "xfs");
  ASSERT_EQ(place.disks.size(), 1u);
  EXPECT_EQ(place.disks[0].name, "nvme0n1");
  EXPECT_EQ(place.disks[0].transport, "pcie");
  EXPECT_EQ(inspect("/data/b", makedev(0, 42)).file_system, "tmpfs");
  EXPECT_TRUE(inspect("/data/b", makedev(0, 42)).disks.empty());
}

TEST_F(StoragePlaceTest, raid) {
  const StoragePlace place = inspect("/data/raid/x/y", makedev(9, 0));
  EXPECT_EQ(place.mount_point, "/data/raid");
  EXPECT_EQ(place.layers, std::vector<std::string>{"md0 (raid0)"});
  ASSERT_EQ(place.disks.size(), 2u);
  EXPECT_EQ(place.disks[0].name, "nvme0n1");
  EXPECT_EQ(place.disks[1].name, "nvme1n1");
  EXPECT_EQ(place.disks[1].transport, "rdma");
  EXPECT_EQ(inspect("/data/raids", makedev(259, 1)).mount_point, "/data");  // not below
}

TEST_F(StoragePlaceTest, nfs) {
  const StoragePlace place = inspect("/data/with blank/a", makedev(0, 40));
  EXPECT_TRUE(place.is_nfs());
  EXPECT_EQ(place.source, "server:/ex\\port");
  EXPECT_EQ(place.option("proto"), "rdma");
  EXPECT_EQ(place.option("vers"), "4.2");
}

TEST_F(StoragePlaceTest, another_device_number_than_the_mount) {
  EXPECT_EQ(inspect("/pool/a", makedev(0, 99)).file_system, "btrfs");
}

TEST(StoragePlace, nothing_known) {
  const StoragePlace place = inspect_storage("/a", makedev(8, 1), "/nowhere");
  EXPECT_EQ(place.mount_point, "");
  EXPECT_TRUE(place.disks.empty());
}

TEST(StoragePlace, this_machine) {
  const StoragePlace place = inspect_storage("/proc/version", 0);
  EXPECT_FALSE(place.mount_point.empty());
}

}  // namespace
}  // namespace strom::device
