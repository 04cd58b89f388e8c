// Facts about NVIDIA GPUs from the kernel, without CUDA and without use of the driver. For the SQL functions that show
// GPUs and what is missing for them: they run in processes that must not load CUDA.
#pragma once

#include <string>
#include <vector>

namespace strom::device {

struct NvidiaGpu {
  std::string address;  // on the PCI bus: "0000:01:00.0"
  std::string name;     // as its driver calls it; empty without a driver
  std::string driver;   // kernel driver: "nvidia", "nouveau", "vfio-pci", or empty
};

struct NvidiaDriver {
  std::vector<NvidiaGpu> gpus;             // in order of addresses
  std::string version;                     // of the kernel module, "580.65.06"; empty: not loaded
  std::vector<std::string> missing_files;  // files of /dev that the driver needs
  std::vector<std::string> closed_files;   // files of /dev that this process may not open
  std::string cuda_library;                // path of libcuda.so.1, empty: not found
  std::string cufile_library;              // path of libcufile.so.0, empty: not found
  std::string nvidia_fs_version;           // kernel module of GPUDirect Storage; empty: not loaded

  /// The number before the version's first point; 0 when the module is not loaded.
  int branch() const;
};

/// CUDA 13 needs a driver of this branch or a later one.
inline constexpr int kOldestDriverBranch = 580;

/// `root` is put before every path, for tests.
NvidiaDriver inspect_nvidia_driver(const std::string& root = "");

}  // namespace strom::device
