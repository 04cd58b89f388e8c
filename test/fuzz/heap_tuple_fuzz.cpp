// Fuzzer of the heap decoder: the first bytes choose a table's layout and the wanted columns, the rest is a page of any
// content.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/stored_numeric.hpp"
#include "format/heap/tuple.hpp"

using namespace strom::format::heap;

namespace {

struct Kind {
  AttributeLayout layout;
  Storage storage;
};
constexpr Kind kKinds[] = {{{1, 1}, Storage::kBool},    {{2, 2}, Storage::kInt2},     {{4, 4}, Storage::kWord4},
                           {{8, 8}, Storage::kWord8},   {{16, 1}, Storage::kWord16},  {{6, 4}, Storage::kMac6},
                           {{12, 8}, Storage::kWord12}, {{-1, 4}, Storage::kNumeric}, {{-1, 8}, Storage::kText},
                           {{-1, 4}, Storage::kNumeric}};
constexpr size_t kAttributes = 8;
constexpr size_t kMostRows = 32;  // items
constexpr uint32_t kPageSize = 1024;

uint64_t value_of(const strom::registry::StrView& stored) {
  namespace base = strom::base;
  base::OrdinaryNumeric ordinary;
  base::int128 value = 0, decimal = 0;
  const bool is_ordinary = base::read_ordinary_numeric(stored.ptr, stored.len, &ordinary);
  base::numeric_to_int128(stored.ptr, stored.len, base::kOrdinaryScale, &value);
  base::numeric_to_decimal(stored.ptr, stored.len, &decimal);
  if (is_ordinary && static_cast<uint64_t>(value < 0 ? -value : value) != ordinary.magnitude) __builtin_trap();
  return static_cast<uint64_t>(value) + static_cast<uint64_t>(decimal);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size < kAttributes + 2) return 0;
  std::vector<AttributeLayout> layout;
  std::vector<WantedColumn> wanted;
  for (size_t i = 0; i < kAttributes; ++i) {
    const Kind& kind = kKinds[(bytes[i] & 7) + (bytes[i] >> 7) * 2];
    layout.push_back(kind.layout);
    if ((bytes[i] & 8) != 0) wanted.push_back({static_cast<int>(i), kind.storage});
  }
  const uint16_t items = bytes[kAttributes] % kMostRows;
  bytes += kAttributes + 1;
  size -= kAttributes + 1;
  // A copy of exactly a page's size, so that reading past its end is seen.
  const auto page = std::make_unique<uint64_t[]>(kPageSize / 8);
  std::memcpy(page.get(), bytes, std::min<size_t>(size, kPageSize));
  std::vector<std::unique_ptr<uint64_t[]>> memory;
  std::vector<ColumnOut> out;
  for (size_t i = 0; i < wanted.size(); ++i) {
    memory.push_back(std::make_unique<uint64_t[]>(kMostRows * 3));
    out.push_back({memory.back().get(), reinterpret_cast<uint8_t*>(memory.back().get() + kMostRows * 2), false});
  }
  const TupleDecoder decoder(kPageSize, layout, wanted);
  uint16_t numbers[kMostRows];
  const PageRef ref{reinterpret_cast<const uint8_t*>(page.get()), nullptr, items};
  const PageRows rows = decoder.decode(ref, ref.bytes, 0, kMostRows, numbers, out.data());
  uint64_t sum = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool is_numeric = wanted[i].storage == Storage::kNumeric;
    if ((wanted[i].storage != Storage::kText && !is_numeric) || rows.bad_item != 0) continue;
    for (int64_t row = 0; row < rows.rows; ++row) {
      const auto& text = static_cast<const strom::registry::StrView*>(out[i].values)[row];
      for (int64_t k = 0; k < text.len; ++k) sum += static_cast<uint8_t>(text.ptr[k]);
      if (is_numeric && text.ptr != nullptr) sum += value_of(text);
    }
  }
  if (sum == UINT64_MAX) __builtin_trap();  // so that the bytes are read
  return 0;
}
