#include "pg/codec/numeric.hpp"

#include <cstring>

#include "base/int128.hpp"
#include "base/stored_numeric.hpp"

namespace strom::pg::codec {

namespace {

constexpr uint16_t kShort = 0x8000;
constexpr uint16_t kShortNegative = 0x2000;
constexpr int kShortScaleShift = 7;
constexpr uint16_t kShortWeightMask = 0x007F;

using base::kNumericBase;
using base::kNumericBaseDigits;
constexpr int kMaxDigits = 12;  // 39 decimal digits, and up to 3 zeros that align the decimal point, are 11

}  // namespace

Datum numeric_from_int128(__int128 unscaled, int scale) {
  const bool negative = unscaled < 0;
  unsigned __int128 rest =
      negative ? -static_cast<unsigned __int128>(unscaled) : static_cast<unsigned __int128>(unscaled);

  // Least significant digit first. The lowest digit is padded with zeros so that the decimal point falls between
  // base-10000 digits.
  int16_t digits[kMaxDigits];
  int count = 0;
  const int fraction_digits = (scale + kNumericBaseDigits - 1) / kNumericBaseDigits;
  const int partial = scale % kNumericBaseDigits;
  if (partial != 0) {
    const int in_last = static_cast<int>(base::power_of_ten(partial));
    digits[count++] = static_cast<int16_t>(static_cast<int>(rest % in_last) * (kNumericBase / in_last));
    rest /= in_last;
  }
  while ((rest >> 64) != 0) {
    digits[count++] = static_cast<int16_t>(rest % kNumericBase);
    rest /= kNumericBase;
  }
  for (auto low = static_cast<uint64_t>(rest); low != 0; low /= kNumericBase)
    digits[count++] = static_cast<int16_t>(low % kNumericBase);

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

namespace {

/// Calls convert(bytes, size) on a value, which may be detoasted or not.
template <class F>
bool with_stored(Datum numeric, F convert) {
  auto* original = reinterpret_cast<struct varlena*>(DatumGetPointer(numeric));
  struct varlena* value = pg_detoast_datum_packed(original);
  const bool ok = convert(VARDATA_ANY(value), static_cast<int>(VARSIZE_ANY_EXHDR(value)));
  if (value != original) pfree(value);
  return ok;
}

}  // namespace

bool numeric_to_int128(Datum numeric, int scale, __int128* unscaled) {
  return with_stored(
      numeric, [=](const char* bytes, int size) { return base::numeric_to_int128(bytes, size, scale, unscaled); });
}

bool numeric_to_decimal(Datum numeric, __int128* decimal) {
  return with_stored(numeric,
                     [=](const char* bytes, int size) { return base::numeric_to_decimal(bytes, size, decimal); });
}

bool numeric_to_shortest_decimal(Datum numeric, __int128* decimal) {
  return with_stored(
      numeric, [=](const char* bytes, int size) { return base::numeric_to_shortest_decimal(bytes, size, decimal); });
}

void stored_bytes(Datum numeric, std::string* bytes) {
  with_stored(numeric, [=](const char* from, int size) {
    bytes->assign(from, static_cast<size_t>(size));
    return true;
  });
}

}  // namespace strom::pg::codec
