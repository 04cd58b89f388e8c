// PostgreSQL's numeric in the form of its send function. Used by the decoder here and by pg/codec.
#pragma once

#include <cstdint>
#include <string>

namespace strom::format::pgwire {

/// The header of a numeric; big-endian digits, base 10000, follow it.
struct NumericView {
  enum class Sign : uint8_t { kPositive, kNegative, kNan, kInfinity, kMinusInfinity };

  int32_t count = 0, weight = 0, scale = 0;
  Sign sign = Sign::kPositive;
  const uint8_t* digits = nullptr;

  bool is_finite() const { return sign == Sign::kPositive || sign == Sign::kNegative; }
  uint32_t digit(int32_t index) const { return static_cast<uint32_t>(digits[2 * index]) << 8 | digits[2 * index + 1]; }
};

/// False when the bytes are not a numeric.
bool read_numeric(const uint8_t* bytes, int64_t size, NumericView& out);

enum class DecimalOutcome : uint8_t { kExact, kTooLarge, kTooPrecise };

/// The number times 10^scale as a little-endian integer of `bits` (128 or 256) with at most `precision` digits.
/// `number` is finite.
DecimalOutcome numeric_to_decimal(const NumericView& number, int32_t precision, int32_t scale, int32_t bits,
                                  uint8_t* out);

/// Appends the text that PostgreSQL prints.
void numeric_to_text(const NumericView& number, std::string& out);
/// Sets `out` to the nearest double. kTooLarge: there is none. kTooPrecise: the double is another number, because the
/// shortest digits that distinguish it from all other doubles are not the digits of `number`; `out` is set all the
/// same.
DecimalOutcome numeric_to_real(const NumericView& number, double* out);

}  // namespace strom::format::pgwire
