// The bytes of a finished join table on a device: arrays with pointers between them, and all that a host needs to use
// the table without building it. Used by device/device_pipeline.cpp and device/cached_join.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/op/device_image.hpp"
#include "engine/op/join/join_table.hpp"

namespace strom::engine::op {

/// Of the layout below.
inline constexpr uint32_t kJoinImageVersion = 4;

/// Tells one building of a table from all others, whose rows may be in another order.
using BuildId = std::array<uint64_t, 2>;
BuildId new_build_id();

/// A cached table, as the host sees it: arrays in the mirror.
struct JoinImage {
  block::JoinTable table{};  // without marks, keys and payload
  std::vector<block::TableColumn> keys, payload;
  std::vector<std::vector<uint8_t>> texts;  // values of text columns, keys first, which point into the mirror
  std::vector<uint32_t> code_rows;
  int64_t scanned_rows = 0;
  BuildId id{};
};

/// Puts the table's arrays there, but for the marks; the copy of the table at `offset` will point to them.
void put_join(const JoinBuild& build, size_t offset, DeviceImage* image);

/// Puts a table to be cached into an empty image. `scanned_rows`: of the inner side, before its filters.
void put_cached_join(const JoinBuild& build, const BuildId& id, int64_t scanned_rows, DeviceImage* image);

/// What put_cached_join() has put into a mirrored region. Nothing when that is no table of `keys` and `payload`.
std::optional<JoinImage> read_cached_join(const MirroredBytes& region, const std::vector<registry::Phys>& keys,
                                          const std::vector<registry::Phys>& payload);

/// The table with pointers to the region's memory on the device.
block::JoinTable cached_join_on_device(const MirroredBytes& region);

}  // namespace strom::engine::op
