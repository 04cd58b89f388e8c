// Turns a schema's flatbuffer into a columnar::Schema, and finds where each column's nodes and buffers are in a record
// batch. Private to src/format/arrow.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arrow_ipc_generated.h"
#include "columnar/schema.hpp"
#include "format/arrow/metadata/ipc.hpp"

namespace strom::format::arrow {

/// Counts of a record batch's metadata entries. `view_groups`: entries of variadic_counts, one for each column of a
/// view layout; their data buffers come on top of `buffers`. `v4_bitmaps`: validity bitmaps that only metadata V4 has;
/// they also come on top.
struct EntryCounts {
  int64_t nodes = 0, buffers = 0, view_groups = 0, v4_bitmaps = 0;
  bool operator==(const EntryCounts&) const = default;
};

struct DictionaryEncoding;

/// Where a field and its children are in a batch.
struct FieldPlace {
  EntryCounts at;                                        // the entries before its own
  std::shared_ptr<const DictionaryEncoding> dictionary;  // nullptr when it is not dictionary-encoded
  std::vector<FieldPlace> children;                      // if it is not dictionary-encoded
};

struct DecodedSchema {
  columnar::Schema schema;
  std::vector<FieldPlace> trees;  // for each field
  /// For each field the number of entries before its own; one element more than fields.
  std::vector<EntryCounts> places;
  /// Fields before this index can be found in a batch. A type that is newer than this reader hides the later ones.
  int32_t placed_fields = 0;

  const EntryCounts& total() const { return places.back(); }
  bool all_placed() const { return static_cast<size_t>(placed_fields) == schema.fields.size(); }
};

struct DictionaryEncoding {
  int64_t id = 0;
  int32_t index_width = 4;  // bytes
  DecodedSchema values;     // of a dictionary's message: one field
};

/// `offset` and `size` are those of the flatbuffer that contains `source`, for messages and as a limit of memory.
/// Errors: kCorruptFile, kUnsupported (big-endian). Fields that cannot be read are marked, see Field::unsupported.
Result<DecodedSchema> decode_schema(const FileBytes& file, int64_t offset, int64_t size, const fbs::Schema& source);

/// True when the columns and their types are the same, whatever the metadata.
bool same_columns(const DecodedSchema& a, const DecodedSchema& b);

}  // namespace strom::format::arrow
