#include "pg/store/control.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/store/published.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::store {

namespace {

/// The names of this cluster's memory files begin like this. A copy of a cluster has the same identifier, but another
/// folder.
std::string memory_prefix() {
  struct stat folder{};
  if (stat(DataDir, &folder) != 0)
    boundary::throw_if_failed(base::os_error(errno, "could not examine the data folder"));
  char name[NAME_MAX];
  snprintf(name, sizeof(name), "pg_strom.%016" PRIx64 ".%" PRIx64 ".%" PRIx64 ".",
           static_cast<uint64_t>(GetSystemIdentifier()), static_cast<uint64_t>(folder.st_dev),
           static_cast<uint64_t>(folder.st_ino));
  return name;
}

std::vector<std::string> files_of_cluster() {
  const std::string prefix = memory_prefix();
  std::vector<std::string> paths;
  DIR* folder = opendir(kMemoryFolder);
  if (folder == nullptr) return paths;
  while (const struct dirent* entry = readdir(folder))
    if (std::string_view(entry->d_name).substr(0, prefix.size()) == prefix)
      paths.push_back(std::string(kMemoryFolder) + "/" + entry->d_name);
  closedir(folder);
  return paths;
}

constexpr const char* kUnfinished = ".new";

}  // namespace

Control* control() {
  static Control* found = nullptr;
  if (found != nullptr) return found;
  bool is_new = false;
  auto* shared = boundary::guard([&is_new] {
    bool found_before;
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    auto* memory = static_cast<Control*>(ShmemInitStruct("pg_strom memory store", sizeof(Control), &found_before));
    is_new = !found_before;
    if (is_new) {
      memory->tranche = LWLockNewTrancheId();
      memory->worker = 0;
      memory->has_recovered = 0;
      memory->rights_done = 0;
      memory->socket[0] = '\0';
      std::memset(&memory->tokens, 0, sizeof(memory->tokens));
      SpinLockInit(&memory->tokens.mutex);
      std::memset(&memory->message_servers, 0, sizeof(memory->message_servers));
      SpinLockInit(&memory->message_servers.mutex);
      if (!pg_strong_random(&memory->incarnation, sizeof(memory->incarnation)))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate a random number")));
    }
    LWLockRelease(AddinShmemInitLock);
    LWLockRegisterTranche(memory->tranche, "PgStromStore");
    return memory;
  });
  // No other session can have made memory of this run before.
  if (is_new)
    for (const std::string& path : files_of_cluster()) {
      if (is_region_path(path)) retire_region_file(path, ::strom::store::region::State::kMoved);
      unlink(path.c_str());
    }
  found = shared;
  return found;
}

std::string memory_path(Oid database, Oid relid) {
  return std::string(kMemoryFolder) + "/" + memory_prefix() + std::to_string(database) + "." + std::to_string(relid);
}

std::string memory_path(Oid relid) { return memory_path(MyDatabaseId, relid); }

bool has_memory(Oid relid) {
  return boundary::entry([relid] {
    const std::string path = memory_path(relid);
    const auto is_there = [&path] { return access(path.c_str(), F_OK) == 0; };
    if (!is_there()) return false;
    control();  // removes memory of earlier runs
    return is_there();
  });
}

std::vector<std::string> memory_of_cluster() {
  std::vector<std::string> paths = files_of_cluster();
  std::erase_if(paths, [](const std::string& path) { return path.ends_with(kUnfinished) || is_region_path(path); });
  return paths;
}

void remove_memory(const std::string& path) {
  for (const std::string& other : files_of_cluster())
    if (is_region_path(other) && other.starts_with(path + "."))
      retire_region_file(other, ::strom::store::region::State::kMoved);
  unlink(path.c_str());
}

Oid database_of_memory(const std::string& path) {
  const size_t relation = path.rfind('.'), database = path.rfind('.', relation - 1) + 1;
  return static_cast<Oid>(std::stoul(path.substr(database, relation - database)));
}

Oid relation_of_memory(const std::string& path) {
  return static_cast<Oid>(std::stoul(path.substr(path.rfind('.') + 1)));
}

std::vector<Oid> tables_with_memory(Oid database) {
  std::vector<Oid> found;
  for (const std::string& path : memory_of_cluster())
    if (database_of_memory(path) == database) found.push_back(relation_of_memory(path));
  return found;
}

}  // namespace strom::pg::store
