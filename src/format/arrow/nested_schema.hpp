// columnar::NestedSchema to and from a schema's flatbuffer. Private to src/format/arrow.
#pragma once

#include "arrow_ipc_generated.h"
#include "base/status.hpp"
#include "columnar/nested.hpp"

namespace strom::format::arrow {

/// kInvalidParameter for precisions and widths that Arrow does not have.
Status check_writable(const columnar::NestedSchema& schema);

/// `schema` has passed check_writable().
flatbuffers::Offset<fbs::Schema> encode_schema(flatbuffers::FlatBufferBuilder& builder,
                                               const columnar::NestedSchema& schema);

/// Of a verified flatbuffer. Types that are not written have columnar::Kind::kOther.
columnar::NestedSchema decode_nested_schema(const fbs::Schema& schema);

}  // namespace strom::format::arrow
