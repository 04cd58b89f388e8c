// The group tables of one worker's tile states on a device: one table that all states share, or one for each state.
// Used by device_worker.cpp.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/op/device_image.hpp"
#include "engine/op/hash_agg/group_table.hpp"

namespace strom::engine::device {

class DeviceGroups {
 public:
  /// `budget`: bytes of all tables.
  DeviceGroups(const op::Assembly& assembly, int64_t budget, size_t states);

  size_t count() const { return count_; }
  size_t table_of(size_t state) const { return count_ == 1 ? 0 : state; }
  /// Groups that each table has room for.
  uint32_t capacity() const { return host_.capacity(); }
  bool has_text() const { return has_text_; }

  /// Takes memory for the tables' arrays. Errors as Device::allocate().
  Status allocate(Device* device, const Device::KeepGoing& keep_going);
  /// Writes the tables to `offset`, where the image has room for count() tables (block::GroupTable).
  void write(size_t offset, op::DeviceImage* image) const;
  /// Sets where the host has the device's state of the tables from now on.
  void set_tables(block::GroupTable* tables) { tables_ = tables; }

  /// Empties a table whose first `used` groups have been touched, by copies that are added to *pending.
  void reset(size_t table, size_t used, std::vector<DeviceRange>* pending);
  bool has_groups(size_t table) const { return tables_[table].count > 0; }
  /// Adds the ranges that take() needs to be copied from the device.
  void want(size_t table, std::vector<DeviceRange>* wanted) const;
  /// Returns where the host has the text.
  using HostText = std::function<registry::StrView(registry::StrView)>;
  /// Adds the groups of a table to *groups; the table becomes empty.
  void take(size_t table, const HostText& host_text, op::HostGroupTable* groups, std::vector<DeviceRange>* pending);

 private:
  /// A count beyond the capacity means that there was no room for some groups.
  uint32_t group_count(size_t table) const { return std::min(tables_[table].count, capacity()); }
  void find_texts(uint32_t groups, const HostText& host_text);

  const op::Assembly& assembly_;
  const size_t count_;
  op::HostGroupTable host_;  // the tables are copied here one at a time
  bool has_text_;
  struct ArrayOffset {
    size_t offset;       // in each table's part of the region
    size_t group_bytes;  // see GroupArray
  };
  std::vector<ArrayOffset> arrays_;  // in the order of HostGroupTable::arrays()
  size_t table_bytes_ = 0;
  std::unique_ptr<DeviceRegion> region_;
  block::GroupTable* tables_ = nullptr;
};

}  // namespace strom::engine::device
