// NVIDIA's cuFile (GPUDirect Storage): reads of files right into device memory, where the storage can do that. Opened
// by dlopen, in the GPU service only. cuFile itself decides how it reads a file: one that it accepts may still go
// through host memory in its compatibility mode.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.hpp"

namespace strom::device {

struct CuFileTable;

struct CuFileFacts {
  int version = 0;            // 1150 is 1.15; 0: unknown
  unsigned driver_major = 0;  // kernel module nvidia-fs; 0: not there, all goes through host memory or PCI P2PDMA
  unsigned driver_minor = 0;
  bool allows_compatibility = false;  // reads through host memory where direct ones cannot be
};

/// The library, with its driver open. It stays in the process.
class CuFile {
 public:
  /// `library` is a name or path, empty: "libcufile.so.0". Messages of the library go to `log` unless the environment
  /// says where (CUFILE_LOGFILE_PATH). The calling thread must have called Device::use(). kFileNotFound: there is no
  /// library; kUnsupported: it cannot be used here, and why.
  static Result<std::shared_ptr<const CuFile>> open(const std::string& library, const std::string& log);

  const CuFileFacts& facts() const { return facts_; }

 private:
  friend class CuFileHandle;
  CuFile() = default;
  std::shared_ptr<const CuFileTable> table_;
  CuFileFacts facts_;
};

/// A file that cuFile reads. For any thread that has called Device::use().
class CuFileHandle {
 public:
  /// The descriptor stays open as long as the handle. kUnsupported: cuFile rejects the file, and why.
  static Result<std::unique_ptr<CuFileHandle>> create(std::shared_ptr<const CuFile> library, int descriptor);
  ~CuFileHandle();
  CuFileHandle(const CuFileHandle&) = delete;
  CuFileHandle& operator=(const CuFileHandle&) = delete;

  /// Reads to `offset` bytes behind `device`, the beginning of an allocation. Returns the bytes read, fewer at the end
  /// of the file; -1: failure.
  ssize_t read(void* device, size_t offset, size_t bytes, uint64_t file_offset) const;

 private:
  CuFileHandle(std::shared_ptr<const CuFile> library, void* handle) : library_(std::move(library)), handle_(handle) {}
  const std::shared_ptr<const CuFile> library_;
  void* const handle_;
};

}  // namespace strom::device
