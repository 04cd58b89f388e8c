#include "engine/device/device_files.hpp"

#include <unistd.h>

#include <algorithm>

namespace strom::engine::device {
namespace {

constexpr size_t kLeastBytes = 64 << 10;  // a copy of fewer bytes is faster than a request to the device
constexpr size_t kMostFiles = 64;         // open at the same time

}  // namespace

Result<std::optional<DeviceFiles::FilePart>> DeviceFiles::find(const void* data, size_t bytes, size_t align,
                                                               const Device::KeepGoing& keep_going) {
  const std::shared_ptr<const base::MappedFile> mapping = base::MappedFile::find(data, bytes);
  if (mapping == nullptr) return std::optional<FilePart>();
  const auto* begin = static_cast<const uint8_t*>(data);
  const auto offset = static_cast<uint64_t>(begin - mapping->data());
  if (mapping->is_resident(begin, bytes)) return std::optional<FilePart>();
  if (bytes >= kLeastBytes && offset % align == 0) {
    STROM_ASSIGN(std::shared_ptr<const DeviceFile> file, open(*mapping, keep_going));
    if (file != nullptr) {
      const uint64_t end = (offset + bytes + kPage - 1) / kPage * kPage;
      FilePart part{std::move(file), offset / kPage * kPage, std::min(end, static_cast<uint64_t>(mapping->size())),
                    static_cast<size_t>(offset % kPage)};
      bytes_ += static_cast<int64_t>(part.end - part.begin);
      return std::optional<FilePart>(std::move(part));
    }
  }
  mapping->will_need(begin, static_cast<int64_t>(bytes));
  return std::optional<FilePart>();
}

/// Asks the device without holding the lock, so that waiting threads can be cancelled.
Result<std::shared_ptr<const DeviceFile>> DeviceFiles::open(const base::MappedFile& mapping,
                                                            const Device::KeepGoing& keep_going) {
  {
    const std::lock_guard lock(mutex_);
    for (const File& file : files_)
      if (file.identity == mapping.identity()) return file.file;
  }
  std::shared_ptr<const DeviceFile> opened;
  if (const int descriptor = mapping.new_descriptor(); descriptor >= 0) {
    struct Closing {
      int descriptor;
      ~Closing() { close(descriptor); }
    } const closing{descriptor};
    auto file = device_->open_file(descriptor, mapping.path(), keep_going);
    if (file.is_ok())
      opened = std::move(file).value();
    else if (file.status().code() == ErrorCode::kCancelled || file.status().code() == ErrorCode::kDeviceLost)
      return file.status();
  }
  std::shared_ptr<const DeviceFile> oldest;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  if (files_.size() >= kMostFiles) {
    oldest = std::move(files_.front().file);
    files_.erase(files_.begin());
  }
  files_.push_back({mapping.identity(), opened});
  return opened;
}

void read_ahead(const void* data, size_t bytes) {
  if (const auto mapping = base::MappedFile::find(data, bytes))
    mapping->will_need(static_cast<const uint8_t*>(data), static_cast<int64_t>(bytes));
}

}  // namespace strom::engine::device
