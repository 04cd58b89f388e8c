// Shortest decimal texts of floating-point numbers, in the form of PostgreSQL's float8out and float4out.
#include <charconv>
#include <limits>

#include "format/csv/number_text.hpp"

namespace strom::format::csv {

namespace {

/// The number 0.DIGITS * 10^point. Neither the first nor the last digit is 0.
struct Decimal {
  char digits[24];
  int count = 0;
  int point = 0;
};

/// Reads what std::to_chars wrote with chars_format::scientific: D.DDDe+XX.
Decimal parse_scientific(const char* text, const char* end) {
  Decimal out;
  const char* mark = end - 1;
  while (*mark != 'e') --mark;
  const bool has_point = text[1] == '.';
  out.digits[0] = text[0];
  out.count = has_point ? static_cast<int>(mark - text) - 1 : 1;
  if (has_point) std::memcpy(out.digits + 1, text + 2, static_cast<size_t>(out.count - 1));
  while (out.count > 1 && out.digits[out.count - 1] == '0') --out.count;
  int exponent = 0;
  std::from_chars(mark + (mark[1] == '+' ? 2 : 1), end, exponent);
  out.point = exponent + 1;
  return out;
}

uint64_t integer_of(const Decimal& decimal) {
  uint64_t value = 0;
  std::from_chars(decimal.digits, decimal.digits + decimal.count, value);
  return value;
}

/// True when a * 10^exponent == b * 2^power. Only for shortest digits and middles between floats.
bool same_number(uint64_t a, int exponent, uint64_t b, int power) {
  constexpr int kMostFives = 27;  // 5^28 has more than 64 bits, and no odd factor below is that large
  if (exponent > kMostFives || exponent < -kMostFives) return false;
  base::uint128 left = a, right = b;
  for (int i = 0; i < exponent; ++i) left *= 5;  // a < 2^57 and 5^27 < 2^63
  for (int i = 0; i > exponent; --i) right *= 5;
  power -= exponent;  // left == right * 2^power
  while (left != 0 && (left & 1) == 0) {
    left >>= 1;
    --power;
  }
  while (right != 0 && (right & 1) == 0) {
    right >>= 1;
    ++power;
  }
  return left == right && power == 0;
}

/// PostgreSQL does not print a number exactly in the middle between two floats, although it reads back as the float
/// with the even mantissa.
template <class Float>
bool is_middle(const Decimal& decimal, Float magnitude) {
  constexpr int kBits = std::numeric_limits<Float>::digits;
  // Below this, a number between two floats has more digits than are ever needed.
  constexpr auto kLeast = static_cast<Float>(uint64_t{1} << (kBits - 4));
  if (magnitude < kLeast) return false;
  int power = 0;
  const auto mantissa = static_cast<uint64_t>(std::ldexp(std::frexp(magnitude, &power), kBits));
  power -= kBits;
  const bool narrow_below = mantissa == uint64_t{1} << (kBits - 1);
  const uint64_t digits = integer_of(decimal);
  const int exponent = decimal.point - decimal.count;
  return same_number(digits, exponent, 2 * mantissa + 1, power - 1) ||
         same_number(digits, exponent, narrow_below ? 4 * mantissa - 1 : 2 * mantissa - 1,
                     narrow_below ? power - 2 : power - 1);
}

template <class Float>
Decimal shortest(Float magnitude) {
  char text[64];
  const char* end = std::to_chars(text, text + sizeof(text), magnitude, std::chars_format::scientific).ptr;
  Decimal decimal = parse_scientific(text, end);
  for (int places = 1; is_middle(decimal, magnitude) && places < std::numeric_limits<Float>::max_digits10; ++places) {
    end = std::to_chars(text, text + sizeof(text), magnitude, std::chars_format::scientific, places).ptr;
    const Decimal longer = parse_scientific(text, end);
    Float read = 0;
    std::from_chars(text, end, read, std::chars_format::scientific);
    if (read == magnitude) decimal = longer;
  }
  return decimal;
}

template <class Float>
char* put_shortest(char* out, Float value) {
  // Exponents below -4 and from this one on have the scientific form, as with printf's %g.
  constexpr int kFirstScientific = sizeof(Float) == 8 ? 15 : 6;
  const auto put = [&out](const char* text, size_t size) {
    std::memcpy(out, text, size);
    out += size;
    return out;
  };
  if (std::isnan(value)) return put("NaN", 3);
  if (std::signbit(value)) *out++ = '-';
  if (std::isinf(value)) return put("Infinity", 8);
  if (value == 0) return put("0", 1);
  const Decimal decimal = shortest(std::fabs(value));
  const int count = decimal.count;
  const int exponent = decimal.point - 1;  // of the first digit
  if (exponent < -4 || exponent >= kFirstScientific) {
    put(decimal.digits, 1);
    if (count > 1) {
      *out++ = '.';
      put(decimal.digits + 1, static_cast<size_t>(count - 1));
    }
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    const int magnitude = exponent < 0 ? -exponent : exponent;
    if (magnitude < 10) *out++ = '0';
    return put_uint64(out, static_cast<uint64_t>(magnitude));
  }
  if (exponent < 0) {
    put("0.0000", static_cast<size_t>(1 - exponent));
    return put(decimal.digits, static_cast<size_t>(count));
  }
  if (count <= decimal.point) {
    put(decimal.digits, static_cast<size_t>(count));
    std::memset(out, '0', static_cast<size_t>(decimal.point - count));
    return out + (decimal.point - count);
  }
  put(decimal.digits, static_cast<size_t>(decimal.point));
  *out++ = '.';
  return put(decimal.digits + decimal.point, static_cast<size_t>(count - decimal.point));
}

}  // namespace

char* put_float_slowly(char* out, double value) { return put_shortest(out, value); }
char* put_float_slowly(char* out, float value) { return put_shortest(out, value); }

}  // namespace strom::format::csv
