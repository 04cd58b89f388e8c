// Fuzzer of the Arrow reader: any bytes may be a file. Opens them and touches every byte that a query could touch.
#include <cstdint>
#include <cstring>
#include <memory>

#include "arrow_print.hpp"
#include "format/arrow/reader.hpp"

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
  // Metadata can claim far more batches or columns than bytes, all in the same place; a few thousand are enough.
  constexpr size_t kEnough = 4096;
  if (static_cast<size_t>(reader.batch_count()) * (reader.schema().fields.size() + 1) > kEnough) return 0;
  const uint64_t sum = strom::test::touch_file(reader);
  if (sum != strom::test::touch_file(reader)) __builtin_trap();
  return 0;
}
