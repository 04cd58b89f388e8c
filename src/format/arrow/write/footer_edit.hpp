// New custom metadata in the footer of an Arrow file that exists, in place: record batches are not copied. Used by
// arrowstat.
//
// The file is whole at every moment, so that neither SIGKILL nor a reader that opens it meanwhile sees anything but the
// old or the new footer. What makes that possible: a reader finds the footer by the ten bytes at the end, its size and
// ARROW1, and a footer may be followed by bytes that belong to nothing.
//   1. The ten bytes are written further behind, in one write that makes the file longer, with a size that spans the
//   old
//      footer and all that follows. That is still the old footer.
//   2. The new footer is written in front of them, where nobody reads, and synced.
//   3. The four bytes of the size are replaced by the new footer's.
// Where an earlier edit has left enough room in front of the footer, the new one is written there with its own ten
// bytes, and the file is cut behind them. So repeated edits do not make a file grow without bounds.
#pragma once

#include <map>

#include "base/status.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::format::arrow {

/// New metadata of columns, by their number.
using FieldMetadata = std::map<int, columnar::KeyValues>;

/// Replaces the metadata in the footer of the file that `reader` has open. Errors: kFileChanged (it is not the file
/// that the reader opened any more), kOverBudget (another process is at it), kPermissionDenied, kIoError (disk full:
/// the file is as it was), kUnsupported (columns of types that are newer than this version), kCorruptFile,
/// kOutOfMemory.
Status edit_footer(const FileReader& reader, const FieldMetadata& metadata);

}  // namespace strom::format::arrow
