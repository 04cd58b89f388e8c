// What pgstrom.storage_check() says of storage that the tests do not have.
#include <gtest/gtest.h>

#include <algorithm>

#include "pg/sqlfn/findings.hpp"

namespace strom::pg::sqlfn {
namespace {

using Way = StorageFacts::Way;

Finding found(const StorageFacts& facts, const std::string& check) {
  const std::vector<Finding> findings = check_storage(facts);
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.detail.empty());
    EXPECT_TRUE(finding.health != Health::kOk || finding.fix.empty()) << finding.check;
    if (finding.check == check) return finding;
  }
  ADD_FAILURE() << check;
  return {};
}

/// NVMe, XFS, nvidia-fs, a service.
StorageFacts best() {
  StorageFacts facts;
  facts.place = {"/data",      "xfs",           "/dev/md0",
                 "rw,noatime", {"md0 (raid0)"}, {{"nvme0n1", "NVMe", "pcie", 0}, {"nvme1n1", "NVMe", "rdma", 1}}};
  facts.driver.gpus = {{"0000:01:00.0", "NVIDIA H200", "nvidia"}};
  facts.driver.cufile_library = "/usr/lib64/libcufile.so.0";
  facts.driver.nvidia_fs_version = "2.25.7";
  facts.file = "/data/a.arrow";
  facts.size = 1 << 30;
  facts.way = Way::kCuFile;
  facts.cufile = "cuFile 1.15 with nvidia-fs 2.25";
  return facts;
}

TEST(StorageFindings, all_is_well) {
  for (const Finding& finding : check_storage(best())) EXPECT_EQ(finding.health, Health::kOk) << finding.check;
  EXPECT_EQ(found(best(), "storage").detail,
            "md0 (raid0) on nvme0n1 (NVMe over pcie) at NUMA node 0, nvme1n1 (NVMe over rdma) at NUMA node 1.");
  EXPECT_EQ(found(best(), "file").detail, "/data/a.arrow, 1024MB, not all of it in the page cache.");
}

TEST(StorageFindings, nfs) {
  StorageFacts facts = best();
  facts.place = {"/nfs", "nfs4", "server:/export", "rw,vers=4.2,proto=rdma,port=20049", {}, {}};
  EXPECT_EQ(found(facts, "file system").detail, "nfs4 at /nfs (server:/export), version 4.2, over RDMA.");
  EXPECT_EQ(found(facts, "file system").health, Health::kOk);
  EXPECT_EQ(found(facts, "storage").health, Health::kOk);
  facts.place.options = "rw,vers=4.2,proto=tcp";
  EXPECT_EQ(found(facts, "file system").health, Health::kNote);
  EXPECT_EQ(found(facts, "file system").fix,
            "umount /nfs && mount -t nfs -o proto=rdma,port=20049 server:/export /nfs");
}

TEST(StorageFindings, storage_that_is_not_for_it) {
  StorageFacts facts = best();
  facts.place.layers = {"dm-0 (vg-data)"};
  EXPECT_EQ(found(facts, "storage").health, Health::kNote);
  facts.place.layers.clear();
  EXPECT_EQ(found(facts, "storage").health, Health::kOk);
  facts.place.disks = {{"sda", "SCSI or SATA", "", -1}};
  EXPECT_EQ(found(facts, "storage").health, Health::kNote);
  facts.place.disks.clear();
  EXPECT_EQ(found(facts, "storage").detail, "No disk of this machine.");
  facts.place.file_system = "ext4";
  facts.place.options = "rw,data=journal";
  EXPECT_NE(found(facts, "file system").fix, "");
  facts.place.file_system = "lustre";
  EXPECT_EQ(found(facts, "file system").health, Health::kOk);
  facts.place.file_system = "tmpfs";
  EXPECT_EQ(found(facts, "file system").health, Health::kNote);
  facts.place = {};
  EXPECT_EQ(found(facts, "file system").health, Health::kWarning);
}

TEST(StorageFindings, what_is_missing) {
  StorageFacts facts = best();
  facts.driver.nvidia_fs_version = "";
  EXPECT_EQ(found(facts, "cuFile").fix, "apt-get install nvidia-fs-dkms && modprobe nvidia-fs");
  facts.driver.cufile_library = facts.cufile = "";
  EXPECT_EQ(found(facts, "cuFile").fix, "apt-get install libcufile0");
  facts.way = Way::kIoUring;
  facts.no_better_way = "libcufile could not be loaded";
  EXPECT_EQ(found(facts, "way").health, Health::kOk);
  EXPECT_NE(found(facts, "way").detail.find("by io_uring into pinned memory, because: libcufile could not be loaded."),
            std::string::npos);
  facts.way = Way::kPread;
  EXPECT_EQ(found(facts, "way").health, Health::kNote);
  facts.driver.gpus.clear();
  EXPECT_EQ(found(facts, "cuFile").detail, "There is no NVIDIA GPU.");
  facts.way = Way::kSession;
  facts.no_service = "nobody listens";
  EXPECT_EQ(found(facts, "way").detail, "Sessions read it: nobody listens.");
  facts.is_enabled = false;
  EXPECT_EQ(found(facts, "way").fix, "SET pg_strom.gpudirect_enabled = on;");
  facts.no_direct_io = "The file cannot be opened with it: Invalid argument";
  EXPECT_EQ(found(facts, "O_DIRECT").health, Health::kNote);
  facts.no_io_uring = "It cannot be used: Operation not permitted";
  EXPECT_NE(found(facts, "io_uring").detail.find("seccomp"), std::string::npos);
  facts.io_uring_setting = "2";
  EXPECT_EQ(found(facts, "io_uring").fix, "sysctl -w kernel.io_uring_disabled=0");
}

TEST(StorageFindings, an_empty_folder) {
  StorageFacts facts = best();
  facts.file = "";
  EXPECT_EQ(found(facts, "file").health, Health::kNote);
  const auto findings = check_storage(facts);
  EXPECT_TRUE(std::none_of(findings.begin(), findings.end(),
                           [](const Finding& finding) { return finding.check == "O_DIRECT"; }));
}

}  // namespace
}  // namespace strom::pg::sqlfn
