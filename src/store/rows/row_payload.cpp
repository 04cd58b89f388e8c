#include "store/rows/row_payload.hpp"

namespace strom::store::rows {

namespace {

constexpr size_t kBits = 8;

size_t bitmap_bytes(const Shape& shape) { return (shape.columns.size() + kBits - 1) / kBits; }

bool is_key(const Shape& shape, size_t column) { return static_cast<int64_t>(column) == shape.key; }

bool is_view(const Shape& shape, size_t column) { return shape.columns[column].form == Form::kView; }

/// A bitmap that a row without NULLs does not have.
class Nulls {
 public:
  explicit Nulls(const char* bits) : bits_(bits) {}
  bool operator[](size_t column) const {
    return bits_ != nullptr && (static_cast<uint8_t>(bits_[column / kBits]) >> (column % kBits) & 1) != 0;
  }

 private:
  const char* bits_;
};

/// True if the bitmap has a NULL, and none of the key or behind the last column.
bool is_sound(const Shape& shape, std::string_view bitmap) {
  const Nulls nulls(bitmap.data());
  bool has_any = false;
  for (size_t i = 0; i < bitmap.size() * kBits; ++i) {
    if (nulls[i] && (i >= shape.columns.size() || is_key(shape, i))) return false;
    has_any = has_any || nulls[i];
  }
  return has_any;
}

/// The last value of variable length has no length of its own: it takes what the values behind it, all of fixed width,
/// leave.
struct Tail {
  size_t last;     // column of that value; without one, the number of columns
  uint64_t fixed;  // bytes of the values behind it, or of all values
};

template <class IsNull>
Tail tail_of(const Shape& shape, IsNull is_null) {
  uint64_t fixed = 0;
  for (size_t i = shape.columns.size(); i-- > 0;) {
    if (is_key(shape, i) || is_null(i)) continue;
    if (is_view(shape, i)) return {i, fixed};
    fixed += shape.columns[i].width;
  }
  return {shape.columns.size(), fixed};
}

}  // namespace

PayloadSize payload_size(const Shape& shape, std::span<const Cell> cells) noexcept {
  uint64_t values = 0, lengths = 0;
  bool has_nulls = false;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (is_key(shape, i)) continue;
    has_nulls = has_nulls || cells[i].is_null;
    if (cells[i].is_null) continue;
    values += cells[i].bytes;
    if (is_view(shape, i)) lengths += sizeof(cells[i].bytes);
  }
  if (lengths != 0) lengths -= sizeof(cells[0].bytes);
  return {(has_nulls ? bitmap_bytes(shape) : 0) + lengths + values, has_nulls};
}

void write_payload(const Shape& shape, std::span<const Cell> cells, bool has_nulls, uint8_t* to) noexcept {
  if (has_nulls) {
    std::memset(to, 0, bitmap_bytes(shape));
    for (size_t i = 0; i < cells.size(); ++i)
      if (cells[i].is_null && !is_key(shape, i))
        to[i / kBits] = static_cast<uint8_t>(to[i / kBits] | 1U << (i % kBits));
    to += bitmap_bytes(shape);
  }
  const size_t last = tail_of(shape, [cells](size_t i) { return cells[i].is_null; }).last;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].is_null || is_key(shape, i)) continue;
    if (is_view(shape, i) && i != last) {
      std::memcpy(to, &cells[i].bytes, sizeof(cells[i].bytes));
      to += sizeof(cells[i].bytes);
    }
    copy_value(to, cells[i].data, cells[i].bytes);
    to += cells[i].bytes;
  }
}

bool parse_payload(const Shape& shape, std::string_view key, std::string_view payload, bool has_nulls,
                   std::span<Cell> cells) noexcept {
  if (payload.size() > kMaxRowBytes + kPayloadOverhead || key.size() > kMaxRowBytes) return false;
  const std::string_view bitmap = payload.substr(0, has_nulls ? bitmap_bytes(shape) : 0);
  if (has_nulls && (bitmap.size() < bitmap_bytes(shape) || !is_sound(shape, bitmap))) return false;
  payload.remove_prefix(bitmap.size());
  const Nulls nulls(has_nulls ? bitmap.data() : nullptr);
  const Tail tail = tail_of(shape, [nulls](size_t i) { return nulls[i]; });
  for (size_t i = 0; i < cells.size(); ++i) {
    if (is_key(shape, i)) {
      if (!is_view(shape, i) && key.size() != shape.columns[i].width) return false;
      cells[i] = cell_of(key);
      continue;
    }
    cells[i] = {};
    if (nulls[i]) continue;
    uint32_t bytes = shape.columns[i].width;
    if (i == tail.last) {
      if (payload.size() < tail.fixed) return false;
      bytes = static_cast<uint32_t>(payload.size() - tail.fixed);
    } else if (is_view(shape, i)) {
      if (payload.size() < sizeof(bytes)) return false;
      std::memcpy(&bytes, payload.data(), sizeof(bytes));
      payload.remove_prefix(sizeof(bytes));
    }
    if (payload.size() < bytes) return false;
    cells[i] = {payload.data(), bytes, false};
    payload.remove_prefix(bytes);
  }
  return payload.empty();
}

}  // namespace strom::store::rows
