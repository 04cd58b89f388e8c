// The bytes of a finished join table on a device: arrays with pointers between them, and everything that a host needs
// to use the table without building it. Used by device/device_pipeline.cpp and device/cached_join.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/op/device_image.hpp"
#include "engine/op/join/join_table.hpp"

namespace strom::engine::op {

/// Version of the layout below.
inline constexpr uint32_t kJoinImageVersion = 4;

/// Identifies one building of a table. Another building may have the rows in another order.
using BuildId = std::array<uint64_t, 2>;
BuildId new_build_id();

/// A cached table as the host sees it, with its arrays in the mirror.
struct JoinImage {
  block::JoinTable table{};  // without marks, keys and payload
  std::vector<block::TableColumn> keys, payload;
  std::vector<std::vector<uint8_t>> texts;  // values of text columns, keys first; the texts lie in the mirror
  std::vector<uint32_t> code_rows;
  int64_t scanned_rows = 0;
  BuildId id{};
};

/// Puts the table's arrays into the image, except for the marks. The table at `offset` will point to them.
void put_join(const JoinBuild& build, size_t offset, DeviceImage* image);

/// Puts a table to be cached into an empty image. `scanned_rows`: rows of the inner side before its filters.
void put_cached_join(const JoinBuild& build, const BuildId& id, int64_t scanned_rows, DeviceImage* image);

/// Reads the table of put_cached_join() from a mirrored region. Nothing when it is not a table of `keys` and `payload`.
std::optional<JoinImage> read_cached_join(const MirroredBytes& region, const std::vector<registry::Phys>& keys,
                                          const std::vector<registry::Phys>& payload);

/// The table with pointers to the region's memory on the device.
block::JoinTable cached_join_on_device(const MirroredBytes& region);

}  // namespace strom::engine::op
