// Which of several devices a query takes: by pg_strom.manual_optimal_gpus, by their distance from the storage, and by
// their load. Used by backends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "service/protocol.hpp"

namespace strom::service {

/// Devices for the files on a block device or in a folder.
struct OptimalDevices {
  std::string place;              // "nvme0", "/mnt/nfs"
  std::vector<uint32_t> devices;  // by number
  bool operator==(const OptimalDevices&) const = default;
};

/// "nvme0=gpu0,/mnt/nfs=gpu1:gpu2"; empty: none. kInvalidParameter, with what is wrong.
Result<std::vector<OptimalDevices>> parse_optimal_devices(std::string_view text);

/// Disks that the file is on, by the kernel's names ("nvme0n1"): those of its partition, and below a RAID or a volume;
/// none for files that are on no block device. `root` is put before every path of the kernel's, for tests.
std::vector<std::string> disks_of(const std::string& path, const std::string& root = "");

/// Bridges between a disk and a device on the PCI bus, more where they are on different processors; 0 when nothing is
/// known of one of them.
int distance(const std::string& disk, const std::string& address, const std::string& root = "");

/// The devices for a query over the file `path` (empty: over none), best first: only those that the setting names for
/// it, else all of them, the nearest first; among equals those with the least to do.
std::vector<DeviceRow> order_devices(std::vector<DeviceRow> devices, const std::vector<OptimalDevices>& optimal,
                                     const std::string& path, const std::string& root = "");

/// Numbers of the devices that are as near to the file as any, or that the setting names for it; empty: all are.
std::vector<uint32_t> nearest_devices(const std::vector<DeviceRow>& devices, const std::vector<OptimalDevices>& optimal,
                                      const std::string& path, const std::string& root = "");

/// The same order for a query over several files: the best for each, then the second ones.
std::vector<DeviceRow> order_devices(const std::vector<DeviceRow>& devices, const std::vector<OptimalDevices>& optimal,
                                     const std::vector<std::string>& paths, const std::string& root = "");

}  // namespace strom::service
