// Columns and join tables that are cached on a device between queries: what the engine asks of its cache, and
// one worker's use of the columns. Used by device/device_worker.cpp and device/cached_join.cpp. See
// docs/dev/gpu-service.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/device_columns.hpp"
#include "engine/device/device.hpp"
#include "engine/op/pipeline/worker.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::device {

/// What a device has cached under a name.
struct FoundColumn {
  std::unique_ptr<DeviceRegion> region;  // stays as long as this lives; nullptr: nothing is cached
  std::string shape;                     // as publish() was told
  bool is_wanted = false;                // nothing is cached, and it is worth asking for room
};

/// Something that the device could cache.
struct OfferedColumn {
  std::string name, label;  // see columnar::BatchOrigin
  int32_t number = 0;       // of the column, likewise
  size_t bytes = 0;
  bool is_mirrored = false;  // with host memory, for who finds it
};

/// Part of a Device. Any thread.
class DeviceCache {
 public:
  static constexpr size_t kMostNameBytes = 256, kMostShapeBytes = 512;
  /// Of what is mirrored.
  static constexpr size_t kMostMirroredNameBytes = 8192;
  /// Of one DeviceWork, fills included.
  static constexpr size_t kMostColumns = 256;

  virtual ~DeviceCache() = default;
  /// For each name what is cached under it. Counts as a use of it. kDeviceLost; kCancelled.
  virtual Result<std::vector<FoundColumn>> find(const std::vector<std::string>& names,
                                                const Device::KeepGoing& keep_going) = 0;
  /// The same of something mirrored, whose host memory is not to be written to.
  virtual Result<FoundColumn> find_mirrored(const std::string& name, const Device::KeepGoing& keep_going) = 0;
  /// For each of the columns memory for it, to be filled by a DeviceFill; nullptr where it is not worth it, or somebody
  /// else fills it. What is not published is forgotten with its region. Errors as find().
  virtual Result<std::vector<std::unique_ptr<DeviceRegion>>> make_room(const std::vector<OfferedColumn>& columns,
                                                                       const Device::KeepGoing& keep_going) = 0;
  /// The region has been filled, and holds what its name says.
  virtual void publish(const DeviceRegion& region, const std::string& shape) = 0;
};

/// The columns of one morsel that are on the device already, or are put there to stay.
class CachedColumns {
 public:
  explicit CachedColumns(Device* device) : device_(device) {}

  /// Gives a mirrored region of so many bytes; kOverBudget when there is none.
  using Staging = std::function<Result<const DeviceRegion*>(size_t bytes)>;

  /// Finds columns of the morsel and caches those that are worth it; `staging` is theirs meanwhile. Errors: those of
  /// the device, but for kOverBudget; kCorruptFile as slot_bytes().
  Status take(const op::Morsel& morsel, const plan::Source& source, const std::vector<uint32_t>& columns,
              const Staging& staging, const Device::KeepGoing& keep_going, int32_t* corrupt_column);
  /// The device may forget them.
  void let_go();

  /// False when the host's columns may not be those of the device any more.
  bool holds() const { return batch_ == nullptr || batch_->origin->holds(); }
  bool has(uint32_t column) const { return column < columns_.size() && columns_[column].has_value(); }
  /// The column on the device, from that row of the chunk on.
  columnar::ColumnView view(uint32_t column, int64_t row) const;
  /// For DeviceWork::cached.
  std::vector<const DeviceRegion*> regions() const;
  /// A text in one of them where the host has it; nothing when it is in none.
  std::optional<registry::StrView> host_text(registry::StrView text) const;

  /// So far, bytes that were found and bytes that were put there.
  int64_t found_bytes() const { return found_bytes_; }
  int64_t filled_bytes() const { return filled_bytes_; }

 private:
  struct CachedColumn {
    std::unique_ptr<DeviceRegion> region;
    CopiedColumn copied;
    // Of texts that are not behind offsets, at the first question.
    mutable std::vector<registry::StrView> texts;
    mutable std::vector<int64_t> text_ends;
  };
  struct Wanted {
    uint32_t column;
    OfferedColumn offer;
    std::unique_ptr<DeviceRegion> room;
  };

  std::string name_of(uint32_t column) const;
  void take_found(uint32_t column, FoundColumn found);
  Status fill(std::vector<Wanted> wanted, const Staging& staging, const Device::KeepGoing& keep_going,
              int32_t* corrupt_column);
  void read_ahead_wanted(const std::vector<Wanted>& wanted) const;
  Status fill_some(Wanted* begin, Wanted* end, const DeviceRegion& staging, const Device::KeepGoing& keep_going,
                   int32_t* corrupt_column);
  std::optional<registry::StrView> host_text(const CachedColumn& cached, uint32_t column, registry::StrView text) const;
  std::optional<registry::StrView> listed_text(const CachedColumn& cached, uint32_t column,
                                               registry::StrView text) const;

  Device* const device_;
  std::shared_ptr<const columnar::BatchView> batch_;
  ColumnSlice whole_{};  // the morsel
  std::vector<std::optional<CachedColumn>> columns_;
  int64_t found_bytes_ = 0, filled_bytes_ = 0;
};

}  // namespace strom::engine::device
