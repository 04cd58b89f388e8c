// Pages and tuples of PostgreSQL's heap tables, as far as readers need them: items, headers, varlenas, and how stored
// values become the engine's. Single source: the host decodes pages (format/heap/tuple.cpp), and so do devices
// (engine/op/pages). The bytes may be damaged, and on the host they can change during the read: each word is loaded
// once and checked before use.
//
// A page (src/include/storage/bufpage.h) begins with 24 bytes: LSN (8 bytes), checksum, flags, end of the items, end of
// the free space, begin of the access method's area, size and version (2 bytes each), and a transaction id. Item
// pointers of 32 bits follow (itemid.h, little-endian): 15 bits of offset, 2 bits of state (1: a tuple), 15 bits of
// size. A tuple's header (src/include/access/htup_details.h) has 18 bytes of transaction ids and position, 16 bits of
// which 11 count the attributes, 16 bits of flags, one byte with the offset of the data, then the null bitmap. A
// varlena (src/include/varatt.h, little-endian) begins with a one-byte header if the lowest bit of the first byte is
// set. A first byte of 1 marks a pointer to a value that is stored out of line, and the second byte tells its kind.
// Otherwise the header has four bytes, and its lowest two bits are 00 for plain and 10 for compressed values. Padding
// before a four-byte header is 0.
#pragma once

#include <cstdint>

#include "base/half.hpp"
#include "base/single_source.hpp"
#include "registry/types.hpp"

namespace strom::columnar::heap {

/// How an attribute is stored: pg_attribute's attlen (-1 = varlena) and attalign (in bytes).
struct AttributeLayout {
  int16_t length;
  uint8_t alignment;
};

/// How a stored value becomes a register value.
enum class Storage : uint8_t {
  kBool,
  kInt2,   // to Phys::kI32
  kWord4,  // the bytes as they are: int4, date, float4
  kWord8,  // int8, timestamps, float8
  kWord16,
  kInt1,       // to Phys::kI32
  kHalf,       // float2: to Phys::kF32
  kUnsigned1,  // "char": to Phys::kI32
  kUnsigned4,  // oid: to Phys::kI64
  kUnsigned8,  // pg_lsn: to Phys::kI64, with the highest bit inverted
  kMac6,       // to Phys::kI64, the first byte highest
  kMac8,       // the same with the highest bit inverted
  kTid,        // to Phys::kI64, the block above 16 bits of item
  kWord12,     // timetz: to Phys::kI128, the last four bytes being 0
  kNumeric,    // to a StrView into the tuple, see base/stored_numeric.hpp
  kText,       // likewise
  kView,       // of fixed size: a StrView into the tuple, without its length
};

inline constexpr uint8_t kNullValue = 1;    // as in engine/block
inline constexpr uint8_t kValueOfHost = 2;  // the host has the value: it is out of line, or a compressed numeric
inline constexpr uint8_t kPackedValue = 4;  // a compressed text: its StrView is input of inflate.hpp

/// A column that the scan reads.
struct WantedColumn {
  int attribute;  // from 0
  Storage storage;
  // For tuples that are older than the column: kNullValue, kValueOfHost, or 0 and the register value's bytes.
  uint8_t missing_flag = kNullValue;
  const void* missing = nullptr;
};

/// Bytes of a register value.
STROM_BASE_INLINE constexpr int storage_width(Storage storage) {
  switch (storage) {
    case Storage::kBool: return 1;
    case Storage::kInt2:
    case Storage::kInt1:
    case Storage::kHalf:
    case Storage::kUnsigned1:
    case Storage::kWord4: return 4;
    case Storage::kUnsigned4:
    case Storage::kUnsigned8:
    case Storage::kMac6:
    case Storage::kMac8:
    case Storage::kTid:
    case Storage::kWord8: return 8;
    case Storage::kWord12:
    case Storage::kWord16:
    case Storage::kNumeric:
    case Storage::kText:
    case Storage::kView: return 16;
  }
  return 0;
}

inline constexpr uint32_t kItemsOffset = 24, kItemIsTuple = 1, kTupleAlignment = 8;
inline constexpr uint32_t kBitmapOffset = 23, kHeaderWordOffset = 16;  // bytes 18 to 22 of the word at 16: a Header
inline constexpr uint64_t kCountMask = 0x07FF, kHasNulls = 0x0001;
inline constexpr int kItemBits = 16;  // bits of the item's number in a register's tid, below the block
inline constexpr uint32_t kOutOfLineSize = 18;
inline constexpr uint8_t kOnDisk = 18;  // VARTAG_ONDISK

template <class T>
STROM_BASE_INLINE T load_bytes(const uint8_t* bytes) {
  T value;
  __builtin_memcpy(&value, bytes, sizeof value);
  return value;
}

STROM_BASE_INLINE uint64_t aligned_up(uint64_t place, uint64_t alignment) {
  return (place + alignment - 1) & ~(alignment - 1);
}

STROM_BASE_INLINE const uint8_t* aligned_up(const uint8_t* at, uint64_t alignment) {
  const auto place = reinterpret_cast<uint64_t>(at);
  return at + (aligned_up(place, alignment) - place);
}

/// An item pointer.
struct Item {
  uint32_t word;

  STROM_BASE_INLINE bool is_tuple() const { return (word >> 15 & 3) == kItemIsTuple; }
  STROM_BASE_INLINE uint32_t offset() const { return word & 0x7FFF; }
  STROM_BASE_INLINE uint32_t size() const { return word >> 17; }
  STROM_BASE_INLINE bool is_inside(uint32_t page_size) const {
    return offset() + size() <= page_size && size() >= kBitmapOffset && offset() % kTupleAlignment == 0;
  }
};

/// Item `number`, from 1.
STROM_BASE_INLINE Item read_item(const uint8_t* page, uint32_t number) {
  return {base::load_once<uint32_t>(page + kItemsOffset + (number - 1) * 4)};
}

struct TupleHeader {
  uint32_t attributes, data;
  bool has_nulls;

  STROM_BASE_INLINE bool is_inside(uint32_t tuple_size) const {
    return (data >= kBitmapOffset) & (data <= tuple_size) & (data % kTupleAlignment == 0);
  }
};

/// The caller has checked that the tuple is aligned and not shorter than a header.
STROM_BASE_INLINE TupleHeader read_header(const uint8_t* tuple) {
  const auto word = base::load_once<uint64_t>(tuple + kHeaderWordOffset);
  return {static_cast<uint32_t>(word >> 16 & kCountMask), static_cast<uint32_t>(word >> 48 & 0xFF),
          (word >> 32 & kHasNulls) != 0};
}

/// A varlena: its payload, or no payload when PostgreSQL has to read it. `packed`: it is compressed, and the payload is
/// what follows the length.
struct Varlena {
  const uint8_t* payload;
  uint32_t size, total;
  bool packed;
};

/// Moves `*at` over padding, and reads the varlena there. False when it is damaged or reaches beyond `end`. The first
/// attribute's address is aligned, so an aligned offset is an aligned address.
STROM_BASE_INLINE bool read_varlena(const uint8_t** at, const uint8_t* end, uint32_t alignment, Varlena* value) {
  if (*at >= end) return false;
  uint8_t first = base::load_once<uint8_t>(*at);
  if (first == 0) {
    *at = aligned_up(*at, alignment);
    if (*at >= end) return false;
    first = base::load_once<uint8_t>(*at);
  }
  if (first == 1) {
    // Other kinds point into memory, and PostgreSQL would follow the pointer.
    if (end - *at < 2 || base::load_once<uint8_t>(*at + 1) != kOnDisk) return false;
    *value = {nullptr, 0, kOutOfLineSize, false};
  } else if ((first & 1) != 0) {
    const uint32_t total = first >> 1;
    *value = {*at + 1, total - 1, total, false};
  } else {
    if (end - *at < 4) return false;
    const auto word = load_bytes<uint32_t>(*at);
    const uint32_t total = word >> 2;
    if (total < 4) return false;
    *value = {*at + 4, total - 4, total, (word & 3) != 0};
  }
  return value->total <= end - *at;
}

/// The bytes as a number, the first one highest.
template <int kBytes>
STROM_BASE_INLINE uint64_t load_big_endian(const uint8_t* bytes) {
  uint64_t value = 0;
  for (int i = 0; i < kBytes; ++i) value = value << 8 | bytes[i];
  return value;
}

/// Calls f(convert); convert(bytes) makes the register value of a stored value of fixed size.
template <class F>
STROM_BASE_INLINE void with_fixed(Storage storage, F&& f) {
  switch (storage) {
    case Storage::kBool: f([](const uint8_t* bytes) { return uint8_t{load_bytes<uint8_t>(bytes) != 0}; }); break;
    case Storage::kInt2: f([](const uint8_t* bytes) { return int32_t{load_bytes<int16_t>(bytes)}; }); break;
    case Storage::kWord4: f([](const uint8_t* bytes) { return load_bytes<uint32_t>(bytes); }); break;
    case Storage::kWord8: f([](const uint8_t* bytes) { return load_bytes<uint64_t>(bytes); }); break;
    case Storage::kInt1: f([](const uint8_t* bytes) { return int32_t{load_bytes<int8_t>(bytes)}; }); break;
    case Storage::kHalf:
      f([](const uint8_t* bytes) { return base::half_to_float(load_bytes<uint16_t>(bytes)); });
      break;
    case Storage::kUnsigned1: f([](const uint8_t* bytes) { return int32_t{load_bytes<uint8_t>(bytes)}; }); break;
    case Storage::kUnsigned4: f([](const uint8_t* bytes) { return int64_t{load_bytes<uint32_t>(bytes)}; }); break;
    case Storage::kUnsigned8:
      f([](const uint8_t* bytes) { return load_bytes<uint64_t>(bytes) ^ uint64_t { 1 } << 63; });
      break;
    case Storage::kMac6: f([](const uint8_t* bytes) { return load_big_endian<6>(bytes); }); break;
    case Storage::kMac8:
      f([](const uint8_t* bytes) { return load_big_endian<8>(bytes) ^ uint64_t { 1 } << 63; });
      break;
    case Storage::kTid:
      f([](const uint8_t* bytes) {
        const auto high = uint64_t{load_bytes<uint16_t>(bytes)}, low = uint64_t{load_bytes<uint16_t>(bytes + 2)};
        return (high << 16 | low) << kItemBits | load_bytes<uint16_t>(bytes + 4);
      });
      break;
    case Storage::kWord12:
      f([](const uint8_t* bytes) {
        return static_cast<unsigned __int128>(load_bytes<uint32_t>(bytes + 8)) << 64 | load_bytes<uint64_t>(bytes);
      });
      break;
    case Storage::kView:
      f([](const uint8_t* bytes) { return registry::StrView{reinterpret_cast<const char*>(bytes), 0}; });
      break;
    default: f([](const uint8_t* bytes) { return load_bytes<__int128>(bytes); }); break;
  }
}

}  // namespace strom::columnar::heap
