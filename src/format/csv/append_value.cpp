// See append_value.hpp.
#include "format/csv/append_value.hpp"

#include <algorithm>
#include <string>

#include "base/half_text.hpp"
#include "columnar/utf8.hpp"

namespace strom::format::csv {

namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using columnar::TimeUnit;

constexpr int64_t kMillisPerDay = 86'400'000;

Appended outcome(Parsed parsed) {
  switch (parsed) {
    case Parsed::kExact: return Appended::kDone;
    case Parsed::kMalformed: return Appended::kMalformed;
    case Parsed::kTooLarge: return Appended::kTooLarge;
    case Parsed::kTooPrecise: return Appended::kTooPrecise;
  }
  return Appended::kMalformed;
}

template <class T>
void append_number(T value, int32_t bits, ColumnBuilder& column) {
  switch (bits) {
    case 8: column.append(static_cast<uint8_t>(value)); break;
    case 16: column.append(static_cast<uint16_t>(value)); break;
    case 32: column.append(static_cast<uint32_t>(value)); break;
    default: column.append(static_cast<uint64_t>(value)); break;
  }
}

/// A fast way for short numbers without a sign, as most numbers are.
bool append_short_integer(std::string_view text, int32_t bits, ColumnBuilder& column) {
  if (text.empty() || text.size() > (bits == 64 ? 18u : 9u) || bits < 32) return false;
  int64_t value = 0;
  for (const char c : text) {
    const auto digit = static_cast<unsigned>(c - '0');
    if (digit > 9) return false;
    value = value * 10 + digit;
  }
  append_number(value, bits, column);
  return true;
}

template <class T>
Appended append_real(std::string_view text, ColumnBuilder& column) {
  T value;
  const Parsed parsed = parse_real(text, value);
  if (parsed == Parsed::kExact) column.append(value);
  return outcome(parsed);
}

/// The nearest number.
Appended append_half(std::string_view text, ColumnBuilder& column) {
  double value;
  const Parsed parsed = parse_real(text, value);
  if (parsed != Parsed::kExact) return outcome(parsed);
  uint16_t half;
  char* end;
  if (base::half_of_text(std::string(text).c_str(), &end, &half) != base::HalfText::kDone) return Appended::kTooLarge;
  column.append(half);
  return Appended::kDone;
}

bool is_date32(int64_t days) { return days == static_cast<int32_t>(days); }

Appended append_date(std::string_view text, ColumnBuilder& column) {
  int64_t days;
  const Parsed parsed = parse_date(text, days);
  if (parsed != Parsed::kExact) return outcome(parsed);
  const bool is_short = column.field().layout == Layout::kDate32;
  if (is_short && !is_date32(days)) return Appended::kTooLarge;
  append_number(is_short ? days : days * kMillisPerDay, is_short ? 32 : 64, column);
  return Appended::kDone;
}

Appended append_text(std::string_view text, ColumnBuilder& column) {
  if (!columnar::is_utf8(text)) return Appended::kNotUtf8;
  return column.append_bytes(text.data(), static_cast<int64_t>(text.size())) ? Appended::kDone : Appended::kFull;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Number of digits in the form in which numbers are printed, without leading zeros; else -1.
int32_t printed_digits(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return -1;
  return std::all_of(text.begin(), text.end(), is_digit) ? static_cast<int32_t>(text.size()) : -1;
}

bool is_printed_integer(std::string_view text) {
  if (text == "-0") return false;
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  int64_t value;
  return printed_digits(text) > 0 && parse_integer(text, 64, value) == Parsed::kExact;
}

/// Digits of the second in a time or timestamp.
int32_t fraction_digits(std::string_view text) {
  const size_t point = text.find('.');
  if (point == std::string_view::npos) return 0;
  size_t end = point + 1;
  while (end < text.size() && is_digit(text[end])) ++end;
  return static_cast<int32_t>(end - point - 1);
}

}  // namespace

Appended append_value(std::string_view text, ColumnBuilder& column) {
  const Field& field = column.field();
  const auto bits = static_cast<int32_t>(8 * columnar::stored_width(field));
  switch (field.layout) {
    case Layout::kUtf8: return append_text(text, column);
    case Layout::kInt8:
    case Layout::kInt16:
    case Layout::kInt32:
    case Layout::kInt64: {
      if (append_short_integer(text, bits, column)) return Appended::kDone;
      int64_t value;
      const Parsed parsed = parse_integer(text, bits, value);
      if (parsed == Parsed::kExact) append_number(value, bits, column);
      return outcome(parsed);
    }
    case Layout::kUInt8:
    case Layout::kUInt16:
    case Layout::kUInt32:
    case Layout::kUInt64: {
      if (append_short_integer(text, bits, column)) return Appended::kDone;
      uint64_t value;
      const Parsed parsed = parse_unsigned(text, bits, value);
      if (parsed == Parsed::kExact) append_number(value, bits, column);
      return outcome(parsed);
    }
    case Layout::kFloat16: return append_half(text, column);
    case Layout::kFloat32: return append_real<float>(text, column);
    case Layout::kFloat64: return append_real<double>(text, column);
    case Layout::kDecimal128:
    case Layout::kDecimal256:
      return outcome(parse_decimal(text, field.precision, field.scale, bits, column.append_fixed()));
    case Layout::kBool: {
      bool value;
      const Parsed parsed = parse_bool(text, value);
      if (parsed == Parsed::kExact) column.append_bool(value);
      return outcome(parsed);
    }
    case Layout::kDate32:
    case Layout::kDate64: return append_date(text, column);
    case Layout::kTime32:
    case Layout::kTime64: {
      int64_t value;
      const Parsed parsed = parse_time(text, field.unit, value);
      if (parsed == Parsed::kExact) append_number(value, bits, column);
      return outcome(parsed);
    }
    case Layout::kTimestamp: {
      int64_t value;
      const Parsed parsed = parse_timestamp(text, field.unit, !field.timezone.empty(), value);
      if (parsed == Parsed::kExact) column.append(value);
      return outcome(parsed);
    }
    case Layout::kBinary:
      return column.append_bytes(text.data(), static_cast<int64_t>(text.size())) ? Appended::kDone : Appended::kFull;
    default: return Appended::kMalformed;
  }
}

/// 1 and 0 are numbers. A column of F alone more likely has letters, whereas PostgreSQL prints a boolean as f.
bool TypeGuess::fits_bool(std::string_view text) {
  bool value;
  if (parse_bool(text, value) != Parsed::kExact || is_digit(text[0])) return false;
  const char first = static_cast<char>(text[0] | 0x20);
  if (first != 't' && first != 'f') return words_are_bool_;
  if (text == "T" || text == "F") (value ? has_upper_t_ : has_upper_f_) = true;
  return true;
}

bool TypeGuess::fits(Candidate candidate, std::string_view text) {
  int64_t value;
  switch (candidate) {
    case kBool: return fits_bool(text);
    case kInt: return is_printed_integer(text);
    case kDecimal: {
      if (!text.empty() && text[0] == '-') text.remove_prefix(1);
      const size_t point = text.find('.');
      const int32_t whole = printed_digits(text.substr(0, point));
      int32_t scale = 0;
      if (point != std::string_view::npos) {
        const std::string_view behind = text.substr(point + 1);
        if (behind.empty() || !std::all_of(behind.begin(), behind.end(), is_digit)) return false;
        scale = static_cast<int32_t>(behind.size());
      }
      if (whole < 0) return false;
      whole_ = std::max(whole_, text[0] == '0' ? 0 : whole);
      scale_ = std::max(scale_, scale);
      return true;
    }
    case kReal: {
      // Numbers with leading zeros are names: zip codes, telephone numbers.
      const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+');
      if (text.size() > sign + 1 && text[sign] == '0' && is_digit(text[sign + 1])) return false;
      double real;
      return parse_real(text, real) == Parsed::kExact;
    }
    case kDate: return parse_date(text, value) == Parsed::kExact && is_date32(value);
    case kTime:
      fraction_ = std::max(fraction_, fraction_digits(text));
      return parse_time(text, TimeUnit::kNano, value) == Parsed::kExact;
    case kStamp:
    case kStampZone: {
      const int32_t digits = fraction_digits(text);
      fraction_ = std::max(fraction_, digits);
      const bool has_zone = candidate == kStampZone;
      const TimeUnit unit = digits > 6 ? TimeUnit::kNano : TimeUnit::kMicro;
      if (parse_timestamp(text, unit, has_zone, value) != Parsed::kExact || text.size() <= 10) return false;
      nanos_fit_ = nanos_fit_ && parse_timestamp(text, TimeUnit::kNano, has_zone, value) == Parsed::kExact;
      // A time without a zone is not a time in UTC.
      return !has_zone || parse_timestamp(text, unit, false, value) != Parsed::kExact;
    }
    case kAll: break;
  }
  return false;
}

/// Most values of most files are short whole numbers. These are also decimals and real numbers, and nothing else.
bool TypeGuess::observe_integer(std::string_view text) {
  constexpr size_t kMost = 18;
  if (text.empty() || text.size() > kMost || (text[0] == '0' && text.size() > 1)) return false;
  if (!std::all_of(text.begin(), text.end(), is_digit)) return false;
  whole_ = std::max(whole_, text[0] == '0' ? 0 : static_cast<int32_t>(text.size()));
  open_ &= kInt | kDecimal | kReal;
  return true;
}

void TypeGuess::observe(std::string_view text) {
  ++seen_;
  if (open_ == 0 || observe_integer(text)) return;
  // Every decimal is a real number, too.
  if ((open_ & kDecimal) != 0 && (open_ & ~(kInt | kDecimal | kReal)) == 0 && fits(kDecimal, text)) {
    if ((open_ & kInt) != 0 && !fits(kInt, text)) open_ &= ~kInt;
    return;
  }
  for (uint32_t candidate = 1; open_ >= candidate; candidate <<= 1) {
    if ((open_ & candidate) != 0 && !fits(static_cast<Candidate>(candidate), text)) open_ &= ~candidate;
  }
}

void TypeGuess::merge(const TypeGuess& other) {
  open_ &= other.open_;
  seen_ += other.seen_;
  whole_ = std::max(whole_, other.whole_);
  scale_ = std::max(scale_, other.scale_);
  fraction_ = std::max(fraction_, other.fraction_);
  nanos_fit_ = nanos_fit_ && other.nanos_fit_;
  has_upper_t_ = has_upper_t_ || other.has_upper_t_;
  has_upper_f_ = has_upper_f_ || other.has_upper_f_;
}

void TypeGuess::choose(Field& field, bool reals, bool is_sample) const {
  constexpr int32_t kMost128 = 38, kMost256 = 76, kMicroDigits = 6, kOrdinary = 18;
  const auto has = [&](Candidate candidate) { return seen_ > 0 && (open_ & candidate) != 0; };
  const int32_t digits = std::max(whole_ + scale_, 1);
  const bool unit_fits = fraction_ <= kMicroDigits || nanos_fit_;
  field.unit = fraction_ > kMicroDigits ? TimeUnit::kNano : TimeUnit::kMicro;
  if (has(kBool) && has_upper_t_ == has_upper_f_) {
    field.layout = Layout::kBool;
  } else if (has(kInt)) {
    field.layout = Layout::kInt64;
  } else if (has(kDecimal) && digits <= kMost256 && !reals) {
    field.layout = digits <= kMost128 ? Layout::kDecimal128 : Layout::kDecimal256;
    // Numbers that were not sampled may have more digits before the point.
    field.precision = !is_sample || digits > kMost128 ? digits : digits > kOrdinary ? kMost128 : kOrdinary;
    field.scale = scale_;
  } else if (has(kReal) && (reals || !has(kDecimal))) {
    field.layout = Layout::kFloat64;
  } else if (has(kDate)) {
    field.layout = Layout::kDate32;
  } else if (has(kTime)) {
    field.layout = Layout::kTime64;
  } else if (has(kStamp) && unit_fits) {
    field.layout = Layout::kTimestamp;
  } else if (has(kStampZone) && unit_fits) {
    field.layout = Layout::kTimestamp;
    field.timezone = "UTC";
  } else {
    field.layout = Layout::kUtf8;
  }
}

}  // namespace strom::format::csv
