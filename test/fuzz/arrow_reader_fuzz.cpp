// Fuzzer of the Arrow reader: any bytes may be a file, or one in the streaming format. Opens them and touches every
// byte that a query could touch: of columns, dictionaries, parts of nested columns and what was decompressed. Then
// looks for all that can be wrong, as arrow-info does.
#include <cstdint>
#include <cstring>
#include <memory>

#include "arrow_print.hpp"
#include "format/arrow/read/reader.hpp"
#include "format/arrow/read/validate.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  // A copy of exactly this size and alignment, so that reading past its end is seen.
  const auto copy = std::make_unique<uint8_t[]>(size);
  if (size > 0) std::memcpy(copy.get(), bytes, size);
  const auto opened = strom::format::arrow::FileReader::open_memory("fuzz", {copy.get(), size});
  if (!opened.is_ok()) return 0;
  const strom::format::arrow::FileReader& reader = *opened.value();
  for (const auto& field : reader.schema().fields) {
    if (strom::test::print_field(field).empty()) __builtin_trap();
  }
  constexpr int64_t kMostRows = 1 << 16;  // of layouts without buffers there can be any number
  // Metadata can claim far more batches or columns than bytes, all in the same place; a few thousand are enough.
  constexpr size_t kEnough = 4096;
  if (static_cast<size_t>(reader.batch_count()) * (reader.schema().fields.size() + 1) > kEnough) return 0;
  const uint64_t sum = strom::test::touch_file(reader);
  if (sum != strom::test::touch_file(reader)) __builtin_trap();
  for (int batch = 0; batch < reader.batch_count(); ++batch) {
    for (size_t i = 0; i < reader.schema().fields.size(); ++i) {
      const auto column = reader.column(batch, static_cast<int>(i));
      if (!column.is_ok() || column.value().length > kMostRows) continue;
      strom::format::arrow::validate_column(reader.schema().fields[i], column.value(), batch, reader.batch_count());
    }
  }
  return 0;
}
