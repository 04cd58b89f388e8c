#include "device/nvidia_driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace strom::device {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// The first word that looks like 580.65.06.
std::string version_in(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  while (words >> word)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  return {};
}

/// Model of a GPU from a line `Model:   NVIDIA H200` of its file in /proc.
std::string model_in(const std::string& path) {
  constexpr char kKey[] = "Model:";
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(kKey, 0) != 0) continue;
    const size_t begin = line.find_first_not_of(" \t", sizeof kKey - 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

// Looks for display controllers (class 03) of vendor 10de. Containers may hide the bus and still have the driver's
// /proc.
std::vector<NvidiaGpu> find_gpus(const std::string& root) {
  const std::string bus = root + "/sys/bus/pci/devices/", known = root + "/proc/driver/nvidia/gpus/";
  std::vector<NvidiaGpu> gpus;
  for (const std::string& address : names_in(bus)) {
    if (first_line(bus + address + "/vendor") != "0x10de") continue;
    if (first_line(bus + address + "/class").rfind("0x03", 0) != 0) continue;
    std::error_code error;
    gpus.push_back({address, "", fs::read_symlink(bus + address + "/driver", error).filename()});
  }
  for (const std::string& address : names_in(known)) {
    auto found = std::find_if(gpus.begin(), gpus.end(), [&](const NvidiaGpu& gpu) { return gpu.address == address; });
    if (found == gpus.end()) found = gpus.insert(gpus.end(), {address, "", "nvidia"});
    found->name = model_in(known + address + "/information");
  }
  return gpus;
}

std::string find_library(const std::string& root, const std::string& name) {
  std::vector<std::string> folders = {
      "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",      "/usr/lib",
      "/lib/x86_64-linux-gnu",     "/usr/local/cuda/lib64",      "/usr/lib/wsl/lib"};
  if (const char* more = std::getenv("LD_LIBRARY_PATH"); more != nullptr && root.empty()) {
    std::istringstream paths(more);
    for (std::string path; std::getline(paths, path, ':');)
      if (!path.empty()) folders.insert(folders.begin(), path);
  }
  for (const std::string& folder : folders)
    if (const std::string path = root + folder + "/" + name; access(path.c_str(), R_OK) == 0) return path;
  return {};
}

}  // namespace

int NvidiaDriver::branch() const { return std::atoi(version.c_str()); }

NvidiaDriver inspect_nvidia_driver(const std::string& root) {
  NvidiaDriver driver;
  driver.gpus = find_gpus(root);
  driver.version = version_in(first_line(root + "/proc/driver/nvidia/version"));
  if (!driver.version.empty()) {
    for (const char* name : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"}) {
      const std::string path = root + name;
      if (access(path.c_str(), F_OK) != 0)
        driver.missing_files.push_back(path);
      else if (access(path.c_str(), R_OK | W_OK) != 0)
        driver.closed_files.push_back(path);
    }
  }
  driver.cuda_library = find_library(root, "libcuda.so.1");
  driver.cufile_library = find_library(root, "libcufile.so.0");
  driver.nvidia_fs_version = version_in(first_line(root + "/proc/driver/nvidia-fs/version"));
  return driver;
}

}  // namespace strom::device
