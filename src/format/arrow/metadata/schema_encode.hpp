// Turns a columnar::Schema into a schema's flatbuffer, for the writer. Private to src/format/arrow.
#pragma once

#include "arrow_ipc_generated.h"
#include "base/status.hpp"
#include "columnar/schema.hpp"

namespace strom::format::arrow {

/// kUnsupported for layouts that are read but not written (kUtf8View) and for unreadable fields; kInvalidParameter for
/// a precision or width that Arrow does not have.
Status check_writable(const columnar::Schema& schema);

/// `schema` has passed check_writable().
flatbuffers::Offset<fbs::Schema> encode_schema(flatbuffers::FlatBufferBuilder& builder, const columnar::Schema& schema);

using MetadataOffset = flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fbs::KeyValue>>>;
MetadataOffset encode_metadata(flatbuffers::FlatBufferBuilder& builder, const columnar::KeyValues& metadata);

}  // namespace strom::format::arrow
