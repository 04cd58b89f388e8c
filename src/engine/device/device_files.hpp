// Parts of mapped files that a device reads by itself, so that the host need not copy them. Used by
// device/device_columns.cpp; docs/dev/storage.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/mapped_file.hpp"
#include "engine/device/device.hpp"

namespace strom::engine::device {

/// Files of one pipeline. Any thread.
class DeviceFiles {
 public:
  static constexpr size_t kPage = 4096;
  /// How much larger than a buffer the buffer's part of a file can be.
  static constexpr size_t kSlack = 3 * kPage;

  explicit DeviceFiles(Device* device) : device_(device) {}

  /// Whole pages of a file; only the last one may be shorter.
  struct FilePart {
    std::shared_ptr<const DeviceFile> file;
    uint64_t begin, end;  // in the file
    size_t lead;          // bytes before the ones asked for
  };
  /// The part of a file with these bytes, which the device is to read. The bytes lie at a multiple of `align` (at most
  /// a page) in the file. nullopt: the host has to copy the bytes, and they are being read ahead for it. kCancelled,
  /// kDeviceLost.
  Result<std::optional<FilePart>> find(const void* data, size_t bytes, size_t align,
                                       const Device::KeepGoing& keep_going);

  /// Bytes of the parts that were found so far.
  int64_t bytes() const { return bytes_; }

 private:
  struct File {
    base::FileIdentity identity;
    std::shared_ptr<const DeviceFile> file;  // nullptr: the device cannot read it
  };
  Result<std::shared_ptr<const DeviceFile>> open(const base::MappedFile& mapping, const Device::KeepGoing& keep_going);

  Device* const device_;
  std::mutex mutex_;
  std::vector<File> files_;  // the latest last
  std::atomic<int64_t> bytes_ = 0;
};

/// Reads ahead bytes that the host is to copy, if they lie in a mapped file.
void read_ahead(const void* data, size_t bytes);

}  // namespace strom::engine::device
