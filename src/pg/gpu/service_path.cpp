#include "pg/gpu/service_path.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "device/nvidia_driver.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::gpu {
namespace {

constexpr size_t kLongestSocketPath = 100;  // of 108 bytes; leaves room for the lock's longer name

/// The first folder of unix_socket_directories, split as PostgreSQL's SplitDirectoriesString() does; empty when there
/// is none.
std::string socket_folder() {
  const std::string all = Unix_socket_directories == nullptr ? "" : Unix_socket_directories;
  const size_t begin = all.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  if (all[begin] == '"') return all.substr(begin + 1, all.find('"', begin + 1) - begin - 1);
  std::string folder = all.substr(begin, all.find(',', begin) - begin);
  folder.erase(folder.find_last_not_of(" \t") + 1);
  return folder;
}

}  // namespace

std::string service_socket() {
  const std::string name = "/.s.PG_STROM." + std::to_string(PostPortNumber);
  const std::string folder = socket_folder();
  const bool is_folder = !folder.empty() && folder[0] == '/' && folder.size() + name.size() <= kLongestSocketPath;
  return (is_folder ? folder : std::string(DataDir)) + name;
}

std::string service_program() { return std::string(pkglib_path) + "/pg_strom_gpu_service"; }

// The file is in a folder that base backups leave out.
std::string calibration_file() { return std::string(DataDir) + "/pg_stat_tmp/pg_strom.gpu"; }

std::string device_module() {
  const char* wanted = std::getenv("STROM_DEVICE_MODULE");
  return wanted != nullptr ? wanted : std::string(pkglib_path) + "/pg_strom_cuda.so";
}

bool wants_service() {
  if (std::getenv("STROM_DEVICE_MODULE") != nullptr) return true;
  return access(device_module().c_str(), R_OK) == 0 && !strom::device::inspect_nvidia_driver().gpus.empty();
}

}  // namespace strom::pg::gpu
