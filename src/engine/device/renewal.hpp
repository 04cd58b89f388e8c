// Brings the copies of a source's columns that a device has cached up to date while no query waits for them. Used by
// pg/worker/store_renewal.cpp.
#pragma once

#include <cstdint>

#include "engine/device/device.hpp"
#include "engine/op/scan/chunk_source.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::device {

struct Renewed {
  int64_t blocks = 0, bytes = 0;  // that were copied to the device; blocks as in columnar::ChangingOrigin
};

/// `source` has a fixed list of chunks, which come from a ChangingOrigin, and the columns of `described`. Morsels have
/// `morsel_rows` rows, as in the queries that cached the columns. Copies for which the device has no memory now stay as
/// they are. Errors: the source's, and the device's.
Result<Renewed> renew_columns(Device* device, const op::ChunkSource& source, const plan::Source& described,
                              int64_t morsel_rows, const Device::KeepGoing& keep_going);

}  // namespace strom::engine::device
