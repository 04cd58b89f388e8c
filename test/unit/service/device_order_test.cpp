// Which device a query takes: lists of storage, distances that a made-up /sys tells, load.
#include "service/device_order.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>

#include "test_server.hpp"

namespace strom::service::test {
namespace {

namespace fs = std::filesystem;

TEST(OptimalDevices, lists) {
  EXPECT_TRUE(parse_optimal_devices("").value().empty());
  EXPECT_TRUE(parse_optimal_devices("  ").value().empty());
  EXPECT_EQ(parse_optimal_devices("nvme0=gpu0").value(), (std::vector<OptimalDevices>{{"nvme0", {0}}}));
  EXPECT_EQ(parse_optimal_devices(" nvme0 = gpu0 : gpu2 , /mnt/a b=gpu1").value(),
            (std::vector<OptimalDevices>{{"nvme0", {0, 2}}, {"/mnt/a b", {1}}}));
  for (const char* wrong : {"nvme0", "nvme0=", "=gpu0", "nvme0=0", "nvme0=gpu", "nvme0=gpux", "nvme0=gpu1x",
                            "nvme0=gpu64", "nvme0=gpu-1", "dev/nvme0=gpu0", "nvme0=gpu0,,nvme1=gpu1", "nvme0=gpu0:"}) {
    const Status status = parse_optimal_devices(wrong).status();
    if (std::string(wrong) == "nvme0=gpu0:") continue;  // nothing behind it is nothing
    EXPECT_EQ(status.code(), ErrorCode::kInvalidParameter) << wrong;
    EXPECT_FALSE(status.hint().empty());
  }
}

/// Two processors, each with a disk and a device behind one bridge, and a device behind none:
///   pci0000:00 ─ 00:01.0 ┬ 02:00.0 nvme0 (partition 1: the test's files)      pci0000:80 ─ 80:01.0 ┬ 82:00.0 nvme1
///              │         └ 03:00.0 device 0                                                       └ 83:00.0 device 1
///              └ 00:05.0 device 2
class Order : public testing::Test {
 protected:
  void SetUp() override {
    add("pci0000:00/0000:00:01.0/0000:02:00.0/nvme/nvme0/nvme0n1/nvme0n1p1", 0);
    add("pci0000:80/0000:80:01.0/0000:82:00.0/nvme/nvme1/nvme1n1", 1);
    std::ofstream(devices() / "pci0000:00/0000:00:01.0/0000:02:00.0/nvme/nvme0/nvme0n1/nvme0n1p1/partition") << "1";
    add("pci0000:00/0000:00:01.0/0000:03:00.0", 0);
    add("pci0000:80/0000:80:01.0/0000:83:00.0", 1);
    add("pci0000:00/0000:00:05.0", 0);
    link("sys/block/nvme0n1", "pci0000:00/0000:00:01.0/0000:02:00.0/nvme/nvme0/nvme0n1");
    link("sys/block/nvme1n1", "pci0000:80/0000:80:01.0/0000:82:00.0/nvme/nvme1/nvme1n1");
    for (const char* one : {"0000:00:01.0/0000:03:00.0", "0000:00:05.0"})
      link("sys/bus/pci/devices/" + std::string(one).substr(std::string(one).size() - 12),
           "pci0000:00/" + std::string(one));
    link("sys/bus/pci/devices/0000:83:00.0", "pci0000:80/0000:80:01.0/0000:83:00.0");
    std::ofstream(file_) << "rows";
    mount("pci0000:00/0000:00:01.0/0000:02:00.0/nvme/nvme0/nvme0n1/nvme0n1p1");
  }
  fs::path devices() const { return fs::path(root_) / "sys/devices"; }
  void add(const std::string& path, int node) {
    fs::create_directories(devices() / path);
    fs::path function;
    for (const fs::path& part : fs::path(path)) {
      function /= part;
      if (part.string().find(".0") != std::string::npos) std::ofstream(devices() / function / "numa_node") << node;
    }
  }
  void link(const std::string& name, const std::string& to) {
    fs::create_directories((fs::path(root_) / name).parent_path());
    fs::create_directory_symlink(devices() / to, fs::path(root_) / name);
  }
  /// The test's files are on this block device.
  void mount(const std::string& block) {
    struct stat found;
    ASSERT_EQ(stat(file_.c_str(), &found), 0);
    const std::string name =
        "sys/dev/block/" + std::to_string(major(found.st_dev)) + ":" + std::to_string(minor(found.st_dev));
    fs::remove(fs::path(root_) / name);
    link(name, block);
  }
  std::string order(const std::string& optimal, const std::string& path) const {
    std::string numbers;
    for (const DeviceRow& row : order_devices(rows_, parse_optimal_devices(optimal).value(), path, root_))
      numbers += std::to_string(row.number);
    return numbers;
  }
  static DeviceRow row(uint32_t number, const std::string& address) {
    DeviceRow row;
    row.number = number;
    row.address = address;
    return row;
  }

  const Folder folder_;
  const std::string root_ = folder_.path("root"), file_ = folder_.path("file");
  std::vector<DeviceRow> rows_ = {row(0, "0000:03:00.0"), row(1, "0000:83:00.0"), row(2, "0000:00:05.0")};
};

TEST_F(Order, disks) {
  EXPECT_EQ(disks_of(file_, root_), std::vector<std::string>{"nvme0n1"});
  EXPECT_TRUE(disks_of("/nowhere", root_).empty());
  EXPECT_TRUE(disks_of(file_, folder_.path("elsewhere")).empty());
  // A RAID of both.
  add("virtual/block/md0/slaves", 0);
  fs::create_directory_symlink(devices() / "pci0000:00/0000:00:01.0/0000:02:00.0/nvme/nvme0/nvme0n1/nvme0n1p1",
                               devices() / "virtual/block/md0/slaves/nvme0n1p1");
  fs::create_directory_symlink(devices() / "pci0000:80/0000:80:01.0/0000:82:00.0/nvme/nvme1/nvme1n1",
                               devices() / "virtual/block/md0/slaves/nvme1n1");
  mount("virtual/block/md0");
  EXPECT_EQ(disks_of(file_, root_), (std::vector<std::string>{"nvme0n1", "nvme1n1"}));
}

TEST_F(Order, distances) {
  const int same_bridge = distance("nvme0n1", "0000:03:00.0", root_);
  const int same_bus = distance("nvme0n1", "0000:00:05.0", root_);
  const int other_processor = distance("nvme0n1", "0000:83:00.0", root_);
  EXPECT_GT(same_bridge, 0);
  EXPECT_GT(same_bus, same_bridge);
  EXPECT_GT(other_processor, same_bus);
  EXPECT_EQ(distance("nvme1n1", "0000:83:00.0", root_), same_bridge);
  EXPECT_EQ(distance("nvme9n1", "0000:83:00.0", root_), 0);
  EXPECT_EQ(distance("nvme0n1", "0000:99:00.0", root_), 0);
  EXPECT_EQ(distance("nvme0n1", "", root_), 0);
}

TEST_F(Order, nearest_first_then_the_least_loaded) {
  EXPECT_EQ(order("", file_), "021");
  EXPECT_EQ(order("", ""), "012");
  rows_[0].running = 2;
  rows_[1].queued = 1;
  EXPECT_EQ(order("", ""), "210");
  EXPECT_EQ(order("", file_), "021");
  rows_[0].running = 1;
  rows_[0].memory_used = 5;
  EXPECT_EQ(order("", ""), "210");
}

TEST_F(Order, lists_come_first) {
  EXPECT_EQ(order("nvme0=gpu1", file_), "1");
  EXPECT_EQ(order("nvme0n1=gpu1:gpu2", file_), "21");
  EXPECT_EQ(order("nvme1=gpu1,nvme=gpu1", file_), "021");
  EXPECT_EQ(order("nvme0=gpu1," + folder_.path("") + "=gpu2", file_), "2");
  EXPECT_EQ(order("/=gpu0," + file_ + "=gpu1", file_), "1");
  EXPECT_EQ(order(file_.substr(0, file_.size() - 1) + "=gpu1", file_), "021");  // not a folder above it
  EXPECT_EQ(order("nvme0=gpu7", file_), "021");                                 // which is not there
  EXPECT_EQ(order("/=gpu1", ""), "012");
}

TEST_F(Order, nearest_devices) {
  const auto nearest = [&](const std::string& optimal, const std::string& path) {
    return nearest_devices(rows_, parse_optimal_devices(optimal).value(), path, root_);
  };
  EXPECT_EQ(nearest("", file_), (std::vector<uint32_t>{0}));
  EXPECT_EQ(nearest("nvme0=gpu1:gpu2", file_), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(nearest("nvme0=gpu7", file_), (std::vector<uint32_t>{0}));
  EXPECT_TRUE(nearest("", "").empty());
  EXPECT_TRUE(nearest_devices({}, {}, file_, root_).empty());
}

TEST_F(Order, of_several_files) {
  const auto numbers = [&](const std::string& optimal, const std::vector<std::string>& paths) {
    std::string numbers;
    for (const DeviceRow& row : order_devices(rows_, parse_optimal_devices(optimal).value(), paths, root_))
      numbers += std::to_string(row.number);
    return numbers;
  };
  EXPECT_EQ(numbers("/a=gpu1,/b=gpu2", {"/a/x", "/b/y"}), "12");  // no others
  EXPECT_EQ(numbers("/a=gpu1,/b=gpu1", {"/a/x", "/b/y"}), "1");
  EXPECT_EQ(numbers("/a=gpu1", {"/a/x", file_}), "102");
  EXPECT_EQ(numbers("", {file_}), "021");
}

}  // namespace
}  // namespace strom::service::test
