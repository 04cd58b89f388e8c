// Copies a footer's flatbuffer with other custom metadata of columns. Everything else is unchanged, including types
// that the reader cannot read. Private to src/format/arrow.
#pragma once

#include "arrow_ipc_generated.h"
#include "base/status.hpp"
#include "format/arrow/write/footer_edit.hpp"
#include "format/arrow/metadata/ipc.hpp"

namespace strom::format::arrow {

/// Finishes the copy in `builder`. `size`: of the flatbuffer that contains `footer`, as a limit. Errors: kUnsupported
/// (a type that is newer than this version, which could not be copied completely), kCorruptFile.
Status copy_footer(const FileBytes& file, const fbs::Footer& footer, int64_t size, const FieldMetadata& metadata,
                   flatbuffers::FlatBufferBuilder& builder);

}  // namespace strom::format::arrow
