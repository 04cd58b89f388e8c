#include "service/session_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/os_error.hpp"
#include "service/local_device.hpp"

namespace strom::service {
namespace {

/// A file in memory of a fixed size, so that its mappings are safe.
Result<Descriptor> memory_file(size_t bytes) {
  Descriptor file(memfd_create("pg_strom_gpu", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open() || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return base::os_error(errno, "could not make memory to share with a client");
  return file;
}

}  // namespace

Result<std::shared_ptr<SharedRegion>> SharedRegion::create(const device::Device& device, size_t bytes,
                                                           Mirror mirrored) {
  STROM_ASSIGN(device::DeviceMemory memory, allocate_if_free(device, bytes));
  if (mirrored == Mirror::kNone)
    return std::shared_ptr<SharedRegion>(new SharedRegion(std::move(memory), nullptr, bytes, {}, {}));
  STROM_ASSIGN(Descriptor file, memory_file(bytes));
  void* mirror = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mirror == MAP_FAILED) return base::os_error(errno, "could not map memory to share with a client");
  // Copies work without, only slower: where RLIMIT_MEMLOCK or a driver is against it.
  Result<device::RegisteredMemory> registered = device::RegisteredMemory();
  if (mirrored == Mirror::kPinned) registered = device.register_host(mirror, bytes);
  if (!registered.is_ok() && registered.status().code() == ErrorCode::kDeviceLost) {
    munmap(mirror, bytes);
    return registered.status();
  }
  return std::shared_ptr<SharedRegion>(
      new SharedRegion(std::move(memory), static_cast<char*>(mirror), bytes, std::move(file),
                       registered.is_ok() ? std::move(registered).value() : device::RegisteredMemory()));
}

SharedRegion::SharedRegion(device::DeviceMemory memory, char* mirror, size_t size, Descriptor file,
                           device::RegisteredMemory registered)
    : DeviceRegion(static_cast<char*>(memory.get()), mirror, size),
      memory_(std::move(memory)),
      file_(std::move(file)),
      registered_(std::move(registered)) {}

SharedRegion::~SharedRegion() {
  registered_ = {};
  if (host_ != nullptr) munmap(host_, size_);
}

Result<Descriptor> SharedRegion::copy_file(bool is_written) const {
  if (!file_.is_open()) return Descriptor();
  const std::string path = "/proc/self/fd/" + std::to_string(file_.get());
  Descriptor copy(is_written ? fcntl(file_.get(), F_DUPFD_CLOEXEC, 0) : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!copy.is_open()) return base::os_error(errno, "could not share memory with a client");
  return copy;
}

bool SessionMemory::holds(uint32_t session, uint64_t address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return false;
  for (const auto& [number, region] : found->second) {
    const uint64_t offset = address - reinterpret_cast<uint64_t>(region->device());
    if (offset < region->size() && bytes <= region->size() - offset) return true;
  }
  return false;
}

}  // namespace strom::service
