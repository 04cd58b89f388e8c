// Columns of a chunk as a device reads them: copied into a slot, a mirrored region, with pointers to where the slot is
// on the device. Used by device/device_worker.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "engine/device/device_files.hpp"
#include "engine/device/device.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::device {

class CachedColumns;

/// Rows of a chunk, and which of its columns are wanted.
struct ColumnSlice {
  const columnar::BatchView* batch;
  const plan::Source* source;
  const std::vector<uint32_t>* columns;  // ordinals; the others will be empty views
  int64_t begin;                         // first row
  int32_t rows;
  const CachedColumns* cached = nullptr;  // columns that are on the device already
  DeviceFiles* files = nullptr;           // what the device reads by itself, if anything

  /// Rows before `begin` that are copied, too, so that bitmaps begin with a byte.
  int32_t lead() const { return static_cast<int32_t>(begin & 63); }
};

/// Bytes that the slice takes in a slot; an upper bound. kCorruptFile, with the ordinal in *corrupt_column, where a
/// text is not in its buffer.
Result<size_t> slot_bytes(const ColumnSlice& slice, int32_t* corrupt_column);

struct SlotContent {
  const columnar::ColumnView* columns;  // on the device
  const uint8_t* selection;             // of the columns' rows, on the device; nullptr: all are there
  size_t bytes;                         // from the slot's start on, to be copied
  std::vector<DeviceFileRange> files;   // to be read, to the slot's end
};

/// Writes the slice, whose slot_bytes() fit, to the slot's host memory. Row lead() of the columns is the slice's first.
/// Also kCancelled, kDeviceLost.
Result<SlotContent> fill_slot(const ColumnSlice& slice, const DeviceRegion& slot, const Device::KeepGoing& keep_going,
                              int32_t* corrupt_column);

/// For the CPU, which is to read the slice instead of the device.
void read_ahead(const ColumnSlice& slice);

// ---- One column by itself, see device/cached_columns.hpp ----

/// A column's copy, with pointers to where it is on the device.
struct CopiedColumn {
  columnar::ColumnView view;
  size_t bytes = 0;             // of all of it
  int64_t data_begin = 0;       // in the source's `data`, of the byte that view.data points to
  const char* texts = nullptr;  // the bytes of texts that are not behind offsets: one after the other, on the device
  int64_t texts_bytes = 0;
  bool is_dictionary = false;  // `texts` are those of the dictionary, not of the rows
};

/// Bytes that copy_column() takes, an upper bound. Errors as slot_bytes().
Result<size_t> column_bytes(const ColumnSlice& slice, uint32_t column);

/// Copies a column of the slice to `to`, which has room for column_bytes() and whose copy will lie at `device`.
/// kCorruptFile: it has grown since.
Result<CopiedColumn> copy_column(const ColumnSlice& slice, uint32_t column, char* to, char* device, size_t room);

/// The texts of which CopiedColumn::texts has the bytes, in their order, where the host has them.
std::vector<registry::StrView> host_texts(const ColumnSlice& slice, uint32_t column, bool of_dictionary);

/// The column's rows from `first`, a multiple of 64, on.
columnar::ColumnView rows_from(const CopiedColumn& column, registry::Phys phys, int64_t first);

}  // namespace strom::engine::device
