// Where a file is stored, as the kernel tells it: mount, file system, disks. For pgstrom.storage_check(), in processes
// that must not load CUDA.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace strom::device {

struct Disk {
  std::string name;       // "nvme0n1"
  std::string kind;       // "NVMe", "virtio", "SCSI or SATA"; empty: unknown
  std::string transport;  // of NVMe: "pcie", "rdma", "tcp"; empty: unknown
  int numa_node = -1;     // the disk's NUMA node; -1: unknown
};

struct StoragePlace {
  std::string mount_point, file_system;  // "/data", "ext4"; empty: not found
  std::string source;                    // "/dev/nvme0n1p1", "server:/export"
  std::string options;                   // of mount and file system: "rw,noatime,proto=rdma"
  std::vector<std::string> layers;       // between file system and disks: "md0 (raid0)"
  std::vector<Disk> disks;

  bool is_nfs() const { return file_system == "nfs" || file_system == "nfs4"; }
  /// The value of a mount option; empty without that option.
  std::string option(const std::string& name) const;
};

/// Inspects the place of a file. `path` is absolute and has no symbolic links, `device` is its device (stat). `root` is
/// put before every path that is read, for tests.
StoragePlace inspect_storage(const std::string& path, dev_t device, const std::string& root = "");

}  // namespace strom::device
