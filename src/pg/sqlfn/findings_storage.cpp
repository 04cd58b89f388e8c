#include <algorithm>
#include <array>

#include "pg/sqlfn/findings.hpp"

namespace strom::pg::sqlfn {
namespace {

using device::Disk;
using device::StoragePlace;

// True for local file systems that cuFile reads directly. For network file systems it depends on their clients.
bool is_local_for_cufile(const StoragePlace& place) {
  return place.file_system == "ext4" || place.file_system == "xfs";
}

bool is_remote_for_cufile(const std::string& file_system) {
  constexpr std::array kKnown = {"lustre", "wekafs", "gpfs", "beegfs", "scatefs"};
  return std::find(kKnown.begin(), kKnown.end(), file_system) != kKnown.end();
}

std::string remount(const StoragePlace& place, const std::string& options) {
  return "umount " + place.mount_point + " && mount -t nfs -o " + options + " " + place.source + " " +
         place.mount_point;
}

Finding file_system_of(const StoragePlace& place) {
  if (place.mount_point.empty())
    return {"file system", Health::kWarning, "The kernel does not tell which one it is.", ""};
  const std::string is = place.file_system + " at " + place.mount_point + " (" + place.source + ")";
  if (place.is_nfs()) {
    const std::string version = place.option("vers");
    const std::string nfs = is + (version.empty() ? "" : ", version " + version);
    if (place.option("proto") == "rdma") return {"file system", Health::kOk, nfs + ", over RDMA.", ""};
    return {"file system", Health::kNote, nfs + ", not over RDMA: cuFile reads it through host memory.",
            remount(place, "proto=rdma,port=20049")};
  }
  if (is_local_for_cufile(place)) {
    if (place.option("data") == "journal")
      return {"file system", Health::kNote, is + " with data=journal: cuFile reads it through host memory.",
              "tune2fs -o journal_data_ordered " + place.source + "   # and mount it again"};
    return {"file system", Health::kOk, is + ".", ""};
  }
  if (is_remote_for_cufile(place.file_system)) return {"file system", Health::kOk, is + ".", ""};
  return {"file system", Health::kNote,
          is + "; cuFile reads local files directly from ext4 and XFS, and others through host memory.", ""};
}

std::string describe(const Disk& disk) {
  std::string text = disk.name;
  if (!disk.kind.empty()) text += " (" + disk.kind + (disk.transport.empty() ? "" : " over " + disk.transport) + ")";
  if (disk.numa_node >= 0) text += " at NUMA node " + std::to_string(disk.numa_node);
  return text;
}

Finding disks_of(const StoragePlace& place) {
  std::string text;
  for (const std::string& layer : place.layers) text += layer + " on ";
  for (size_t i = 0; i < place.disks.size(); ++i) text += (i == 0 ? "" : ", ") + describe(place.disks[i]);
  if (place.is_nfs()) return {"storage", Health::kOk, "The NFS server's.", ""};
  if (place.disks.empty()) return {"storage", Health::kNote, "No disk of this machine.", ""};
  const bool are_fit = std::all_of(place.disks.begin(), place.disks.end(),
                                   [](const Disk& disk) { return disk.kind == "NVMe" && disk.transport != "tcp"; });
  const bool are_plain = std::all_of(place.layers.begin(), place.layers.end(),
                                     [](const std::string& layer) { return layer.ends_with(" (raid0)"); });
  if (!are_fit)
    return {"storage", Health::kNote, text + ": cuFile reads directly from NVMe on the PCIe bus or over RDMA.", ""};
  if (!are_plain)
    return {"storage", Health::kNote, text + ": cuFile reads directly through md raid0, and not through other layers.",
            ""};
  return {"storage", Health::kOk, text + ".", ""};
}

Finding io_uring_of(const StorageFacts& facts) {
  if (facts.no_io_uring.empty()) return {"io_uring", Health::kOk, "It can be used.", ""};
  const bool by_setting = !facts.io_uring_setting.empty() && facts.io_uring_setting != "0";
  return {"io_uring", Health::kNote,
          facts.no_io_uring + (by_setting ? "; kernel.io_uring_disabled is " + facts.io_uring_setting + "."
                                          : "; containers often forbid it by their seccomp profile."),
          by_setting ? "sysctl -w kernel.io_uring_disabled=0" : ""};
}

Finding cufile_of(const StorageFacts& facts) {
  const device::NvidiaDriver& driver = facts.driver;
  if (driver.gpus.empty() && facts.cufile.empty()) return {"cuFile", Health::kNote, "There is no NVIDIA GPU.", ""};
  if (driver.cufile_library.empty() && facts.cufile.empty())
    return {"cuFile", Health::kNote, "libcufile.so.0 was not found.", "apt-get install libcufile0"};
  if (facts.cufile.empty())
    return {"cuFile", Health::kNote, driver.cufile_library + "; only the GPU service can say whether it works.", ""};
  const bool is_used = facts.way == StorageFacts::Way::kCuFile;
  std::string fix;
  if (!driver.gpus.empty() && driver.cufile_library.empty())
    fix = "apt-get install libcufile0";
  else if (!driver.gpus.empty() && driver.nvidia_fs_version.empty())
    fix = "apt-get install nvidia-fs-dkms && modprobe nvidia-fs";
  return {"cuFile", is_used && fix.empty() ? Health::kOk : Health::kNote, facts.cufile + ".", fix};
}

Finding way_of(const StorageFacts& facts) {
  using Way = StorageFacts::Way;
  const std::string rest = " What is in the page cache, text and compressed columns go through the session.";
  if (!facts.is_enabled)
    return {"way", Health::kWarning, "Sessions read it: pg_strom.gpudirect_enabled is off.",
            "SET pg_strom.gpudirect_enabled = on;"};
  switch (facts.way) {
    case Way::kSession: break;
    case Way::kCuFile: return {"way", Health::kOk, "The GPU service reads it by cuFile." + rest, ""};
    case Way::kIoUring:
    case Way::kPread:
      return {"way", facts.way == Way::kIoUring ? Health::kOk : Health::kNote,
              std::string("The GPU service reads it by ") + (facts.way == Way::kIoUring ? "io_uring" : "plain reads") +
                  " into pinned memory, because: " + facts.no_better_way + "." + rest,
              ""};
  }
  return {"way", Health::kNote, "Sessions read it: " + facts.no_service + ".", "SELECT * FROM pgstrom.doctor();"};
}

}  // namespace

std::vector<Finding> check_storage(const StorageFacts& facts) {
  std::vector<Finding> findings;
  if (facts.file.empty())
    findings.push_back({"file", Health::kNote, "The folder has no file to try; this is about its file system.", ""});
  else
    findings.push_back({"file", Health::kOk,
                        facts.file + ", " + size_text(facts.size) +
                            (facts.is_resident ? ", all of it in the page cache: sessions read it from there."
                                               : ", not all of it in the page cache."),
                        ""});
  findings.push_back(file_system_of(facts.place));
  findings.push_back(disks_of(facts.place));
  if (!facts.file.empty())
    findings.push_back(
        facts.no_direct_io.empty()
            ? Finding{"O_DIRECT", Health::kOk, "It can be used.", ""}
            : Finding{"O_DIRECT", Health::kNote, facts.no_direct_io + "; cuFile needs it to read directly.", ""});
  findings.push_back(io_uring_of(facts));
  findings.push_back(cufile_of(facts));
  if (!facts.file.empty() || !facts.is_enabled || facts.way == StorageFacts::Way::kSession)
    findings.push_back(way_of(facts));
  return findings;
}

}  // namespace strom::pg::sqlfn
