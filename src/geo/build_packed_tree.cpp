#include "geo/build_packed_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "geo/float_box.hpp"

namespace strom::geo {

namespace {

// ---- the order of items ----

/// An item on the curve: its place in the upper half, its number in the lower one.
using OnCurve = uint64_t;
constexpr int kPlaceBits = 32;

uint32_t place_of(OnCurve item) { return static_cast<uint32_t>(item >> kPlaceBits); }

/// The place of a cell on Hilbert's curve through 2^16 columns and rows. The bits of all levels are computed together:
/// see "flatbush" and the book it follows, Hacker's Delight.
uint32_t place_on_curve(uint32_t x, uint32_t y) {
  uint32_t a = x ^ y, b = 0xFFFF ^ a, c = 0xFFFF ^ (x | y), d = x & (y ^ 0xFFFF);
  uint32_t e = a | (b >> 1), f = (a >> 1) ^ a, g = ((c >> 1) ^ (b & (d >> 1))) ^ c, h = ((a & (c >> 1)) ^ (d >> 1)) ^ d;
  for (const int shift : {2, 4}) {
    a = e, b = f, c = g, d = h;
    e = (a & (a >> shift)) ^ (b & (b >> shift));
    f = (a & (b >> shift)) ^ (b & ((a ^ b) >> shift));
    g ^= (a & (c >> shift)) ^ (b & (d >> shift));
    h ^= (b & (c >> shift)) ^ ((a ^ b) & (d >> shift));
  }
  a = e, b = f, c = g, d = h;
  g ^= (a & (c >> 8)) ^ (b & (d >> 8));
  h ^= (b & (c >> 8)) ^ ((a ^ b) & (d >> 8));
  a = g ^ (g >> 1);
  b = h ^ (h >> 1);
  const auto spread = [](uint32_t bits) {
    bits = (bits | (bits << 8)) & 0x00FF00FF;
    bits = (bits | (bits << 4)) & 0x0F0F0F0F;
    bits = (bits | (bits << 2)) & 0x33333333;
    return (bits | (bits << 1)) & 0x55555555;
  };
  const uint32_t low = x ^ y, high = b | (0xFFFF ^ (low | a));
  return spread(high) << 1 | spread(low);
}

/// Sorts by place, with a stable radix sort. `other` has as many elements.
void sort_by_place(OnCurve* items, OnCurve* other, size_t count) {
  constexpr size_t kFew = 512;
  if (count < kFew) {
    std::sort(items, items + count);
    return;
  }
  constexpr int kDigits = 4, kDigitBits = 8, kValues = 1 << kDigitBits;
  std::array<std::array<size_t, kValues>, kDigits> counts{};
  for (size_t i = 0; i < count; ++i)
    for (int digit = 0; digit < kDigits; ++digit)
      ++counts[static_cast<size_t>(digit)][items[i] >> (kPlaceBits + digit * kDigitBits) & (kValues - 1)];
  OnCurve *from = items, *to = other;
  for (int digit = 0; digit < kDigits; ++digit) {
    std::array<size_t, kValues>& begins = counts[static_cast<size_t>(digit)];
    const int shift = kPlaceBits + digit * kDigitBits;
    if (begins[from[0] >> shift & (kValues - 1)] == count) continue;
    size_t begin = 0;
    for (size_t& one : begins) begin += std::exchange(one, begin);
    for (size_t i = 0; i < count; ++i) to[begins[from[i] >> shift & (kValues - 1)]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy(from, from + count, items);
}

Point center_of(const Box& box) {
  return {box.min_x / 2 + box.max_x / 2, box.min_y / 2 + box.max_y / 2};  // halves, since sums could be infinite
}

/// Puts `count` items, whose numbers are in the lower halves, into the order of the curve through their box. Items that
/// share a cell of this curve, because others are far away, are ordered by a finer curve.
class CurveOrder {
 public:
  explicit CurveOrder(const base::LargeVector<Box>& boxes) : boxes_(boxes), items_(boxes.size()), other_(boxes.size()) {
    for (size_t i = 0; i < items_.size(); ++i) items_[i] = i;
    std::vector<std::pair<size_t, size_t>> left = {{0, items_.size()}};
    while (!left.empty()) {
      const auto [begin, end] = left.back();
      left.pop_back();
      if (!place(begin, end)) continue;
      for (size_t first = begin, i = begin; i < end; ++i) {
        if (i + 1 < end && place_of(items_[i + 1]) == place_of(items_[first])) continue;
        if (i + 1 - first > 2 * kTreeWidth && i + 1 - first < end - begin) left.emplace_back(first, i + 1);
        first = i + 1;
      }
    }
  }

  uint32_t operator[](size_t i) const { return static_cast<uint32_t>(items_[i]); }

 private:
  /// False when all items are in one place.
  bool place(size_t begin, size_t end) {
    constexpr double kCells = 65535;
    Box box = Box::empty();
    for (size_t i = begin; i < end; ++i) box.add(center_of(boxes_[(*this)[i]]));
    if (box.is_empty()) return false;
    const double width = box.max_x / 2 - box.min_x / 2, height = box.max_y / 2 - box.min_y / 2;  // halves
    const double scale = kCells / 2 / std::max(width, height);
    if (!is_finite(scale)) return false;
    for (size_t i = begin; i < end; ++i) {
      const Point center = center_of(boxes_[(*this)[i]]);
      const uint32_t place = place_on_curve(cell(center.x, box.min_x, scale), cell(center.y, box.min_y, scale));
      items_[i] = OnCurve{place} << kPlaceBits | (*this)[i];
    }
    sort_by_place(items_.data() + begin, other_.data(), end - begin);
    return true;
  }
  static uint32_t cell(double at, double low, double scale) {
    return std::min<uint32_t>(0xFFFF, static_cast<uint32_t>((at / 2 - low / 2) * 2 * scale));
  }

  const base::LargeVector<Box>& boxes_;
  base::LargeVector<OnCurve> items_, other_;
};

// ---- the image ----

constexpr float kBeyond = std::numeric_limits<float>::infinity();
constexpr double kLargestFloat = std::numeric_limits<float>::max();

size_t groups_of(size_t items) { return (items + kTreeWidth - 1) / kTreeWidth; }

/// Reserves the parts of a tree at the end of an image of `*size` bytes.
TreeHeader lay_out(const TreeItems& items, bool points, bool reach, int64_t* size) {
  TreeHeader h{};
  const auto reserve = [size](size_t bytes) {
    const int64_t at = *size;
    *size += static_cast<int64_t>((bytes + 7) / 8 * 8);
    return at;
  };
  h.items = static_cast<uint32_t>(items.rows.size());
  h.has_points = points;
  h.has_reach = reach;
  size_t groups = std::max<size_t>(1, groups_of(h.items));
  h.groups_at[0] = reserve(groups * (points ? sizeof(PointGroup) : sizeof(BoxGroup)));
  for (; groups > 1; h.groups_at[h.top] = reserve(groups * sizeof(BoxGroup))) {
    groups = groups_of(groups);
    ++h.top;
  }
  h.rows_at = reserve(h.items * sizeof(uint32_t));
  if (reach) h.reach_at = reserve(h.items * sizeof(double));
  return h;
}

/// Rounds away from zero: to infinity where no float is so large.
float least(double value) { return value < -kLargestFloat ? -kBeyond : float_beside(value, true); }
float most(double value) { return value > kLargestFloat ? kBeyond : float_beside(value, false); }

void put_box(const Box& box, double reach, BoxGroup* groups, size_t at) {
  BoxGroup& group = groups[at / kTreeWidth];
  const size_t i = at % kTreeWidth;
  group.min_x[i] = least(box.min_x);
  group.min_y[i] = least(box.min_y);
  group.max_x[i] = most(box.max_x);
  group.max_y[i] = most(box.max_y);
  group.reach[i] = float_beside(reach, false);
}

void put_nothing(BoxGroup* groups, size_t at) {
  BoxGroup& group = groups[at / kTreeWidth];
  const size_t i = at % kTreeWidth;
  group.min_x[i] = group.min_y[i] = kBeyond;
  group.max_x[i] = group.max_y[i] = -kBeyond;
  group.reach[i] = 0;
}

void write_tree(const TreeItems& items, const TreeHeader& h, char* image) {
  const CurveOrder order(items.boxes);
  auto* rows = reinterpret_cast<uint32_t*>(image + h.rows_at);
  auto* reaches = reinterpret_cast<double*>(image + h.reach_at);
  std::vector<Box> boxes;  // of the level that was written last
  std::vector<double> reach;
  const size_t count = h.items;
  const auto level = [&](int number) { return reinterpret_cast<BoxGroup*>(image + h.groups_at[number]); };
  auto* points = reinterpret_cast<PointGroup*>(image + h.groups_at[0]);
  for (size_t i = 0; i < std::max<size_t>(1, groups_of(count)) * kTreeWidth; ++i) {
    if (i % kTreeWidth == 0) {
      boxes.push_back(Box::empty());
      reach.push_back(0);
    }
    if (i >= count) {
      if (h.has_points)
        points[i / kTreeWidth].x[i % kTreeWidth] = points[i / kTreeWidth].y[i % kTreeWidth] = NAN;
      else
        put_nothing(level(0), i);
      continue;
    }
    const Box& box = items.boxes[order[i]];
    const double own = h.has_reach ? items.reach[order[i]] : 0;
    rows[i] = items.rows[order[i]];
    if (h.has_reach) reaches[i] = own;
    if (h.has_points) {
      points[i / kTreeWidth].x[i % kTreeWidth] = box.min_x;
      points[i / kTreeWidth].y[i % kTreeWidth] = box.min_y;
    } else {
      put_box(box, own, level(0), i);
    }
    boxes.back().add(box);
    reach.back() = std::max(reach.back(), own);
  }
  for (int number = 1; number <= h.top; ++number) {
    std::vector<Box> above(groups_of(boxes.size()), Box::empty());
    std::vector<double> reach_above(above.size(), 0);
    for (size_t i = 0; i < above.size() * kTreeWidth; ++i) {
      if (i >= boxes.size()) {
        put_nothing(level(number), i);
        continue;
      }
      put_box(boxes[i], reach[i], level(number), i);
      above[i / kTreeWidth].add(boxes[i]);
      reach_above[i / kTreeWidth] = std::max(reach_above[i / kTreeWidth], reach[i]);
    }
    boxes.swap(above);
    reach.swap(reach_above);
  }
}

}  // namespace

base::LargeVector<uint64_t> build_tree_index(const TreeInput& input) {
  TreeIndexHeader h{};
  h.rows = input.rows;
  h.everywhere = input.everywhere;
  h.mixed_srid = input.mixed_srid;
  h.any = input.any;
  h.srid = input.srid;
  h.far_points = input.far_points;
  h.size = sizeof h;
  h.points = lay_out(input.points, true, input.has_reach, &h.size);
  h.boxes = lay_out(input.boxes, false, input.has_reach, &h.size);
  base::LargeVector<uint64_t> image(static_cast<size_t>(h.size) / sizeof(uint64_t));
  char* bytes = reinterpret_cast<char*>(image.data());
  std::memcpy(bytes, &h, sizeof h);
  write_tree(input.points, h.points, bytes);
  write_tree(input.boxes, h.boxes, bytes);
  return image;
}

int64_t tree_index_memory(int64_t rows) {
  constexpr int64_t kOfRow = 112, kOfTree = 8192;
  return rows * kOfRow + kOfTree;
}

}  // namespace strom::geo
