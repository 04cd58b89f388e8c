#include "store/rows/row_image.hpp"

namespace strom::store::rows {

namespace {
constexpr size_t kBits = 8;
}

void append_row(const Shape& shape, std::span<const Cell> cells, std::string* bytes) {
  const size_t begin = bytes->size();
  bytes->resize(begin + row_bytes(shape, cells));
  write_row(shape, cells, reinterpret_cast<uint8_t*>(bytes->data()) + begin);
}

uint64_t row_bytes(const Shape& shape, std::span<const Cell> cells) noexcept {
  uint64_t bytes = (cells.size() + kBits - 1) / kBits;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].is_null) continue;
    bytes += cells[i].bytes + (shape.columns[i].form == Form::kView ? sizeof(cells[i].bytes) : 0);
  }
  return bytes;
}

void write_row(const Shape& shape, std::span<const Cell> cells, uint8_t* to) noexcept {
  uint8_t* nulls = to;
  const size_t null_bytes = (cells.size() + kBits - 1) / kBits;
  std::memset(nulls, 0, null_bytes);
  to += null_bytes;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].is_null) {
      nulls[i / kBits] = static_cast<uint8_t>(nulls[i / kBits] | (1U << (i % kBits)));
      continue;
    }
    if (shape.columns[i].form == Form::kView) {
      std::memcpy(to, &cells[i].bytes, sizeof(cells[i].bytes));
      to += sizeof(cells[i].bytes);
    }
    copy_value(to, cells[i].data, cells[i].bytes);
    to += cells[i].bytes;
  }
}

bool take_row(const Shape& shape, std::string_view* bytes, std::span<Cell> cells) {
  const size_t null_bytes = (cells.size() + kBits - 1) / kBits;
  if (bytes->size() < null_bytes) return false;
  const std::string_view nulls = bytes->substr(0, null_bytes);
  bytes->remove_prefix(null_bytes);
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] = {};
    if ((static_cast<uint8_t>(nulls[i / kBits]) >> (i % kBits) & 1) != 0) continue;
    uint32_t size = shape.columns[i].width;
    if (shape.columns[i].form == Form::kView) {
      if (bytes->size() < sizeof(size)) return false;
      std::memcpy(&size, bytes->data(), sizeof(size));
      bytes->remove_prefix(sizeof(size));
      if (size > kMaxRowBytes) return false;
    }
    if (bytes->size() < size) return false;
    cells[i] = {bytes->data(), size, false};
    bytes->remove_prefix(size);
  }
  return true;
}

}  // namespace strom::store::rows
