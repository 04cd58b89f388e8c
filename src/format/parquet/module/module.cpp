// The Parquet module, pg_strom_parquet.so: the functions of module_abi.h over libparquet. No exception leaves them.
#include "format/parquet/module_abi.h"

#include <arrow/util/config.h>
#include <parquet/exception.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "format/parquet/module/file.hpp"

struct strom_parquet_file {
  strom::parquet_module::File file;
};

namespace strom::parquet_module {
namespace {

/// The message must be one line of printable ASCII, but the library's messages may contain bytes of the file.
int32_t failed(strom_parquet_code code, const char* message, strom_parquet_error* error) {
  std::snprintf(error->message, sizeof error->message, "%s", message);
  size_t length = std::strlen(error->message);
  for (size_t i = 0; i < length; ++i)
    if (error->message[i] < ' ' || error->message[i] > '~') error->message[i] = ' ';
  while (length > 0 && std::strchr(" .", error->message[length - 1]) != nullptr) error->message[--length] = '\0';
  return code;
}

strom_parquet_code code_of(const ::arrow::Status& status) {
  if (status.IsOutOfMemory()) return STROM_PARQUET_OUT_OF_MEMORY;
  if (status.IsNotImplemented()) return STROM_PARQUET_UNSUPPORTED;
  return STROM_PARQUET_CORRUPT;
}

/// The library has no exception type for a column that needs a key.
bool tells_of_encryption(const char* message) {
  return std::strstr(message, "ecrypt") != nullptr || std::strstr(message, "ncrypt") != nullptr;
}

/// Runs `f`; exceptions become a code and a message.
template <class F>
int32_t guarded(strom_parquet_error* error, F f) {
  try {
    f();
    return STROM_PARQUET_OK;
  } catch (const Failure& failure) {
    return failed(failure.code, failure.what(), error);
  } catch (const ::parquet::ParquetStatusException& exception) {
    return failed(code_of(exception.status()), exception.status().message().c_str(), error);
  } catch (const std::bad_alloc&) {
    return failed(STROM_PARQUET_OUT_OF_MEMORY, "out of memory", error);
  } catch (const std::exception& exception) {
    if (tells_of_encryption(exception.what())) return failed(STROM_PARQUET_ENCRYPTED, "it needs a key", error);
    return failed(STROM_PARQUET_CORRUPT, exception.what(), error);
  } catch (...) {
    return failed(STROM_PARQUET_INTERNAL, "an exception of unknown type", error);
  }
}

int32_t open(const strom_parquet_source* source, strom_parquet_file** file, strom_parquet_error* error) {
  return guarded(error, [&] { *file = new strom_parquet_file{strom::parquet_module::File(*source)}; });
}

void close(strom_parquet_file* file) { delete file; }

int32_t row_group_count(const strom_parquet_file* file) { return file->file.row_group_count(); }

int32_t read_schema(const strom_parquet_file* file, const strom_parquet_target* target, int64_t* size,
                    strom_parquet_error* error) {
  return guarded(error, [&] { *size = file->file.read_schema(*target); });
}

int32_t row_group(const strom_parquet_file* file, int32_t number, strom_parquet_row_group* result,
                  strom_parquet_error* error) {
  return guarded(error, [&] { *result = file->file.row_group(number); });
}

int32_t column(const strom_parquet_file* file, int32_t row_group, int32_t field, strom_parquet_column* result,
               strom_parquet_error* error) {
  return guarded(error, [&] { *result = file->file.column(row_group, field); });
}

int32_t read_column(const strom_parquet_file* file, int32_t row_group, int32_t field,
                    const strom_parquet_target* target, int64_t* size, strom_parquet_error* error) {
  return guarded(error, [&] { *size = file->file.read_column(row_group, field, *target); });
}

}  // namespace
}  // namespace strom::parquet_module

extern "C" __attribute__((visibility("default"))) const strom_parquet_module_functions* strom_parquet_module() {
  namespace m = strom::parquet_module;
  static const strom_parquet_module_functions functions = {STROM_PARQUET_ABI,
                                                           sizeof(strom_parquet_module_functions),
                                                           "Apache Arrow " ARROW_VERSION_STRING,
                                                           m::open,
                                                           m::close,
                                                           m::row_group_count,
                                                           m::read_schema,
                                                           m::row_group,
                                                           m::column,
                                                           m::read_column};
  return &functions;
}
