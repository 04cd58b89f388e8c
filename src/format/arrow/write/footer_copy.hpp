// A footer's flatbuffer with other custom metadata of columns, everything else as it was: types that the reader cannot
// read included. Private to src/format/arrow.
#pragma once

#include "arrow_ipc_generated.h"
#include "base/status.hpp"
#include "format/arrow/write/footer_edit.hpp"
#include "format/arrow/metadata/ipc.hpp"

namespace strom::format::arrow {

/// Finishes the copy in `builder`. `size` is that of the flatbuffer that `footer` stands in, as a limit. Errors:
/// kUnsupported (a type that is newer than this version, which could not be copied whole), kCorruptFile.
Status copy_footer(const FileBytes& file, const fbs::Footer& footer, int64_t size, const FieldMetadata& metadata,
                   flatbuffers::FlatBufferBuilder& builder);

}  // namespace strom::format::arrow
