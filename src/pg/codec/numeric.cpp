// The stored format (src/backend/utils/adt/numeric.c): a varlena of a header and base-10000 digits, most significant
// first. Short header, 16 bits: 10, sign, 6 bits display scale, 7 bits signed weight. Long header: 16 bits sign (2)
// and display scale (14), then a 16-bit weight. The value is the sum of digit[i] * 10000^(weight - i).
#include "pg/codec/numeric.hpp"

#include <cstring>

namespace strom::pg::codec {

namespace {

constexpr uint16_t kSignMask = 0xC000;
constexpr uint16_t kNegative = 0x4000;
constexpr uint16_t kShort = 0x8000;
constexpr uint16_t kSpecial = 0xC000;  // NaN and infinities
constexpr uint16_t kShortNegative = 0x2000;
constexpr int kShortScaleShift = 7;
constexpr uint16_t kShortWeightMask = 0x007F;

constexpr int kBase = 10000;
constexpr int kBaseDigits = 4;
constexpr int kMaxDigits = 12;  // 39 decimal digits, and up to 3 zeros that align the decimal point, are 11

constexpr unsigned __int128 power_of_ten(int exponent) {
  unsigned __int128 power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}
constexpr unsigned __int128 kLimit = power_of_ten(38);  // first magnitude that is out of decimal128

}  // namespace

Datum numeric_from_int128(__int128 unscaled, int scale) {
  const bool negative = unscaled < 0;
  unsigned __int128 rest =
      negative ? -static_cast<unsigned __int128>(unscaled) : static_cast<unsigned __int128>(unscaled);

  // Least significant digit first. The lowest digit is filled up with zeros so that the decimal point falls between
  // base-10000 digits.
  int16_t digits[kMaxDigits];
  int count = 0;
  const int fraction_digits = (scale + kBaseDigits - 1) / kBaseDigits;
  const int partial = scale % kBaseDigits;
  if (partial != 0) {
    const int in_last = static_cast<int>(power_of_ten(partial));
    digits[count++] = static_cast<int16_t>(static_cast<int>(rest % in_last) * (kBase / in_last));
    rest /= in_last;
  }
  while ((rest >> 64) != 0) {
    digits[count++] = static_cast<int16_t>(rest % kBase);
    rest /= kBase;
  }
  for (auto low = static_cast<uint64_t>(rest); low != 0; low /= kBase)
    digits[count++] = static_cast<int16_t>(low % kBase);

  int lowest = 0;  // zero digits at either end are not stored
  while (count > 0 && digits[count - 1] == 0) --count;
  while (lowest < count && digits[lowest] == 0) ++lowest;
  const int stored = count - lowest;
  const int weight = stored == 0 ? 0 : count - 1 - fraction_digits;

  const size_t size = VARHDRSZ + sizeof(uint16_t) + stored * sizeof(int16_t);
  auto* result = static_cast<char*>(palloc(size));
  SET_VARSIZE(result, size);
  const auto header = static_cast<uint16_t>(kShort | (negative && stored != 0 ? kShortNegative : 0) |
                                            (scale << kShortScaleShift) | (weight & kShortWeightMask));
  std::memcpy(result + VARHDRSZ, &header, sizeof(header));
  char* out = result + VARHDRSZ + sizeof(header);
  for (int i = count - 1; i >= lowest; --i, out += sizeof(int16_t)) std::memcpy(out, &digits[i], sizeof(int16_t));
  return PointerGetDatum(result);
}

bool numeric_to_int128(Datum numeric, int scale, __int128* unscaled) {
  auto* original = reinterpret_cast<struct varlena*>(DatumGetPointer(numeric));
  struct varlena* value = pg_detoast_datum_packed(original);
  const char* bytes = VARDATA_ANY(value);
  int length = static_cast<int>(VARSIZE_ANY_EXHDR(value));

  uint16_t header;
  std::memcpy(&header, bytes, sizeof(header));
  bool ok = (header & kSignMask) != kSpecial;
  bool negative = false;
  int weight = 0;
  if ((header & kSignMask) == kShort) {
    negative = (header & kShortNegative) != 0;
    weight = static_cast<int>((header & kShortWeightMask) ^ 0x40) - 0x40;
    bytes += sizeof(header);
    length -= sizeof(header);
  } else if (ok) {
    int16_t long_weight;
    std::memcpy(&long_weight, bytes + sizeof(header), sizeof(long_weight));
    negative = (header & kSignMask) == kNegative;
    weight = long_weight;
    bytes += sizeof(header) + sizeof(long_weight);
    length -= sizeof(header) + sizeof(long_weight);
  }
  const int count = length / static_cast<int>(sizeof(int16_t));
  unsigned __int128 magnitude = 0;
  for (int i = 0; ok && i < count; ++i) {
    int16_t digit;
    std::memcpy(&digit, bytes + i * sizeof(int16_t), sizeof(digit));
    int exponent = (weight - i) * kBaseDigits + scale;  // of ten, of this digit in the result
    auto part = static_cast<unsigned __int128>(digit);
    for (; exponent < 0 && part % 10 == 0 && part != 0; ++exponent) part /= 10;
    if (part == 0) continue;
    if (exponent < 0 || exponent >= 38) {
      ok = false;
      break;
    }
    const unsigned __int128 power = power_of_ten(exponent);
    ok = part <= (kLimit - 1 - magnitude) / power;
    if (ok) magnitude += part * power;
  }
  if (value != original) pfree(value);
  if (ok) *unscaled = negative ? -static_cast<__int128>(magnitude) : static_cast<__int128>(magnitude);
  return ok;
}

}  // namespace strom::pg::codec
