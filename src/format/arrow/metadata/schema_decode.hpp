// From a schema's flatbuffer to columnar::Schema, and to where each column's nodes and buffers stand in a record
// batch. Private to src/format/arrow.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arrow_ipc_generated.h"
#include "columnar/schema.hpp"
#include "format/arrow/metadata/ipc.hpp"

namespace strom::format::arrow {

/// Counts of a record batch's metadata entries. `view_groups` are entries of variadic_counts: one for each column of
/// view layout; that many data buffers come on top of `buffers`. In metadata V4 so do validity bitmaps of types that
/// have none in V5: `v4_bitmaps`.
struct EntryCounts {
  int64_t nodes = 0, buffers = 0, view_groups = 0, v4_bitmaps = 0;
  bool operator==(const EntryCounts&) const = default;
};

struct DictionaryEncoding;

/// Where a field and its children stand in a batch.
struct FieldPlace {
  EntryCounts at;                                        // the entries before its own
  std::shared_ptr<const DictionaryEncoding> dictionary;  // nullptr when it is not dictionary-encoded
  std::vector<FieldPlace> children;                      // of a field that is not
};

struct DecodedSchema {
  columnar::Schema schema;
  std::vector<FieldPlace> trees;  // for each field
  /// For each field the entries that stand before its own; one element more than fields.
  std::vector<EntryCounts> places;
  /// Fields before this index can be found in a batch; a type newer than this reader hides those behind it.
  int32_t placed_fields = 0;

  const EntryCounts& total() const { return places.back(); }
  bool all_placed() const { return static_cast<size_t>(placed_fields) == schema.fields.size(); }
};

struct DictionaryEncoding {
  int64_t id = 0;
  int32_t index_width = 4;  // bytes
  DecodedSchema values;     // of a dictionary's message: one field
};

/// `offset` and `size` are those of the flatbuffer that `source` stands in, for messages and as a limit of memory.
/// Errors: kCorruptFile, kUnsupported (big-endian). Fields that cannot be read are marked, see Field::unsupported.
Result<DecodedSchema> decode_schema(const FileBytes& file, int64_t offset, int64_t size, const fbs::Schema& source);

/// Same columns with the same types, whatever the metadata.
bool same_columns(const DecodedSchema& a, const DecodedSchema& b);

}  // namespace strom::format::arrow
