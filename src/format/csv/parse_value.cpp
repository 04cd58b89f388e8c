// See parse_value.hpp.
#include "format/csv/parse_value.hpp"

#include <charconv>
#include <cstring>
#include <limits>

#include "base/int128.hpp"
#include "base/uint256.hpp"

namespace strom::format::csv {

namespace {

using columnar::TimeUnit;

constexpr int64_t kSecondsPerDay = 86'400;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr int kChunk = 18;  // digits that fit into 64 bits

constexpr uint64_t power(int n) {
  uint64_t value = 1;
  while (n-- > 0) value *= 10;
  return value;
}

/// The digits of a decimal: those of the text, without the point, and further zeros.
struct Digits {
  std::string_view whole, fraction;
  int64_t exponent = 0;
  bool negative = false;
};

Parsed split_decimal(std::string_view text, Digits& out) {
  size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) out.negative = text[at++] == '-';
  const size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  out.whole = text.substr(begin, at - begin);
  if (at < text.size() && text[at] == '.') {
    const size_t point = ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
    out.fraction = text.substr(point, at - point);
  }
  if (out.whole.empty() && out.fraction.empty()) return Parsed::kMalformed;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && text[at] == '+') ++at;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), out.exponent);
    if (error == std::errc::result_out_of_range || out.exponent > 100'000 || out.exponent < -100'000)
      return Parsed::kTooLarge;
    if (error != std::errc()) return Parsed::kMalformed;
    at = static_cast<size_t>(end - text.data());
  }
  return at == text.size() ? Parsed::kExact : Parsed::kMalformed;
}

/// Collects digits of a number, at most as many as the type has.
class Pusher {
 public:
  explicit Pusher(int32_t precision) : most_(precision) {}

  bool digit(char c) {
    if (used_ == 0 && c == '0') return true;
    if (++used_ > most_) return false;
    part_ = part_ * 10 + static_cast<uint64_t>(c - '0');
    if (++part_digits_ == kChunk) flush();
    return true;
  }
  base::UInt256 value() {
    flush();
    return wide_;
  }

 private:
  void flush() {
    wide_.multiply_add(power(part_digits_), part_);
    part_ = 0;
    part_digits_ = 0;
  }

  const int32_t most_;
  int32_t used_ = 0;
  int part_digits_ = 0;
  uint64_t part_ = 0;
  base::UInt256 wide_;
};

/// Most decimals: a sign, at most 18 digits, no more after the point than the type has, nothing else. False for any
/// other text.
bool parse_short_decimal(std::string_view text, int32_t precision, int32_t scale, base::int128* value) {
  constexpr size_t kMostSize = kChunk;
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > kMostSize || precision > base::kMaxDecimalDigits) return false;
  uint64_t digits = 0;
  size_t point = text.size();
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = static_cast<unsigned>(text[i] - '0');
    if (digit <= 9) {
      digits = digits * 10 + digit;
    } else if (text[i] == '.' && point == text.size() && text.size() > 1) {
      point = i;
    } else {
      return false;
    }
  }
  const int32_t behind = point == text.size() ? 0 : static_cast<int32_t>(text.size() - point - 1);
  if (behind > scale || scale - behind > base::kMaxDecimalDigits - kChunk) return false;
  const base::int128 scaled = static_cast<base::int128>(digits) * base::power_of_ten(scale - behind);
  *value = negative ? -scaled : scaled;
  return scaled < base::power_of_ten(precision);
}

/// February without the leap day.
constexpr uint8_t kDaysOfMonth[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
constexpr int kEpochFromMarch = 719'468;  // days from 0000-03-01 to 1970-01-01

/// Days of the years 1 to 9999, without branches that depend on the date. False for other years and for days that do
/// not exist.
bool common_days(uint32_t year, uint32_t month, uint32_t day, int64_t& days) {
  constexpr uint32_t kMostYear = 9999;
  if ((year - 1 >= kMostYear) | (month - 1 > 11)) return false;
  const unsigned is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0));
  if (day - 1 >= kDaysOfMonth[month - 1] + (is_leap & static_cast<unsigned>(month == 2))) return false;
  const unsigned early = month <= 2, from_march = year - early, months = month + 12 * early - 3;
  days = static_cast<int>(from_march * 365 + from_march / 4 - from_march / 100 + from_march / 400 +
                          (153 * months + 2) / 5 + day - 1) -
         kEpochFromMarch;
  return true;
}

/// YYYY-MM-DD.
bool parse_common_date(std::string_view text, int64_t& days) {
  constexpr size_t kSize = 10;
  if (text.size() != kSize || text[4] != '-' || text[7] != '-') return false;
  unsigned bad = 0;
  const auto digit = [&](size_t i) {
    const auto value = static_cast<unsigned>(text[i] - '0');
    bad |= static_cast<unsigned>(value > 9);
    return value;
  };
  const auto two = [&](size_t i) { return digit(i) * 10 + digit(i + 1); };
  const unsigned year = two(0) * 100 + two(2), month = two(5), day = two(8);
  return bad == 0 && common_days(year, month, day, days);
}

Parsed parse_digits(std::string_view text, size_t& at, size_t least, size_t most, int64_t& value) {
  const size_t begin = at;
  value = 0;
  while (at < text.size() && is_digit(text[at]) && at - begin < most) value = value * 10 + (text[at++] - '0');
  return at - begin < least ? Parsed::kMalformed : Parsed::kExact;
}

Parsed parse_date_part(std::string_view text, size_t& at, int64_t& days) {
  bool negative = false;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) negative = text[at++] == '-';
  int64_t year, month, day;
  constexpr size_t kMostYearDigits = 7;
  if (parse_digits(text, at, 4, kMostYearDigits, year) != Parsed::kExact || at >= text.size() || text[at++] != '-')
    return Parsed::kMalformed;
  if (parse_digits(text, at, 2, 2, month) != Parsed::kExact || at >= text.size() || text[at++] != '-')
    return Parsed::kMalformed;
  if (parse_digits(text, at, 2, 2, day) != Parsed::kExact) return Parsed::kMalformed;
  const bool found = days_of(negative ? -year : year, static_cast<uint32_t>(month), static_cast<uint32_t>(day), days);
  return found ? Parsed::kExact : Parsed::kTooLarge;
}

Parsed parse_time_part(std::string_view text, size_t& at, TimeUnit unit, int64_t& value) {
  int64_t hours, minutes, seconds = 0, fraction = 0;
  if (parse_digits(text, at, 2, 2, hours) != Parsed::kExact || at >= text.size() || text[at++] != ':')
    return Parsed::kMalformed;
  if (parse_digits(text, at, 2, 2, minutes) != Parsed::kExact) return Parsed::kMalformed;
  const int64_t per_second = units_per_second(unit);
  if (at < text.size() && text[at] == ':') {
    if (parse_digits(text, ++at, 2, 2, seconds) != Parsed::kExact) return Parsed::kMalformed;
    if (at < text.size() && text[at] == '.') {
      const size_t begin = ++at;
      int64_t scale = per_second;
      while (at < text.size() && is_digit(text[at])) {
        scale /= 10;
        if (scale == 0 && text[at] != '0') return Parsed::kTooPrecise;
        fraction += (text[at++] - '0') * scale;
      }
      if (at == begin) return Parsed::kMalformed;
    }
  }
  if (hours > 23 || minutes > 59 || seconds > 59) return Parsed::kTooLarge;
  value = ((hours * 60 + minutes) * 60 + seconds) * per_second + fraction;
  return Parsed::kExact;
}

/// Seconds east of UTC.
Parsed parse_zone(std::string_view text, size_t& at, int64_t& offset) {
  offset = 0;
  if (text[at] == 'Z' || text[at] == 'z') return ++at, Parsed::kExact;
  const bool negative = text[at] == '-';
  if (!negative && text[at] != '+') return Parsed::kMalformed;
  int64_t hours, minutes = 0;
  if (parse_digits(text, ++at, 2, 2, hours) != Parsed::kExact) return Parsed::kMalformed;
  if (at < text.size()) {
    if (text[at] == ':') ++at;
    if (parse_digits(text, at, 2, 2, minutes) != Parsed::kExact) return Parsed::kMalformed;
  }
  if (hours > 15 || minutes > 59) return Parsed::kTooLarge;
  offset = (hours * 60 + minutes) * 60 * (negative ? -1 : 1);
  return Parsed::kExact;
}

template <class T>
Parsed parse_real_as(std::string_view text, T& value) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return Parsed::kTooLarge;
  return error == std::errc() && end == text.data() + text.size() ? Parsed::kExact : Parsed::kMalformed;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

}  // namespace

Parsed parse_integer(std::string_view text, int bits, int64_t& value) {
  if (!text.empty() && text[0] == '+' && text.size() > 1 && is_digit(text[1])) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return Parsed::kMalformed;
  if (error == std::errc::result_out_of_range) return Parsed::kTooLarge;
  if (bits < 64 && (value < -(int64_t{1} << (bits - 1)) || value >= int64_t{1} << (bits - 1))) return Parsed::kTooLarge;
  return Parsed::kExact;
}

Parsed parse_unsigned(std::string_view text, int bits, uint64_t& value) {
  if (!text.empty() && text[0] == '+' && text.size() > 1 && is_digit(text[1])) text.remove_prefix(1);
  if (text.size() > 1 && text[0] == '-') {
    int64_t negative;
    return parse_integer(text, 64, negative) == Parsed::kMalformed ? Parsed::kMalformed : Parsed::kTooLarge;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return Parsed::kMalformed;
  if (error == std::errc::result_out_of_range || (bits < 64 && value >> bits != 0)) return Parsed::kTooLarge;
  return Parsed::kExact;
}

Parsed parse_decimal(std::string_view text, int32_t precision, int32_t scale, int32_t bits, uint8_t* out) {
  if (base::int128 value; parse_short_decimal(text, precision, scale, &value)) {
    std::memcpy(out, &value, sizeof(value));
    if (bits == 256) std::memset(out + sizeof(value), value < 0 ? 0xFF : 0, sizeof(value));
    return Parsed::kExact;
  }
  Digits digits;
  const Parsed split = split_decimal(text, digits);
  if (split != Parsed::kExact) return split;
  Pusher pusher(precision);
  const auto whole = static_cast<int64_t>(digits.whole.size()), fraction = static_cast<int64_t>(digits.fraction.size());
  const int64_t last = whole + digits.exponent + scale;  // digits that count
  for (int64_t i = 0; i < whole + fraction; ++i) {
    const char c = i < whole ? digits.whole[static_cast<size_t>(i)] : digits.fraction[static_cast<size_t>(i - whole)];
    if (i >= last) {
      if (c != '0') return Parsed::kTooPrecise;
    } else if (!pusher.digit(c)) {
      return Parsed::kTooLarge;
    }
  }
  bool zero = true;
  for (const std::string_view part : {digits.whole, digits.fraction})
    zero = zero && part.find_first_not_of('0') == std::string_view::npos;
  for (int64_t i = whole + fraction; i < last && !zero; ++i) {
    if (!pusher.digit('0')) return Parsed::kTooLarge;
  }
  base::UInt256 value = pusher.value();
  if (digits.negative) value.negate();
  value.store(bits, out);
  return Parsed::kExact;
}

Parsed parse_real(std::string_view text, float& value) { return parse_real_as(text, value); }
Parsed parse_real(std::string_view text, double& value) { return parse_real_as(text, value); }

Parsed parse_bool(std::string_view text, bool& value) {
  for (const char* word : {"true", "t", "1", "yes", "y", "on"}) {
    if (equals_ignoring_case(text, word)) return value = true, Parsed::kExact;
  }
  for (const char* word : {"false", "f", "0", "no", "n", "off"}) {
    if (equals_ignoring_case(text, word)) return value = false, Parsed::kExact;
  }
  return Parsed::kMalformed;
}

bool days_of(int64_t year, uint32_t month, uint32_t day, int64_t& days) {
  if (year > 0 && year <= UINT32_MAX && common_days(static_cast<uint32_t>(year), month, day, days)) return true;
  if (month < 1 || month > 12 || day < 1) return false;
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (day > kDaysOfMonth[month - 1] + (month == 2 && is_leap ? 1u : 0u)) return false;
  // Years begin in March, in periods of 400 years; no period is negative.
  constexpr int64_t kPeriods = 25'000, kDaysOf400Years = 146'097;
  const int64_t from_march = year + kPeriods * 400 - (month <= 2);
  const int64_t day_of_year = (153 * (int64_t{month} + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  days = from_march * 365 + from_march / 4 - from_march / 100 + from_march / 400 + day_of_year -
         kPeriods * kDaysOf400Years - kEpochFromMarch;
  return true;
}

int64_t units_per_second(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSecond: return 1;
    case TimeUnit::kMilli: return 1'000;
    case TimeUnit::kMicro: return 1'000'000;
    case TimeUnit::kNano: break;
  }
  return 1'000'000'000;
}

Parsed parse_date(std::string_view text, int64_t& days) {
  if (parse_common_date(text, days)) return Parsed::kExact;
  size_t at = 0;
  const Parsed parsed = parse_date_part(text, at, days);
  if (parsed == Parsed::kExact && at != text.size()) return Parsed::kMalformed;
  return parsed;
}

Parsed parse_time(std::string_view text, TimeUnit unit, int64_t& value) {
  size_t at = 0;
  const Parsed parsed = parse_time_part(text, at, unit, value);
  if (parsed == Parsed::kExact && at != text.size()) return Parsed::kMalformed;
  return parsed;
}

Parsed parse_timestamp(std::string_view text, TimeUnit unit, bool has_zone, int64_t& value) {
  size_t at = 0;
  int64_t days = 0, time = 0, offset = 0;
  Parsed parsed = parse_date_part(text, at, days);
  if (parsed != Parsed::kExact) return parsed;
  if (at < text.size()) {
    if (text[at] != ' ' && text[at] != 'T' && text[at] != 't') return Parsed::kMalformed;
    parsed = parse_time_part(text, ++at, unit, time);
    if (parsed != Parsed::kExact) return parsed;
    if (at < text.size() && has_zone) {
      parsed = parse_zone(text, at, offset);
      if (parsed != Parsed::kExact) return parsed;
    }
  }
  if (at != text.size()) return Parsed::kMalformed;
  const int64_t per_second = units_per_second(unit);
  if (__builtin_mul_overflow(days * kSecondsPerDay - offset, per_second, &value) ||
      __builtin_add_overflow(value, time, &value))
    return Parsed::kTooLarge;
  return Parsed::kExact;
}

}  // namespace strom::format::csv
