// Columns and join tables that a device caches between queries: the interface of the device's cache, and one worker's
// use of the columns. Used by device/device_worker.cpp and device/cached_join.cpp. See docs/dev/gpu-service.md.
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

/// What a query asks for: see columnar::ChangingOrigin.
struct ColumnName {
  std::string name;
  uint64_t generation = 0;
};

/// What a device has cached under a name.
struct FoundColumn {
  std::unique_ptr<DeviceRegion> region;  // lives as long as this; nullptr: nothing is cached
  std::string shape;                     // the text that publish() was given
  bool is_wanted = false;                // nothing is cached, and asking for room is worth it
  // The generation of the copy is earlier than what was asked for. Nobody else may bring it up to date until the region
  // is published again, or is freed.
  bool is_older = false;
  uint64_t generation = 0;
};

/// A column or join table that the device could cache.
struct OfferedColumn {
  std::string name, label;  // see columnar::BatchOrigin
  int32_t number = 0;       // of the column, likewise
  size_t bytes = 0;
  bool is_mirrored = false;  // has host memory beside it, for queries that find it
};

/// The cache of a Device. Any thread.
class DeviceCache {
 public:
  static constexpr size_t kMostNameBytes = 256, kMostShapeBytes = 512;
  /// Longest name of something mirrored.
  static constexpr size_t kMostMirroredNameBytes = 8192;
  /// Most columns of one DeviceWork, fills included.
  static constexpr size_t kMostColumns = 256;

  virtual ~DeviceCache() = default;
  /// Returns for each name what is cached under it. Counts as a use of these columns. kDeviceLost; kCancelled.
  virtual Result<std::vector<FoundColumn>> find(const std::vector<ColumnName>& names,
                                                const Device::KeepGoing& keep_going) = 0;
  /// The same for copies of an earlier generation only; nothing else is found. Counts as no use.
  virtual Result<std::vector<FoundColumn>> find_older(const std::vector<ColumnName>& names,
                                                      const Device::KeepGoing& keep_going) = 0;
  /// find() for something mirrored. Its host memory must not be written to.
  virtual Result<FoundColumn> find_mirrored(const std::string& name, const Device::KeepGoing& keep_going) = 0;
  /// Returns memory for each of the columns, to be filled by a DeviceFill; nullptr where caching is not worth it, or
  /// somebody else fills the column. A region that is freed before it is published is forgotten. Errors as find().
  virtual Result<std::vector<std::unique_ptr<DeviceRegion>>> make_room(const std::vector<OfferedColumn>& columns,
                                                                       const Device::KeepGoing& keep_going) = 0;
  /// Tells the cache that the region has been filled, or brought up to date, and holds what its name and this
  /// generation say.
  virtual void publish(const DeviceRegion& region, const std::string& shape, uint64_t generation) = 0;
};

/// The columns of one morsel that are cached on the device already, or are put there now.
class CachedColumns {
 public:
  explicit CachedColumns(Device* device) : device_(device) {}

  /// Gives a mirrored region of so many bytes; kOverBudget when there is no room for it.
  using Staging = std::function<Result<const DeviceRegion*>(size_t bytes)>;

  /// Finds cached columns of the morsel, and caches those that are worth it, through a region of `staging`. Errors:
  /// those of the device but kOverBudget; kCorruptFile as slot_bytes().
  Status take(const op::Morsel& morsel, const plan::Source& source, const std::vector<uint32_t>& columns,
              const Staging& staging, const Device::KeepGoing& keep_going, int32_t* corrupt_column);
  /// Brings cached columns of the morsel that are of an earlier generation up to date, for later queries. Errors:
  /// those of the device but kOverBudget.
  Status renew(const op::Morsel& morsel, const plan::Source& source, const std::vector<uint32_t>& columns,
               const Staging& staging, const Device::KeepGoing& keep_going);
  /// Ends the use of the columns, so that the device may drop them.
  void let_go();

  /// False when the host's columns may no longer be those of the device.
  bool holds() const { return batch_ == nullptr || batch_->origin->holds(); }
  bool has(uint32_t column) const { return column < columns_.size() && columns_[column].has_value(); }
  /// The column on the device, from row `row` of the chunk on.
  columnar::ColumnView view(uint32_t column, int64_t row) const;
  /// The regions in use, for DeviceWork::cached.
  std::vector<const DeviceRegion*> regions() const;
  /// Where the host has a text of one of the columns; nothing when the text is in none of them.
  std::optional<registry::StrView> host_text(registry::StrView text) const;

  /// Bytes so far that were found in the cache, and that were put there. Of a copy that was brought up to date, the
  /// blocks that were copied count as put there, and the others as found.
  int64_t found_bytes() const { return found_bytes_; }
  int64_t filled_bytes() const { return filled_bytes_; }
  /// Blocks that were copied to bring copies up to date.
  int64_t updated_blocks() const { return updated_blocks_; }

 private:
  struct CachedColumn {
    std::unique_ptr<DeviceRegion> region;
    CopiedColumn copied;
    // Texts that are not behind offsets; made when first asked for.
    mutable std::vector<registry::StrView> texts;
    mutable std::vector<int64_t> text_ends;
  };
  /// A copy of an earlier generation, and the blocks that it lacks.
  struct Older {
    uint32_t column;
    FoundColumn found;
    CopiedColumn copied;
    std::vector<uint32_t> blocks;
    size_t bytes;  // to be copied
  };
  struct Wanted {
    uint32_t column;
    OfferedColumn offer;
    std::unique_ptr<DeviceRegion> room;
  };

  /// The columns that may be cached, with their names.
  struct Asked {
    std::vector<uint32_t> columns;
    std::vector<ColumnName> names;
  };
  Asked begin(const op::Morsel& morsel, const plan::Source& source, const std::vector<uint32_t>& columns);
  std::string name_of(uint32_t column) const;
  void take_older(uint32_t column, FoundColumn found, std::vector<Older>* older) const;
  Status update(std::vector<Older> older, const Staging& staging, const Device::KeepGoing& keep_going);
  Status update_some(Older* begin, Older* end, const DeviceRegion* staging, const Device::KeepGoing& keep_going);
  void take_found(uint32_t column, FoundColumn found);
  void use(uint32_t column, std::unique_ptr<DeviceRegion> region, const CopiedColumn& copied);
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
  int64_t found_bytes_ = 0, filled_bytes_ = 0, updated_blocks_ = 0;
};

}  // namespace strom::engine::device
