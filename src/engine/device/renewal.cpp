#include "engine/device/renewal.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/device/cached_columns.hpp"

namespace strom::engine::device {

Result<Renewed> renew_columns(Device* device, const op::ChunkSource& source, const plan::Source& described,
                              int64_t morsel_rows, const Device::KeepGoing& keep_going) {
  std::vector<uint32_t> columns;
  for (uint32_t column = 0; column < described.columns.size(); ++column) columns.push_back(column);
  std::unique_ptr<DeviceRegion> region;
  const CachedColumns::Staging staging = [&](size_t bytes) -> Result<const DeviceRegion*> {
    if (region == nullptr || region->size() < bytes) {
      region.reset();
      STROM_ASSIGN(region, device->allocate(bytes, true, keep_going));
    }
    return region.get();
  };
  CachedColumns cached(device);
  for (int64_t chunk = 0; chunk < source.chunk_count(); ++chunk) {
    STROM_ASSIGN(columnar::BatchView view, source.chunk(chunk));
    const auto batch = std::make_shared<const columnar::BatchView>(std::move(view));
    for (int64_t begin = 0; begin < batch->rows; begin += morsel_rows) {
      const auto rows = static_cast<int32_t>(std::min(morsel_rows, batch->rows - begin));
      STROM_TRY(cached.renew({chunk, begin, rows, batch}, described, columns, staging, keep_going));
    }
  }
  cached.let_go();
  return Renewed{cached.updated_blocks(), cached.filled_bytes()};
}

}  // namespace strom::engine::device
