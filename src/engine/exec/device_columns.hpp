// Columns of a chunk as a device reads them: copied into a slot, a mirrored region, with pointers to where the slot is
// on the device. Used by exec/device_worker.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "engine/exec/device_files.hpp"
#include "engine/exec/device_machine.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::exec {

/// Rows of a chunk, and which of its columns are wanted.
struct ColumnSlice {
  const columnar::BatchView* batch;
  const plan::Source* source;
  const std::vector<uint32_t>* columns;  // ordinals; the others will be empty views
  int64_t begin;                         // first row
  int32_t rows;
  DeviceFiles* files = nullptr;  // what the machine reads by itself, if anything

  /// Rows before `begin` that are copied, too, so that bitmaps begin with a byte.
  int32_t lead() const { return static_cast<int32_t>(begin & 63); }
};

/// Bytes that the slice takes in a slot; an upper bound. kCorruptFile, with the ordinal in *corrupt_column, where a
/// text is not in its buffer.
Result<size_t> slot_bytes(const ColumnSlice& slice, int32_t* corrupt_column);

struct SlotContent {
  const columnar::ColumnView* columns;  // on the device
  size_t bytes;                         // from the slot's start on, to be copied
  std::vector<DeviceFileRange> files;   // to be read, to the slot's end
};

/// Writes the slice, whose slot_bytes() fit, to the slot's host memory. Row lead() of the columns is the slice's first.
/// Also kCancelled, kDeviceLost.
Result<SlotContent> fill_slot(const ColumnSlice& slice, const DeviceRegion& slot,
                              const DeviceMachine::KeepGoing& keep_going, int32_t* corrupt_column);

/// For the CPU, which is to read the slice instead of the device.
void read_ahead(const ColumnSlice& slice);

}  // namespace strom::engine::exec
