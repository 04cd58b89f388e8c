#include "ssb/copy_format.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace strom::ssb {
namespace {

using columnar::ColumnView;
using columnar::Layout;

template <class T>
char* put(char* at, T value) {
  static_assert(std::endian::native == std::endian::little);
  if constexpr (sizeof(T) == 2) value = static_cast<T>(__builtin_bswap16(static_cast<uint16_t>(value)));
  if constexpr (sizeof(T) == 4) value = static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(value)));
  if constexpr (sizeof(T) == 8) value = static_cast<T>(__builtin_bswap64(static_cast<uint64_t>(value)));
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

char* put_field(char* at, const ColumnView& column, int64_t row) {
  if (column.layout == Layout::kUtf8) {
    const auto* offsets = static_cast<const int32_t*>(column.values);
    const int32_t size = offsets[row + 1] - offsets[row];
    at = put<int32_t>(at, size);
    std::memcpy(at, column.data + offsets[row], static_cast<size_t>(size));
    return at + size;
  }
  if (column.layout == Layout::kInt64)
    return put<int64_t>(put<int32_t>(at, 8), static_cast<const int64_t*>(column.values)[row]);
  return put<int32_t>(put<int32_t>(at, 4), static_cast<const int32_t*>(column.values)[row]);
}

size_t encoded_size(const columnar::BatchView& batch) {
  size_t size = 2 * static_cast<size_t>(batch.rows);
  for (const ColumnView& column : batch.columns) {
    const size_t width = column.layout == Layout::kUtf8 ? 0 : column.layout == Layout::kInt64 ? 8 : 4;
    size += static_cast<size_t>(batch.rows) * (4 + width) + static_cast<size_t>(column.data_size);
  }
  return size;
}

}  // namespace

std::string copy_header() {
  std::string header("PGCOPY\n\377\r\n\0", 11);
  header.append(8, '\0');  // flags and length of the header extension
  return header;
}

std::string copy_trailer() { return "\377\377"; }

void append_copy_rows(const columnar::BatchView& batch, std::string& out) {
  const size_t start = out.size();
  out.resize(start + encoded_size(batch));
  char* at = out.data() + start;
  for (int64_t row = 0; row < batch.rows; ++row) {
    at = put<int16_t>(at, static_cast<int16_t>(batch.columns.size()));
    for (const ColumnView& column : batch.columns) at = put_field(at, column, row);
  }
}

}  // namespace strom::ssb
