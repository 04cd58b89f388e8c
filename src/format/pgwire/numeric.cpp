// See numeric.hpp.
#include "format/pgwire/numeric.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/uint256.hpp"

namespace strom::format::pgwire {

namespace {

using base::UInt256;

constexpr int32_t kDigitPlaces = 4;  // decimal places of a digit
constexpr uint64_t kDigitBase = 10000;

constexpr uint64_t kPowers[] = {1,
                                10,
                                100,
                                1000,
                                10000,
                                100000,
                                1000000,
                                10000000,
                                100000000,
                                1000000000,
                                10000000000,
                                100000000000,
                                1000000000000,
                                10000000000000,
                                100000000000000,
                                1000000000000000,
                                10000000000000000,
                                100000000000000000,
                                1000000000000000000};
constexpr int32_t kMaxPower = 18;

bool multiply_power(UInt256& value, int32_t power) {
  for (; power > kMaxPower; power -= kMaxPower) {
    if (!value.multiply_add(kPowers[kMaxPower], 0)) return false;
  }
  return value.multiply_add(kPowers[power], 0);
}

/// A fast way for numbers of up to four digits, as most numbers have, in one machine word. False: the number is not one
/// of these.
bool small_decimal(const NumericView& number, int32_t precision, int32_t scale, int64_t* out) {
  const int32_t power = kDigitPlaces * (number.weight - number.count + 1) + scale;
  if (number.count > 4 || power <= -kDigitPlaces || kDigitPlaces * number.count + power > kMaxPower) return false;
  uint64_t value = 0;
  for (int32_t i = 0; i < number.count; ++i) value = value * kDigitBase + number.digit(i);
  if (power < 0) {  // the last digit has places beyond the scale, which must be zeros
    const uint64_t cut = kPowers[-power];
    if (value % cut != 0) return false;
    value /= cut;
  } else {
    value *= kPowers[power];
  }
  if (precision < kMaxPower && value >= kPowers[precision]) return false;
  *out = number.sign == NumericView::Sign::kNegative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
  return true;
}

DecimalOutcome wide_decimal(const NumericView& number, int32_t precision, int32_t scale, UInt256& value) {
  int32_t power = 0;  // of ten, by which the digits so far have to be multiplied
  for (int32_t i = 0; i < number.count; ++i) {
    const uint32_t digit = number.digit(i);
    power = kDigitPlaces * (number.weight - i) + scale;
    if (power >= 0) {
      if (!value.multiply_add(kDigitBase, digit)) return DecimalOutcome::kTooLarge;
    } else if (power > -kDigitPlaces) {
      const uint64_t cut = kPowers[-power];
      if (digit % cut != 0) return DecimalOutcome::kTooPrecise;
      if (!value.multiply_add(kPowers[kDigitPlaces + power], digit / cut)) return DecimalOutcome::kTooLarge;
    } else if (digit != 0) {
      return DecimalOutcome::kTooPrecise;
    }
  }
  constexpr int32_t kMostPlaces = 77;  // more than any decimal has
  if (power > kMostPlaces && number.count > 0) return DecimalOutcome::kTooLarge;
  if (power > 0 && !multiply_power(value, power)) return DecimalOutcome::kTooLarge;
  UInt256 limit;
  limit.words[0] = 1;
  multiply_power(limit, precision);
  return value.less_than(limit) ? DecimalOutcome::kExact : DecimalOutcome::kTooLarge;
}

/// A number's digits without zeros around them, and the first digit's power of ten.
struct SignificantDigits {
  std::string digits;
  int64_t power = 0;
  bool operator==(const SignificantDigits&) const = default;
};

/// The digits of texts like "-12.50" and "1.25e+01".
SignificantDigits significant_digits(std::string_view text) {
  SignificantDigits out;
  const size_t mark = text.find('e');
  if (mark != std::string_view::npos) {
    const size_t begin = mark + 1 + (text[mark + 1] == '+');
    std::from_chars(text.data() + begin, text.data() + text.size(), out.power);
    text = text.substr(0, mark);
  }
  const size_t point = std::min(text.find('.'), text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9' || (out.digits.empty() && text[i] == '0')) continue;
    if (out.digits.empty())
      out.power += i < point ? static_cast<int64_t>(point - i) - 1 : -static_cast<int64_t>(i - point);
    out.digits += text[i];
  }
  while (!out.digits.empty() && out.digits.back() == '0') out.digits.pop_back();
  if (out.digits.empty()) out.power = 0;
  return out;
}

}  // namespace

bool read_numeric(const uint8_t* bytes, int64_t size, NumericView& out) {
  constexpr int64_t kHeader = 8;
  if (size < kHeader) return false;
  const auto word = [&](int index) { return static_cast<uint16_t>(bytes[2 * index] << 8 | bytes[2 * index + 1]); };
  out.count = word(0);
  out.weight = static_cast<int16_t>(word(1));
  out.scale = word(3);
  out.digits = bytes + kHeader;
  switch (word(2)) {
    case 0x0000: out.sign = NumericView::Sign::kPositive; break;
    case 0x4000: out.sign = NumericView::Sign::kNegative; break;
    case 0xC000: out.sign = NumericView::Sign::kNan; break;
    case 0xD000: out.sign = NumericView::Sign::kInfinity; break;
    case 0xF000: out.sign = NumericView::Sign::kMinusInfinity; break;
    default: return false;
  }
  constexpr int32_t kMaxScale = 0x3FFF;
  if (size != kHeader + 2 * static_cast<int64_t>(out.count) || out.scale > kMaxScale) return false;
  for (int32_t i = 0; i < out.count; ++i) {
    if (out.digit(i) >= kDigitBase) return false;
  }
  return true;
}

DecimalOutcome numeric_to_decimal(const NumericView& number, int32_t precision, int32_t scale, int32_t bits,
                                  uint8_t* out) {
  int64_t small = 0;
  if (small_decimal(number, precision, scale, &small)) {
    const auto high = static_cast<uint64_t>(small >> 63);
    UInt256{{static_cast<uint64_t>(small), high, high, high}}.store(bits, out);
    return DecimalOutcome::kExact;
  }
  UInt256 value;
  const DecimalOutcome outcome = wide_decimal(number, precision, scale, value);
  if (outcome != DecimalOutcome::kExact) return outcome;
  if (number.sign == NumericView::Sign::kNegative) value.negate();
  value.store(bits, out);
  return outcome;
}

void numeric_to_text(const NumericView& number, std::string& out) {
  switch (number.sign) {
    case NumericView::Sign::kNan: out = "NaN"; return;
    case NumericView::Sign::kInfinity: out = "Infinity"; return;
    case NumericView::Sign::kMinusInfinity: out = "-Infinity"; return;
    case NumericView::Sign::kNegative: out = "-"; break;
    case NumericView::Sign::kPositive: out.clear(); break;
  }
  const auto put_digit = [&](int32_t place, int32_t places, bool leading) {
    const int32_t index = number.weight - place;
    const uint32_t digit = index >= 0 && index < number.count ? number.digit(index) : 0;
    char text[kDigitPlaces];
    for (int32_t i = 0; i < kDigitPlaces; ++i) {
      text[i] = static_cast<char>('0' + digit / kPowers[kDigitPlaces - 1 - i] % 10);
    }
    int32_t begin = 0;
    while (leading && begin < kDigitPlaces - 1 && text[begin] == '0') ++begin;
    out.append(text + begin, static_cast<size_t>(places - begin));
  };
  if (number.weight < 0) {
    out += '0';
  } else {
    for (int32_t place = number.weight; place >= 0; --place) put_digit(place, kDigitPlaces, place == number.weight);
  }
  if (number.scale == 0) return;
  out += '.';
  int32_t place = -1;
  for (int32_t left = number.scale; left > 0; left -= kDigitPlaces) {
    put_digit(place--, left < kDigitPlaces ? left : kDigitPlaces, false);
  }
}

DecimalOutcome numeric_to_real(const NumericView& number, double* out) {
  switch (number.sign) {
    case NumericView::Sign::kNan: *out = std::numeric_limits<double>::quiet_NaN(); return DecimalOutcome::kExact;
    case NumericView::Sign::kInfinity: *out = std::numeric_limits<double>::infinity(); return DecimalOutcome::kExact;
    case NumericView::Sign::kMinusInfinity:
      *out = -std::numeric_limits<double>::infinity();
      return DecimalOutcome::kExact;
    default: break;
  }
  std::string text;
  numeric_to_text(number, text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc::result_out_of_range) {  // too large or too small: its digits tell which
    *out = 0;
    return number.weight > 0 ? DecimalOutcome::kTooLarge : DecimalOutcome::kTooPrecise;
  }
  constexpr size_t kDigits = 15;  // a double holds all numbers of so many digits
  const SignificantDigits wanted = significant_digits(text);
  constexpr int64_t kLeastPower = -300;  // below it, doubles have fewer digits
  if (wanted.digits.size() <= kDigits && wanted.power > kLeastPower) return DecimalOutcome::kExact;
  char shortest[32];
  const auto printed = std::to_chars(shortest, shortest + sizeof(shortest), *out, std::chars_format::scientific);
  const bool same = significant_digits({shortest, static_cast<size_t>(printed.ptr - shortest)}) == wanted;
  return same ? DecimalOutcome::kExact : DecimalOutcome::kTooPrecise;
}

}  // namespace strom::format::pgwire
