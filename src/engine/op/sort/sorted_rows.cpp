#include "engine/op/sort/sorted_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/int128.hpp"
#include "registry/functions.hpp"

namespace strom::engine::op {

namespace {

using registry::Phys;
using registry::StrView;

constexpr uint64_t kSign = uint64_t{1} << 63;

bool is_null(const ResultColumn& column, int64_t row) {
  return column.flags != nullptr && (column.flags[row] & 1) != 0;
}

/// a < b means place_of(a) <= place_of(b). Equal values have equal places.
uint64_t place_of(int64_t value) { return static_cast<uint64_t>(value) ^ kSign; }
uint64_t place_of(int32_t value) { return place_of(int64_t{value}); }
uint64_t place_of(uint8_t value) { return value; }
uint64_t place_of(__int128 value) {
  constexpr __int128 kLeast = INT64_MIN, kMost = INT64_MAX;
  return place_of(static_cast<int64_t>(std::clamp(value, kLeast, kMost)));
}
uint64_t place_of(double value) {
  if (value != value) return UINT64_MAX;
  const auto bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);  // -0 = 0
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
uint64_t place_of(float value) { return place_of(static_cast<double>(value)); }
uint64_t place_of(const StrView& value) {
  unsigned char bytes[8] = {};
  std::memcpy(bytes, value.ptr, static_cast<size_t>(std::min<int64_t>(value.len, 8)));
  uint64_t place = 0;
  for (const unsigned char byte : bytes) place = place << 8 | byte;
  return place;
}

int compare(const StrView& a, const StrView& b) {
  const int order = std::memcmp(a.ptr, b.ptr, static_cast<size_t>(std::min(a.len, b.len)));
  return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}
template <class T>
int compare(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) - std::isnan(b);  // NaN is after all others, and equals itself
  return (a > b) - (a < b);
}

/// Calls `visit` with a null pointer to values of the column's type.
template <class F>
auto with_type(const ResultColumn& column, F visit) {
  switch (column.type.phys()) {
    case Phys::kBool: return visit(static_cast<const uint8_t*>(nullptr));
    case Phys::kI32: return visit(static_cast<const int32_t*>(nullptr));
    case Phys::kI128: return visit(static_cast<const __int128*>(nullptr));
    case Phys::kF32: return visit(static_cast<const float*>(nullptr));
    case Phys::kF64: return visit(static_cast<const double*>(nullptr));
    case Phys::kStr: return visit(static_cast<const StrView*>(nullptr));
    case Phys::kI64: break;
  }
  return visit(static_cast<const int64_t*>(nullptr));
}

int compare_values(const ResultColumn& a, int64_t row_a, const ResultColumn& b, int64_t row_b) {
  return with_type(a, [&](auto* type) {
    using Values = decltype(type);
    return compare(static_cast<Values>(a.values)[row_a], static_cast<Values>(b.values)[row_b]);
  });
}

/// Negative when the row of `a` precedes that of `b`.
int compare_rows(const std::vector<plan::SortKey>& keys, const ResultBatch& a, int64_t row_a, const ResultBatch& b,
                 int64_t row_b) {
  for (const plan::SortKey& key : keys) {
    const ResultColumn &left = a.columns[key.output], &right = b.columns[key.output];
    const bool left_null = is_null(left, row_a), right_null = is_null(right, row_b);
    if (left_null != right_null) return left_null == key.nulls_first ? -1 : 1;
    if (left_null) continue;
    const int order = compare_values(left, row_a, right, row_b);
    if (order != 0) return (order < 0) != key.descending ? -1 : 1;
  }
  return 0;
}

struct PlacedRow {
  uint64_t place;
  uint32_t row;
};

/// Moves values into order, with their flags behind them, if there are any.
void move_column(const std::vector<PlacedRow>& order, uint8_t* to, ResultColumn* column) {
  uint8_t* flags = to + order.size() * static_cast<size_t>(registry::phys_size(column->type.phys()));
  with_type(*column, [&](auto* type) {
    const auto* from = static_cast<decltype(type)>(column->values);
    using Value = std::remove_cv_t<std::remove_pointer_t<decltype(type)>>;
    for (size_t i = 0; i < order.size(); ++i) std::memcpy(to + i * sizeof(Value), from + order[i].row, sizeof(Value));
  });
  column->values = to;
  if (column->flags == nullptr) return;
  for (size_t i = 0; i < order.size(); ++i) flags[i] = column->flags[order[i].row];
  column->flags = flags;
}

}  // namespace

std::vector<std::unique_ptr<uint8_t[]>> sort_rows(const std::vector<plan::SortKey>& keys, ResultBatch* batch) {
  const plan::SortKey& first = keys.front();
  const ResultColumn& column = batch->columns[first.output];
  const uint64_t null_place = first.nulls_first ? 0 : UINT64_MAX, reverse = first.descending ? UINT64_MAX : 0;
  std::vector<PlacedRow> order(static_cast<size_t>(batch->rows));
  with_type(column, [&](auto* type) {
    const auto* values = static_cast<decltype(type)>(column.values);
    for (int64_t i = 0; i < batch->rows; ++i)
      order[static_cast<size_t>(i)] = {is_null(column, i) ? null_place : place_of(values[i]) ^ reverse,
                                       static_cast<uint32_t>(i)};
  });
  std::sort(order.begin(), order.end(), [&](const PlacedRow& a, const PlacedRow& b) {
    return a.place != b.place ? a.place < b.place : compare_rows(keys, *batch, a.row, *batch, b.row) < 0;
  });
  batch->places.reserve(order.size());
  for (const PlacedRow& row : order) batch->places.push_back(row.place);
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  batch->memory_bytes = static_cast<int64_t>(order.size() * sizeof(uint64_t));
  for (ResultColumn& moved : batch->columns) {
    const auto size = static_cast<size_t>(registry::phys_size(moved.type.phys()));
    const size_t bytes = order.size() * (size + (moved.flags != nullptr ? 1 : 0));
    memory.push_back(std::unique_ptr<uint8_t[]>(new uint8_t[bytes + 1]));
    batch->memory_bytes += static_cast<int64_t>(bytes);
    move_column(order, memory.back().get(), &moved);
  }
  return memory;
}

void SortedRows::add(std::shared_ptr<const ResultBatch> batch) {
  memory_ += batch->memory_bytes;
  batches_.push_back(std::move(batch));
}

bool SortedRows::precedes(const Head& a, const Head& b) const {
  if (a.place != b.place) return a.place < b.place;
  return compare_rows(keys_, *batches_[a.batch], a.row, *batches_[b.batch], b.row) < 0;
}

void SortedRows::sift_down(size_t at) {
  const Head moved = heads_[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= heads_.size()) break;
    if (child + 1 < heads_.size() && precedes(heads_[child + 1], heads_[child])) ++child;
    if (!precedes(heads_[child], moved)) break;
    heads_[at] = heads_[child];
    at = child;
  }
  heads_[at] = moved;
}

void SortedRows::begin() {
  started_ = true;
  for (size_t i = 0; i < batches_.size(); ++i)
    if (!batches_[i]->places.empty()) heads_.push_back({batches_[i]->places.front(), 0, static_cast<uint32_t>(i)});
  for (size_t at = heads_.size() / 2; at-- > 0;) sift_down(at);
}

bool SortedRows::next() {
  if (!started_) begin();
  if (heads_.empty()) return false;
  current_ = heads_.front();
  const std::vector<uint64_t>& places = batches_[current_.batch]->places;
  const uint32_t row = current_.row + 1;
  if (row < places.size()) {
    heads_.front() = {places[row], row, current_.batch};
  } else {
    heads_.front() = heads_.back();
    heads_.pop_back();
  }
  if (!heads_.empty()) sift_down(0);
  return true;
}

}  // namespace strom::engine::op
