// Fuzzer of Parquet files: what the module makes of their metadata, schema and statistics, and its columns, by way of
// the interface that the engine uses. libparquet itself is not instrumented; what crosses the interface is.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "format/arrow/read/reader.hpp"
#include "format/parquet/module_abi.h"

extern "C" const strom_parquet_module_functions* strom_parquet_module();

namespace {

/// Of exactly its size, so that reading past the end is seen.
struct Input {
  std::unique_ptr<uint8_t[]> bytes;
  int64_t size;
};

void read_input(void* context, int64_t offset, int64_t size, void* bytes) {
  const auto* input = static_cast<const Input*>(context);
  if (offset < 0 || size < 0 || offset > input->size || size > input->size - offset) __builtin_trap();
  std::memcpy(bytes, input->bytes.get() + offset, static_cast<size_t>(size));
}

struct Target {
  void* bytes = nullptr;
  ~Target() { std::free(bytes); }
};

void* allocate(void* context, int64_t size) {
  auto* target = static_cast<Target*>(context);
  std::free(target->bytes);
  return target->bytes = std::malloc(static_cast<size_t>(size));
}

void check(int32_t code, const strom_parquet_error& error) {
  if (code < STROM_PARQUET_OK || code > STROM_PARQUET_ENCRYPTED) __builtin_trap();
  if (code != STROM_PARQUET_OK && std::memchr(error.message, 0, sizeof error.message) == nullptr) __builtin_trap();
}

/// Columns of an Arrow file that the module made must be readable, or refused.
int field_count(const Target& target, int64_t size) {
  const auto reader = strom::format::arrow::FileReader::open_memory(
      "made", {static_cast<const uint8_t*>(target.bytes), static_cast<size_t>(size)});
  if (!reader.is_ok()) return 0;
  const auto fields = static_cast<int>(reader.value()->schema().fields.size());
  for (int batch = 0; batch < reader.value()->batch_count(); ++batch)
    for (int field = 0; field < fields; ++field) (void)reader.value()->column(batch, field);
  return fields;
}

void check_column(const strom_parquet_column& column) {
  if (column.bounds < STROM_PARQUET_NO_BOUNDS || column.bounds > STROM_PARQUET_TEXTS) __builtin_trap();
  if (column.bounds != STROM_PARQUET_TEXTS) return;
  for (const int32_t size : {column.low_size, column.high_size})
    if (size < 0 || size > STROM_PARQUET_TEXT_BOUND) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  constexpr int32_t kMostRowGroups = 4;
  constexpr int kMostFields = 64;
  constexpr int64_t kMostMemory = 1 << 24;  // columns that say that they take more are not decoded
  const auto* module = strom_parquet_module();
  Input input{std::unique_ptr<uint8_t[]>(new uint8_t[size]), static_cast<int64_t>(size)};
  std::memcpy(input.bytes.get(), bytes, size);
  const strom_parquet_source source{&input, input.size, read_input};
  strom_parquet_file* file = nullptr;
  strom_parquet_error error{};
  int32_t code = module->open(&source, &file, &error);
  check(code, error);
  if (code != STROM_PARQUET_OK) return 0;
  Target schema;
  int64_t made = 0;
  const strom_parquet_target schema_target{&schema, allocate};
  code = module->read_schema(file, &schema_target, &made, &error);
  check(code, error);
  const int fields = code == STROM_PARQUET_OK ? std::min(field_count(schema, made), kMostFields) : 0;
  const int32_t groups = std::min(module->row_group_count(file), kMostRowGroups);
  for (int32_t group = 0; group < groups; ++group) {
    strom_parquet_row_group of{};
    check(module->row_group(file, group, &of, &error), error);
    for (int32_t field = 0; field < fields; ++field) {
      strom_parquet_column column{};
      code = module->column(file, group, field, &column, &error);
      check(code, error);
      if (code != STROM_PARQUET_OK) continue;
      check_column(column);
      if (column.memory_bytes > kMostMemory || of.rows > kMostMemory) continue;
      Target target;
      const strom_parquet_target to{&target, allocate};
      code = module->read_column(file, group, field, &to, &made, &error);
      check(code, error);
      if (code == STROM_PARQUET_OK) (void)field_count(target, made);
    }
  }
  module->close(file);
  return 0;
}
