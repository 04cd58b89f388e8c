// Pages of a PostgreSQL table that a device reads from their file and decodes: one worker's use of them. Used by
// device/device_worker.cpp; docs/dev/heap.md.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "columnar/batch.hpp"
#include "columnar/page_batch.hpp"
#include "engine/block/pages.hpp"
#include "engine/op/device_image.hpp"
#include "engine/device/device.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::device {

/// Files of pages that one pipeline has open on the device. Any thread.
class DevicePageFiles {
 public:
  explicit DevicePageFiles(Device* device) : device_(device) {}
  /// Errors as Device::open_file().
  Result<std::shared_ptr<const DeviceFile>> open(const std::shared_ptr<const columnar::PageFile>& file,
                                                 const Device::KeepGoing& keep_going);

 private:
  Device* const device_;
  std::mutex mutex_;
  std::vector<std::pair<std::shared_ptr<const columnar::PageFile>, std::shared_ptr<const DeviceFile>>> files_;
};

class DevicePages {
 public:
  /// `columns`: ordinals of the columns that tiles load. `texts_return`: some of their texts come back to the host.
  DevicePages(Device* device, DevicePageFiles* files, const plan::Source& source, std::vector<uint32_t> columns,
              bool texts_return);

  /// Reads the pages to the device and counts their tuples there. Pages that cannot be read in this way, for whatever
  /// reason, are given back. kCancelled, kDeviceLost, or an error of the engine.
  Status read(columnar::PageBatch* batch, const Device::KeepGoing& keep_going);

  /// Returns the rows of the next slice, which the next launch has to decode; 0: there is no more. Errors as read().
  Result<int32_t> next_slice(const Device::KeepGoing& keep_going);
  /// The slice's columns, on the device.
  const columnar::ColumnView* columns() const;
  /// Adds the decoding of the slice to a launch.
  void add_to(DeviceWork* work) const;
  /// Called when that launch has ended, before anybody is told of its rows.
  void decoded();
  bool is_to_be_decoded() const { return slice_rows_ > 0; }

  /// Where the host has a text of the slice; nothing when it is not a text of the slice.
  std::optional<registry::StrView> host_text(registry::StrView text) const;
  /// Bytes of pages that the device has read.
  int64_t read_bytes() const { return read_bytes_; }

 private:
  struct Layout {
    size_t task, columns, rows, first_rows, views;  // offsets in head_
  };

  Status reserve(std::unique_ptr<DeviceRegion>* region, size_t bytes, bool mirrored,
                 const Device::KeepGoing& keep_going) const;
  Status read_pages(const columnar::PageBatch& batch, const Device::KeepGoing& keep_going);
  void write_head(const columnar::PageBatch& batch, op::DeviceImage* image);
  void lay_out_slice(int32_t rows);
  size_t row_bytes() const;
  template <class T>
  T* head(size_t offset) const {
    return reinterpret_cast<T*>(head_->host() + offset);
  }

  Device* const device_;
  DevicePageFiles* const files_;
  const plan::Source& source_;
  const std::vector<uint32_t> columns_;
  const bool texts_return_;
  // The pages; the task and all that it points to except pages and columns; the columns; the items' numbers of the
  // rows.
  std::unique_ptr<DeviceRegion> pages_, head_, values_, numbers_;
  Layout at_{};
  size_t head_bytes_ = 0;
  columnar::PageBatch* batch_ = nullptr;
  std::vector<uint32_t> counts_;  // tuples of each page, or block::kBadPage
  uint32_t next_page_ = 0, slice_begin_ = 0;
  int32_t slice_rows_ = 0;
  int64_t read_bytes_ = 0;
};

}  // namespace strom::engine::device
