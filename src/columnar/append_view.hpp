// Rows of columns that were read into columns that are built: record batches that are written again, copies of files in
// another order. What is read may come from files that anybody may have written, and is checked.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "columnar/builder.hpp"

namespace strom::columnar {

/// What becomes of a dictionary's indexes.
enum class Indexes : uint8_t {
  kLookUp,     // values are looked up in the builder's dictionary, see attach_dictionaries()
  kAsTheyAre,  // they are of the builder's dictionary; `from` may have them as numbers
};

/// Appends rows [first, first + count) of `from`, a column of the type of `to`. Errors: kCorruptFile (a
/// row leads outside of its column), kUnsupported (too much for one record batch, or for the index's type); then some
/// rows of children may have been appended.
Status append_view(const ColumnView& from, int64_t first, int64_t count, ColumnBuilder& to,
                   Indexes indexes = Indexes::kLookUp);

/// Appends index `index` to a column with a dictionary. False when its type has no such index.
bool append_index(int64_t index, ColumnBuilder& to);

}  // namespace strom::columnar
