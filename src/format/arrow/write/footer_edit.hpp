// Writes new custom metadata into the footer of an existing Arrow file, in place: record batches are not copied. Used
// by arrowstat.
//
// The file is complete at every moment: after SIGKILL, and for a reader that opens it meanwhile, it has either the old
// or the new footer. This works because a reader finds the footer by the ten bytes at the end, its size and ARROW1, and
// unused bytes may follow the footer.
//   1. The ten bytes are written farther behind, in one write that makes the file longer. Their size spans the old
//      footer and all that follows, so they still refer to the old footer.
//   2. The new footer is written before them, where nobody reads, and synced.
//   3. The four bytes of the size are replaced by those of the new footer.
// If an earlier edit has left enough room before the footer, the new one is written there with its own ten bytes, and
// the file is cut behind them. So repeated edits do not make a file grow without bounds.
#pragma once

#include <map>

#include "base/status.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::format::arrow {

/// New metadata of columns, by their number.
using FieldMetadata = std::map<int, columnar::KeyValues>;

/// Replaces the metadata in the footer of the file that `reader` has open. Errors: kFileChanged (it is no longer the
/// file that the reader opened), kOverBudget (another process is editing it), kPermissionDenied, kIoError (disk full:
/// the file is unchanged), kUnsupported (columns of types that are newer than this version), kCorruptFile,
/// kOutOfMemory.
Status edit_footer(const FileReader& reader, const FieldMetadata& metadata);

}  // namespace strom::format::arrow
