#include "pg/source/row_source.hpp"

#include "pg/boundary/boundary.hpp"

namespace strom::pg::source {

void DecodedRows::read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) {
  const std::span<const codec::Decoder> columns = decoders(chunk);
  boundary::guard([&] {
    MemoryContext caller = MemoryContextSwitchTo(memory);
    for (size_t i = 0; i < columns.size(); ++i) values[i] = codec::decode(columns[i], row, &nulls[i]);
    MemoryContextSwitchTo(caller);
  });
}

}  // namespace strom::pg::source
