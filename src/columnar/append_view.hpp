// Appends rows of columns that were read to columns that are built: for record batches that are written again, and for
// copies of files in another order. The columns that are read may come from files that anybody may have written, so
// they are checked.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "columnar/builder.hpp"

namespace strom::columnar {

/// What becomes of a dictionary's indexes.
enum class Indexes : uint8_t {
  kLookUp,     // values are looked up in the builder's dictionary, see attach_dictionaries()
  kAsTheyAre,  // indexes are taken over; they are of the builder's dictionary, and `from` may have them as numbers
};

/// Appends rows [first, first + count) of `from`, a column of the type of `to`. Errors: kCorruptFile (a row leads
/// outside of its column), kUnsupported (too much for one record batch, or for the index's type). After an error some
/// rows of children may have been appended.
Status append_view(const ColumnView& from, int64_t first, int64_t count, ColumnBuilder& to,
                   Indexes indexes = Indexes::kLookUp);

/// Appends index `index` to a column with a dictionary. False when the column's index type cannot hold it.
bool append_index(int64_t index, ColumnBuilder& to);

}  // namespace strom::columnar
