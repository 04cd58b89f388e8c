// The SQL function pgstrom.storage_check(): shows how a file reaches the GPU. See sql/storage.sql.
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/mapped_file.hpp"
#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/files/options.hpp"
#include "pg/guc/guc.hpp"
#include "pg/gpu/gpu_session.hpp"
#include "pg/sqlfn/findings_output.hpp"
#include "service/remote_device.hpp"

namespace boundary = strom::pg::boundary;
namespace guc = strom::pg::guc;
using boundary::guard;
using strom::ErrorCode;
using strom::Status;
using strom::service::Descriptor;
using namespace strom::pg::sqlfn;

namespace {

/// The first regular file of a folder, by name; empty when there is none.
std::string file_in(const std::string& folder) {
  std::error_code error;
  std::string first;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    boundary::check_for_interrupts();
    std::error_code unknown;
    if (!entry->is_regular_file(unknown) || entry->is_symlink(unknown)) continue;
    const std::string path = entry->path();
    if (first.empty() || path < first) first = path;
  }
  if (error)
    throw boundary::StatusError(strom::base::os_error(error.value(), "could not read folder \"" + folder + "\""));
  return first;
}

/// Why a file cannot be read without the page cache; empty when it can.
std::string try_direct_io(const std::string& path, uint64_t size) {
  constexpr size_t kBytes = 4096;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const int failed = file.is_open() ? 0 : errno;
  if (failed != 0) return std::string("The file cannot be opened with it: ") + std::strerror(failed);
  if (size == 0) return "";
  const std::unique_ptr<void, decltype(&std::free)> buffer(std::aligned_alloc(kBytes, kBytes), &std::free);
  if (buffer == nullptr) throw std::bad_alloc();
  if (pread(file.get(), buffer.get(), kBytes, 0) >= 0) return "";
  return std::string("The file cannot be read with it: ") + std::strerror(errno);
}

/// Tries only the system call, because sessions do not use more of io_uring.
std::string try_io_uring() {
  io_uring_params parameters;
  std::memset(&parameters, 0, sizeof parameters);
  const Descriptor ring(static_cast<int>(syscall(__NR_io_uring_setup, 1, &parameters)));
  return ring.is_open() ? "" : std::string("It cannot be used: ") + std::strerror(errno);
}

void ask_service(int descriptor, StorageFacts* facts) {
  using strom::service::RemoteDevice;
  const auto connected = RemoteDevice::connect(strom::pg::gpu::gpu_client_options());
  if (!connected.is_ok()) {
    facts->no_service = connected.status().message();
    return;
  }
  const auto answer = connected.value()->ask_about_file(descriptor, facts->file, [] {
    boundary::check_for_interrupts();
    return true;
  });
  if (!answer.is_ok()) {
    facts->no_service = "the GPU service does not take it: " + answer.status().message();
    return;
  }
  using Way = StorageFacts::Way;
  switch (answer.value().way) {
    case strom::service::StorageWay::kCuFile: facts->way = Way::kCuFile; break;
    case strom::service::StorageWay::kIoUring: facts->way = Way::kIoUring; break;
    case strom::service::StorageWay::kPread: facts->way = Way::kPread; break;
  }
  facts->cufile = answer.value().cufile;
  facts->no_better_way = answer.value().why_not;
}

StorageFacts facts_of(const std::string& path) {
  StorageFacts facts;
  struct stat found;
  if (stat(path.c_str(), &found) != 0)
    throw boundary::StatusError(strom::base::os_error(errno, "could not look at \"" + path + "\""));
  if (S_ISDIR(found.st_mode))
    facts.file = file_in(path);
  else if (S_ISREG(found.st_mode))
    facts.file = path;
  else
    throw boundary::StatusError(
        Status(ErrorCode::kInvalidParameter, "\"" + path + "\" is neither a file nor a folder"));
  facts.is_enabled = guc::pg_strom::gpudirect_enabled;
  facts.driver = strom::device::inspect_nvidia_driver();
  facts.no_io_uring = try_io_uring();
  std::ifstream("/proc/sys/kernel/io_uring_disabled") >> facts.io_uring_setting;
  const std::string looked_at = facts.file.empty() ? path : facts.file;
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(looked_at.c_str(), nullptr), &std::free);
  if (real != nullptr && stat(real.get(), &found) == 0)
    facts.place = strom::device::inspect_storage(real.get(), found.st_dev);
  if (facts.file.empty()) {
    facts.no_service = "there is no file to ask the GPU service about";
    return facts;
  }
  const auto mapping = boundary::value_or_throw(strom::base::MappedFile::open(facts.file));
  facts.size = static_cast<uint64_t>(mapping->size());
  facts.is_resident = facts.size == 0 || mapping->is_resident(mapping->data(), facts.size);
  facts.no_direct_io = try_direct_io(facts.file, facts.size);
  const Descriptor descriptor(mapping->new_descriptor());
  ask_service(descriptor.get(), &facts);
  return facts;
}

}  // namespace

/// pgstrom.storage_check(path) -> setof (check, status, detail, fix)
STROM_SQL_FUNCTION(strom_storage_check) {
  guard([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  strom::pg::files::require_file_privilege();
  const std::string path = guard([fcinfo] { return text_to_cstring(PG_GETARG_TEXT_PP(0)); });
  put_findings(check_storage(facts_of(path)), reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo));
  return Datum{0};
}
