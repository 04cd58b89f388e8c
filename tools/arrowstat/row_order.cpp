// See row_order.hpp.
#include "arrowstat/row_order.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>

#include "arrow_files/workers.hpp"
#include "arrowstat/row_compare.hpp"
#include "base/int128.hpp"
#include "columnar/load.hpp"
#include "columnar/stored_number.hpp"
#include "columnar/text.hpp"

namespace strom::tool {

using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;

namespace {

/// Unsigned integers that order as the values do; NaN, of either sign, above all.
template <class T>
auto ordered_bits(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
    if (std::isnan(value)) return static_cast<Bits>(~Bits{0});
    const auto bits = std::bit_cast<Bits>(value == 0 ? T{0} : value);
    return static_cast<Bits>(bits & kSign ? ~bits : bits | kSign);
  } else if constexpr (std::is_same_v<T, base::int128>) {
    return static_cast<base::uint128>(value) ^ (base::uint128{1} << 127);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(int64_t{value}) ^ (uint64_t{1} << 63);
  } else {
    return uint64_t{value};
  }
}

template <class Key>
struct Entry {
  Key key;
  RowPlace place;
};

/// Parts are sorted by the threads and merged.
template <class Key>
void sort_entries(std::vector<Entry<Key>>& entries, int threads) {
  const auto less = [](const Entry<Key>& a, const Entry<Key>& b) { return a.key < b.key; };
  constexpr size_t kLeastPart = 100'000;
  size_t parts = 1;
  while (parts < static_cast<size_t>(threads) && entries.size() / (2 * parts) >= kLeastPart) parts *= 2;
  const auto border = [&](size_t part) {
    return entries.begin() + static_cast<std::ptrdiff_t>(entries.size() * part / parts);
  };
  // The work cannot fail but for memory, which comes back as a failure.
  const auto run = [&](size_t pieces, auto work) {
    const Status status = run_pieces(static_cast<int64_t>(pieces), threads, [&](int64_t piece, int) {
      work(static_cast<size_t>(piece));
      return Status::ok();
    });
    if (!status.is_ok()) throw std::bad_alloc();
  };
  run(parts, [&](size_t part) { std::stable_sort(border(part), border(part + 1), less); });
  for (size_t width = 1; width < parts; width *= 2)
    run(parts / (2 * width), [&](size_t pair) {
      const size_t begin = pair * 2 * width;
      std::inplace_merge(border(begin), border(begin + width), border(begin + 2 * width), less);
    });
}

/// `key_of(view, row, &key)` is false for a value that cannot be read.
template <class Key, class KeyOf>
Status sort_by(const Field& field, const std::vector<ColumnView>& batches, int threads, std::vector<RowPlace>& rows,
               KeyOf key_of) {
  std::vector<Entry<Key>> entries;
  std::vector<RowPlace> nulls;
  entries.reserve(rows.size());
  for (const RowPlace place : rows) {
    const ColumnView& view = batches[place.batch];
    if (!columnar::is_valid(view, place.row)) {
      nulls.push_back(place);
      continue;
    }
    Key key{};
    if (!key_of(view, place.row, &key))
      return Status(ErrorCode::kCorruptFile, "column \"" + field.name + "\" has a text outside of its buffers");
    entries.push_back({key, place});
  }
  sort_entries(entries, threads);
  for (size_t i = 0; i < entries.size(); ++i) rows[i] = entries[i].place;
  std::copy(nulls.begin(), nulls.end(), rows.begin() + static_cast<std::ptrdiff_t>(entries.size()));
  return Status::ok();
}

template <class T>
Status sort_by_value(const Field& field, const std::vector<ColumnView>& batches, int threads,
                     std::vector<RowPlace>& rows) {
  using Key = decltype(ordered_bits(T{}));
  return sort_by<Key>(field, batches, threads, rows, [](const ColumnView& view, int64_t row, Key* key) {
    *key = ordered_bits(columnar::load<T>(view.values, row));
    return true;
  });
}

Status sort_by_bool(const Field& field, const std::vector<ColumnView>& batches, int threads,
                    std::vector<RowPlace>& rows) {
  return sort_by<uint8_t>(field, batches, threads, rows, [](const ColumnView& view, int64_t row, uint8_t* key) {
    *key = (static_cast<const uint8_t*>(view.values)[row >> 3] >> (row & 7)) & 1;
    return true;
  });
}

Status sort_by_text(const Field& field, const std::vector<ColumnView>& batches, int threads,
                    std::vector<RowPlace>& rows) {
  return sort_by<std::string_view>(field, batches, threads, rows,
                                   [](const ColumnView& view, int64_t row, std::string_view* key) {
                                     const char* text = nullptr;
                                     int64_t size = 0;
                                     if (!columnar::text_at(view, row, &text, &size)) return false;
                                     *key = {text, static_cast<size_t>(size)};
                                     return true;
                                   });
}

/// Types without a key that could be had once for each row.
Status sort_by_comparing(const Field& field, const std::vector<ColumnView>& batches, std::vector<RowPlace>& rows) {
  RowCompare compare(field);
  std::stable_sort(rows.begin(), rows.end(), [&](const RowPlace& a, const RowPlace& b) {
    return compare(batches[a.batch], a.row, batches[b.batch], b.row) < 0;
  });
  if (!compare.is_corrupt()) return Status::ok();
  return Status(ErrorCode::kCorruptFile, "column \"" + field.name + "\" has a value outside of its buffers");
}

}  // namespace

Status sort_rows(const Field& field, const std::vector<ColumnView>& batches, int threads, std::vector<RowPlace>& rows) {
  if (field.dictionary && field.layout == Layout::kBool) return sort_by_comparing(field, batches, rows);
  if (columnar::has_stored_number(field.layout))
    return columnar::with_stored_number(
        field.layout, [&](auto number) { return sort_by_value<decltype(number)>(field, batches, threads, rows); });
  switch (columnar::values_of(field.layout)) {
    case columnar::Values::kBool: return sort_by_bool(field, batches, threads, rows);
    case columnar::Values::kText:
    case columnar::Values::kBytes: return sort_by_text(field, batches, threads, rows);
    default: break;
  }
  if (field.layout == Layout::kNull) return Status::ok();
  if (RowCompare::can_compare(field)) return sort_by_comparing(field, batches, rows);
  return Status(ErrorCode::kUnsupported, "rows cannot be sorted by column \"" + field.name + "\"");
}

}  // namespace strom::tool
