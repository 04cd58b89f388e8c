// Turns a record batch's metadata into views of its columns. Private to src/format/arrow.
//
// Every buffer is checked to lie inside of the batch's body, and the body inside of the file. Buffers may overlap,
// because reading the same bytes twice does no harm.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "columnar/batch.hpp"
#include "format/arrow/batch/decompress.hpp"
#include "format/arrow/batch/loaded_column.hpp"
#include "format/arrow/metadata/ipc.hpp"
#include "format/arrow/metadata/schema_decode.hpp"

namespace strom::format::arrow {

struct NodeSize {
  int64_t length = 0, null_count = 0;
};

struct BufferPlace {
  int64_t offset = 0, length = 0;  // offset in the file
};

/// Verified metadata of one record batch.
struct BatchLayout {
  int number = 0;  // in the file
  BatchLocation location;
  Codec codec = Codec::kNone;
  int64_t rows = 0;
  std::vector<NodeSize> nodes;
  std::vector<BufferPlace> buffers;
  std::vector<int64_t> view_buffers;  // [g] = data buffers of the view groups before group g; one more than groups
  bool is_v4 = false;                 // metadata version
  /// Addresses and sizes of all `buffers`, for ColumnView::variadic; empty when the schema has no view columns or the
  /// batch is compressed.
  std::vector<const char*> addresses;
  std::vector<int64_t> sizes;

  /// Index into `buffers` of the first buffer of the field at `place`.
  size_t first_buffer(const EntryCounts& place) const {
    return static_cast<size_t>(place.buffers + view_buffers[static_cast<size_t>(place.view_groups)] +
                               (is_v4 ? place.v4_bitmaps : 0));
  }
};

/// Decodes batch `number` at `location`, which has been checked to be inside of the file. Errors: kCorruptFile,
/// kUnsupported (a new compression).
Result<std::unique_ptr<const BatchLayout>> decode_batch(const FileBytes& file, const DecodedSchema& schema,
                                                        const BatchLocation& location, int number);

/// The same for a dictionary, as one record batch of its values.
Result<std::unique_ptr<const BatchLayout>> decode_dictionary(const FileBytes& file, const DecodedSchema& values,
                                                             const BatchLocation& location);

class Dictionaries;

/// Loads a field and its children. The field must be readable (no Field::unsupported). Buffers are decompressed if need
/// be, with memory of `pool` if it is not nullptr. For dictionary-encoded columns, those `dictionaries` apply that
/// precede record batch `version`. Errors: kCorruptFile, kOutOfMemory. The view's variadic pointers may lead into
/// `batch`.
Result<LoadedColumn> load_column(const FileBytes& file, const DecodedSchema& schema, const BatchLayout& batch,
                                 int field, const std::shared_ptr<BufferPool>& pool, const Dictionaries& dictionaries,
                                 int version);

/// The most bytes that load_column() decompresses, by the declared sizes of the field's buffers; 0 for batches that are
/// not compressed. Errors: kCorruptFile.
Result<int64_t> column_memory_bytes(const FileBytes& file, const DecodedSchema& schema, const BatchLayout& batch,
                                    int field);

/// Bytes of the field's buffers.
int64_t column_buffer_bytes(const DecodedSchema& schema, const BatchLayout& batch, int field);

}  // namespace strom::format::arrow
