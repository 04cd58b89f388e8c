// See statistics.hpp.
#include "format/arrow/statistics/statistics.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "columnar/layout.hpp"
#include "format/arrow/statistics/statistics_text.hpp"

namespace strom::format::arrow {

namespace {

using columnar::Bounds;
using columnar::Field;
using columnar::Layout;

constexpr int kMostDigits = 38;  // of a 128-bit decimal

/// Lowest and highest number that a layout can store.
struct Range {
  __int128 low, high;
};

Range range_of(Layout layout) {
  const auto bits = [](int n) { return Range{-(__int128{1} << (n - 1)), (__int128{1} << (n - 1)) - 1}; };
  switch (layout) {
    case Layout::kInt8: return bits(8);
    case Layout::kInt16: return bits(16);
    case Layout::kInt32:
    case Layout::kDecimal32:
    case Layout::kTime32:
    case Layout::kDate32: return bits(32);
    case Layout::kUInt8: return {0, UINT8_MAX};
    case Layout::kUInt16: return {0, UINT16_MAX};
    case Layout::kUInt32: return {0, UINT32_MAX};
    case Layout::kUInt64: return {0, UINT64_MAX};
    case Layout::kDecimal128: {
      __int128 most = 1;
      for (int i = 0; i < kMostDigits; ++i) most *= 10;
      return {1 - most, most - 1};
    }
    default: return bits(64);
  }
}

std::string_view take_sign(std::string_view text, bool* negative) {
  *negative = text.starts_with('-');
  if (*negative || text.starts_with('+')) text.remove_prefix(1);
  return text;
}

bool all_digits(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

bool parse_digits(std::string_view digits, bool negative, __int128* value) {
  if (digits.empty() || digits.size() > kMostDigits || !all_digits(digits)) return false;
  *value = 0;
  for (const char digit : digits) *value = *value * 10 + (digit - '0');
  if (negative) *value = -*value;
  return true;
}

bool parse_integer(std::string_view text, __int128* value) {
  bool negative;
  const std::string_view digits = take_sign(text, &negative);
  return parse_digits(digits, negative, value);
}

/// A decimal's text as an integer of `scale`. Digits beyond the scale must be zeros.
bool parse_decimal(std::string_view text, int scale, __int128* value) {
  bool negative;
  text = take_sign(text, &negative);
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string_view fraction = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (scale < 0 || whole.size() + fraction.size() == 0 || !all_digits(fraction)) return false;
  const auto places = static_cast<size_t>(scale);
  if (fraction.size() > places) {
    if (fraction.find_first_not_of('0', places) != std::string_view::npos) return false;
    fraction = fraction.substr(0, places);
  }
  std::string digits(whole);
  digits += fraction;
  digits.append(places - fraction.size(), '0');
  return parse_digits(digits, negative, value);
}

/// A number's text, and its possible rounding error: a unit of its last digit.
bool parse_real(std::string_view text, double* value, double* error) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (problem != std::errc() || end != text.data() + text.size() || std::isnan(*value)) return false;
  *error = 0;
  if (std::isinf(*value)) return true;
  const size_t mark = text.find_first_of("eE");
  int exponent = 0;
  if (mark != std::string_view::npos) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc()) return false;
  }
  const std::string_view mantissa = text.substr(0, mark);
  const size_t point = mantissa.find('.');
  if (point != std::string_view::npos) exponent -= static_cast<int>(mantissa.size() - point - 1);
  *error = std::pow(10.0, exponent);
  return std::isfinite(*error);
}

/// A real number that is written as the integer of its bits.
bool real_of_bits(Layout layout, __int128 bits, double* value) {
  if (layout == Layout::kFloat32) {
    if (bits < INT32_MIN || bits > UINT32_MAX) return false;
    *value = std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else {
    if (bits < INT64_MIN || bits > UINT64_MAX) return false;
    *value = std::bit_cast<double>(static_cast<uint64_t>(bits));
  }
  return !std::isnan(*value);
}

std::optional<Bounds> ordered(Bounds bounds) {
  const bool is_ordered = bounds.kind == Bounds::Kind::kInteger ? bounds.low <= bounds.high
                          : bounds.kind == Bounds::Kind::kReal
                              ? bounds.low_real <= bounds.high_real
                              : bounds.low_text <= bounds.high_text || bounds.low_text.starts_with(bounds.high_text);
  if (!is_ordered) return std::nullopt;
  return bounds;
}

std::optional<Bounds> integer_bounds(const Field& field, __int128 low, __int128 high) {
  const Range range = range_of(field.layout);
  if (low < range.low || high > range.high) return std::nullopt;
  Bounds bounds;
  bounds.low = low;
  bounds.high = high;
  return ordered(std::move(bounds));
}

std::optional<Bounds> stored_bounds(const Field& field, std::string_view low_text, std::string_view high_text) {
  Bounds bounds;
  if (!columnar::bounds_kind(field.layout, &bounds.kind)) return std::nullopt;
  if (bounds.kind == Bounds::Kind::kText) {
    std::optional<std::string> low = parse_text_item(low_text), high = parse_text_item(high_text);
    if (!low || !high || *low > *high) return std::nullopt;
    bounds.low_text = std::move(*low);
    bounds.high_text = std::move(*high);
    return bounds;
  }
  __int128 low, high;
  if (!parse_integer(low_text, &low) || !parse_integer(high_text, &high)) return std::nullopt;
  if (bounds.kind == Bounds::Kind::kInteger) return integer_bounds(field, low, high);
  if (bounds.kind != Bounds::Kind::kReal || !real_of_bits(field.layout, low, &bounds.low_real) ||
      !real_of_bits(field.layout, high, &bounds.high_real))
    return std::nullopt;
  return ordered(std::move(bounds));
}

}  // namespace

bool has_field_bounds(const Field& field) {
  return find_value(field.metadata, kMinValuesKey) != nullptr && find_value(field.metadata, kMaxValuesKey) != nullptr;
}

std::vector<std::optional<Bounds>> field_bounds(const Field& field, int batches) {
  const std::string* low = find_value(field.metadata, kMinValuesKey);
  const std::string* high = find_value(field.metadata, kMaxValuesKey);
  if (low == nullptr || high == nullptr) return {};
  const std::vector<std::string_view> lows = split_list(*low), highs = split_list(*high);
  if (lows.size() != static_cast<size_t>(batches) || highs.size() != lows.size()) return {};
  std::vector<std::optional<Bounds>> all;
  all.reserve(lows.size());
  for (size_t i = 0; i < lows.size(); ++i) all.push_back(stored_bounds(field, lows[i], highs[i]));
  return all;
}

std::vector<std::optional<Bounds>> box_bounds(const Field& field, int batches) {
  size_t corners[4];
  if (!columnar::is_box(field, corners)) return {};
  std::vector<std::optional<Bounds>> all(static_cast<size_t>(batches));
  for (auto& bounds : all) bounds.emplace().kind = Bounds::Kind::kBox;
  for (size_t corner = 0; corner < 4; ++corner) {
    const auto known = field_bounds(field.children[corners[corner]], batches);
    if (known.empty()) return {};
    for (size_t i = 0; i < all.size(); ++i) {
      if (!known[i].has_value()) all[i].reset();
      if (all[i].has_value()) all[i]->box[corner] = corner < 2 ? known[i]->low_real : known[i]->high_real;
    }
  }
  return all;
}

std::optional<Bounds> batch_bounds(const Field& field, std::string_view value) {
  Bounds bounds;
  const std::vector<std::string_view> pair = split_list(value);
  if (pair.size() != 2 || !columnar::bounds_kind(field.layout, &bounds.kind)) return std::nullopt;
  if (bounds.kind == Bounds::Kind::kText) {  // writers cut texts: after some bytes, and at a comma
    bounds.low_text = pair[0];
    bounds.high_text = pair[1];
    bounds.high_is_prefix = true;
    return ordered(std::move(bounds));
  }
  if (bounds.kind == Bounds::Kind::kReal) {
    double low_error, high_error;
    if (!parse_real(pair[0], &bounds.low_real, &low_error) || !parse_real(pair[1], &bounds.high_real, &high_error))
      return std::nullopt;
    bounds.low_real -= low_error;
    bounds.high_real += high_error;
    return ordered(std::move(bounds));
  }
  const bool is_decimal = columnar::is_decimal(field.layout);
  const auto parse = [&](std::string_view text, __int128* number) {
    return is_decimal ? parse_decimal(text, field.scale, number) : parse_integer(text, number);
  };
  __int128 low, high;
  if (!parse(pair[0], &low) || !parse(pair[1], &high)) return std::nullopt;
  return integer_bounds(field, low, high);
}

}  // namespace strom::format::arrow
