#include "device/cufile.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "base/blocked_signals.hpp"

namespace strom::device {

// The part of cufile.h that is used here. It is the same since version 1.0.
namespace {

struct CuFileError {
  int error;       // 0 or above 5000
  int cuda_error;  // of the driver
};

struct CuFileDescriptor {
  int type;
  union {
    int descriptor;
    void* handle;
  } file;
  const void* operations;
};
constexpr int kDescriptorOfLinux = 1;

struct CuFileProperties {
  struct {
    unsigned major_version, minor_version;
    size_t poll_threshold, largest_direct_io;
    unsigned status_flags, control_flags;
  } driver;
  unsigned more[64];  // later versions may write here
};
constexpr unsigned kAllowsCompatibility = 1u << 1;  // of control_flags

}  // namespace

struct CuFileTable {
  CuFileError (*open_driver)();
  CuFileError (*get_properties)(CuFileProperties* properties);
  CuFileError (*get_version)(int* version);  // nullptr before 1.6
  CuFileError (*register_handle)(void** handle, CuFileDescriptor* descriptor);
  void (*deregister_handle)(void* handle);
  ssize_t (*read)(void* handle, void* device, size_t bytes, off_t file_offset, off_t device_offset);
};

namespace {

/// A likely cause of the error; the numbers are those of cufile.h.
std::string describe(const CuFileError& error) {
  const char* text = "see its log";
  switch (error.error) {
    case 5001: text = "the kernel module nvidia-fs is not loaded"; break;
    case 5004: text = "the kernel module nvidia-fs is of another version"; break;
    case 5007: text = "this platform cannot do it"; break;
    case 5008: text = "the file system cannot do it"; break;
    case 5009: text = "this GPU cannot do it"; break;
    case 5011: text = "an error of the CUDA driver"; break;
    case 5018: text = "this type of file cannot do it"; break;
    case 5020: text = "a flag with which the file was opened"; break;
    case 5021:
    case 5025: text = "permission denied"; break;
    case 5029: text = "no GPU was found"; break;
    case 5033: text = "the kernel module nvidia-fs could not be used"; break;
    case 5034: text = "disabled by its configuration"; break;
    default: break;
  }
  return "error " + std::to_string(error.error) + ", " + text;
}

template <class F>
bool find(void* library, const char* name, F* function) {
  *function = reinterpret_cast<F>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

Result<std::shared_ptr<const CuFile>> CuFile::open(const std::string& library, const std::string& log) {
  if (!log.empty()) setenv("CUFILE_LOGFILE_PATH", log.c_str(), 0);
  const base::BlockedSignals blocked;  // the library starts threads, which must not take signals
  void* opened = dlopen(library.empty() ? "libcufile.so.0" : library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (opened == nullptr)
    return Status(ErrorCode::kFileNotFound, "libcufile could not be loaded").with_detail(dlerror());
  auto table = std::make_shared<CuFileTable>();
  if (!find(opened, "cuFileDriverOpen", &table->open_driver) ||
      !find(opened, "cuFileDriverGetProperties", &table->get_properties) ||
      !find(opened, "cuFileHandleRegister", &table->register_handle) ||
      !find(opened, "cuFileHandleDeregister", &table->deregister_handle) || !find(opened, "cuFileRead", &table->read))
    return Status(ErrorCode::kUnsupported, "libcufile lacks a function that is needed");
  find(opened, "cuFileGetVersion", &table->get_version);

  std::shared_ptr<CuFile> cufile(new CuFile);
  if (const CuFileError error = table->open_driver(); error.error != 0)
    return Status(ErrorCode::kUnsupported, "cuFile could not be started: " + describe(error));
  CuFileProperties properties;
  std::memset(&properties, 0, sizeof properties);
  if (table->get_properties(&properties).error == 0) {
    cufile->facts_.driver_major = properties.driver.major_version;
    cufile->facts_.driver_minor = properties.driver.minor_version;
    cufile->facts_.allows_compatibility = (properties.driver.control_flags & kAllowsCompatibility) != 0;
  }
  if (table->get_version != nullptr && table->get_version(&cufile->facts_.version).error != 0)
    cufile->facts_.version = 0;
  cufile->table_ = std::move(table);
  return std::shared_ptr<const CuFile>(std::move(cufile));
}

Result<std::unique_ptr<CuFileHandle>> CuFileHandle::create(std::shared_ptr<const CuFile> library, int descriptor) {
  CuFileDescriptor wanted;
  std::memset(&wanted, 0, sizeof wanted);
  wanted.type = kDescriptorOfLinux;
  wanted.file.descriptor = descriptor;
  void* handle = nullptr;
  const base::BlockedSignals blocked;
  if (const CuFileError error = library->table_->register_handle(&handle, &wanted); error.error != 0)
    return Status(ErrorCode::kUnsupported, "cuFile does not take the file: " + describe(error));
  return std::unique_ptr<CuFileHandle>(new CuFileHandle(std::move(library), handle));
}

CuFileHandle::~CuFileHandle() { library_->table_->deregister_handle(handle_); }

ssize_t CuFileHandle::read(void* device, size_t offset, size_t bytes, uint64_t file_offset) const {
  const ssize_t done =
      library_->table_->read(handle_, device, bytes, static_cast<off_t>(file_offset), static_cast<off_t>(offset));
  return done < 0 ? -1 : done;
}

}  // namespace strom::device
