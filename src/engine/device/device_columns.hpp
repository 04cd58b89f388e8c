// Columns of a chunk as a device reads them: copied into a slot (a mirrored region), with pointers to the slot's place
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

/// Rows of a chunk, and the columns that are needed.
struct ColumnSlice {
  const columnar::BatchView* batch;
  const plan::Source* source;
  const std::vector<uint32_t>* columns;  // ordinals; the other columns become empty views
  int64_t begin;                         // first row
  int32_t rows;
  const CachedColumns* cached = nullptr;  // columns that are on the device already
  DeviceFiles* files = nullptr;           // files that the device reads by itself, or nullptr

  /// Rows before `begin` that are copied, too, so that bitmaps begin at a byte.
  int32_t lead() const { return static_cast<int32_t>(begin & 63); }
};

/// The slice's bytes in a slot, an upper bound. kCorruptFile, with the ordinal in *corrupt_column, where a text is not
/// in its buffer.
Result<size_t> slot_bytes(const ColumnSlice& slice, int32_t* corrupt_column);

struct SlotContent {
  const columnar::ColumnView* columns;  // on the device
  const uint8_t* selection;             // bitmap of the columns' rows, on the device; nullptr: all are visible
  size_t bytes;                         // from the slot's start on, to be copied
  std::vector<DeviceFileRange> files;   // to be read to the slot's end
};

/// Writes the slice to the slot's host memory; slot_bytes() must fit. Row lead() of the columns is the slice's first
/// row. Errors as slot_bytes(), and kCancelled, kDeviceLost.
Result<SlotContent> fill_slot(const ColumnSlice& slice, const DeviceRegion& slot, const Device::KeepGoing& keep_going,
                              int32_t* corrupt_column);

/// Reads the slice ahead for the CPU, which will read it instead of the device.
void read_ahead(const ColumnSlice& slice);

// ---- One column by itself, see device/cached_columns.hpp ----

/// A column's copy, with pointers to its place on the device.
struct CopiedColumn {
  columnar::ColumnView view;
  size_t bytes = 0;             // of the whole copy
  int64_t data_begin = 0;       // offset in the source's `data` of the byte that view.data points to
  const char* texts = nullptr;  // on the device: the bytes of texts that are not behind offsets, one after another
  int64_t texts_bytes = 0;
  bool is_dictionary = false;  // `texts` are those of the dictionary, not of the rows
};

/// The bytes that copy_column() needs, an upper bound. Errors as slot_bytes().
Result<size_t> column_bytes(const ColumnSlice& slice, uint32_t column);

/// Copies a column of the slice to `to`, which has room for column_bytes(). The final place of the copy is `device`.
/// kCorruptFile: the column has grown meanwhile.
Result<CopiedColumn> copy_column(const ColumnSlice& slice, uint32_t column, char* to, char* device, size_t room);

/// Bytes of blocks of columnar::ChangingOrigin::kBlockRows rows of a copy, with what brings them to their places.
size_t blocks_bytes(const ColumnSlice& slice, uint32_t column, const CopiedColumn& copied, size_t blocks);

/// Copies blocks of the column to a staging region from `offset` on, and adds the copies from there to their places.
/// Only for columns of registers of fixed width. Returns the bytes that were used.
size_t copy_blocks(const ColumnSlice& slice, uint32_t column, const CopiedColumn& copied,
                   const std::vector<uint32_t>& blocks, const DeviceRegion& staging, size_t offset,
                   std::vector<block::BlockCopy>* copies);

/// Where the host has the texts that CopiedColumn::texts holds, in their order.
std::vector<registry::StrView> host_texts(const ColumnSlice& slice, uint32_t column, bool of_dictionary);

/// The column's rows from `first` on, a multiple of 64.
columnar::ColumnView rows_from(const CopiedColumn& column, registry::Phys phys, int64_t first);

}  // namespace strom::engine::device
