// Arrays: reading PostgreSQL's binary form. A value of the register is the bytes behind the varlena header.
//
// An array (src/include/utils/array.h) begins with three words: the number of dimensions, the offset of the data (0
// without null elements), and the OID of the element type. Then come the length of each dimension, each lower bound, a
// bitmap of the elements that are not null, and the data of those elements. Each element begins at a multiple of its
// type's alignment. Offsets count the varlena's four bytes of header, which the register's view does not have. Texts
// and numerics have headers of four bytes.
//
// The bytes may be damaged or change while they are read: each word is loaded once and checked before use. Single
// source.
#pragma once

#include "base/stored_numeric.hpp"
#include "engine/expr/compare.hpp"
#include "engine/expr/row_decimal.hpp"
#include "engine/expr/text.hpp"

namespace strom::engine::expr {

inline constexpr int32_t kMaxArrayDimensions = 6;
inline constexpr int64_t kMaxArrayElements = 1 << 28;
inline constexpr int64_t kArrayHeader = 12, kVarlenaHeader = 4;  // bytes

/// A view of an array. Its dimensions, bitmap and begin of data are known to lie in its bytes.
struct ArrayView {
  StrView bytes;
  int32_t dimensions;
  int64_t count;   // of elements
  int64_t bitmap;  // offset, 0 without one
  int64_t data;    // offset

  STROM_INLINE int32_t length(int64_t dimension) const {
    return base::load_unaligned<int32_t>(bytes.ptr + kArrayHeader + 4 * dimension);
  }
  STROM_INLINE int32_t lower(int64_t dimension) const { return length(dimensions + dimension); }
  STROM_INLINE bool is_null(int64_t index) const {
    return bitmap != 0 && (static_cast<uint8_t>(bytes.ptr[bitmap + index / 8]) >> (index % 8) & 1) == 0;
  }
};

/// False when the bytes are no array.
STROM_INLINE bool open_array(StrView bytes, ArrayView* array) {
  if (bytes.len < kArrayHeader) return false;
  const auto dimensions = base::load_unaligned<int32_t>(bytes.ptr);
  const auto data = base::load_unaligned<int32_t>(bytes.ptr + 4);
  if (dimensions < 0 || dimensions > kMaxArrayDimensions || data < 0) return false;
  const int64_t bounds = kArrayHeader + 8 * dimensions;
  *array = {bytes, dimensions, dimensions > 0 ? 1 : 0, 0,
            ((bounds + kVarlenaHeader + 7) & ~int64_t{7}) - kVarlenaHeader};
  if (bounds > bytes.len) return false;
  for (int32_t i = 0; i < dimensions; ++i) {
    const int32_t length = array->length(i);
    if (length < 0) return false;
    array->count *= length;
    if (array->count > kMaxArrayElements) return false;
  }
  if (data != 0) {
    array->bitmap = bounds;
    array->data = data - kVarlenaHeader;
    if (bounds + (array->count + 7) / 8 > array->data) return false;
  }
  return array->data <= bytes.len || array->count == 0;
}

/// Elements of fixed size, aligned to their size or less. StoredType is the array's form, ValueType the register's.
template <class StoredType, class ValueType>
struct FixedElements {
  using Value = ValueType;

  /// Reads the element at *offset and moves *offset behind it. False when it reaches beyond the array.
  STROM_INLINE static bool read(const ArrayView& array, int64_t* offset, Value* value) {
    if (*offset + static_cast<int64_t>(sizeof(StoredType)) > array.bytes.len) return false;
    *value = convert(base::load_unaligned<StoredType>(array.bytes.ptr + *offset));
    *offset += sizeof(StoredType);
    return true;
  }
  STROM_INLINE static bool skip(const ArrayView&, int64_t* offset) {
    *offset += sizeof(StoredType);
    return true;
  }
  STROM_INLINE static Value convert(StoredType stored) {
    if constexpr (sizeof(StoredType) == sizeof(Value)) {  // floats are read as integers
      union {
        StoredType stored;
        Value value;
      } bits = {stored};
      return bits.value;
    } else {
      return static_cast<Value>(stored);
    }
  }
};

/// float4 elements as double.
struct WidenedFloats {
  using Value = double;
  STROM_INLINE static bool read(const ArrayView& array, int64_t* offset, double* value) {
    float narrow = 0;
    if (!FixedElements<uint32_t, float>::read(array, offset, &narrow)) return false;
    *value = narrow;
    return true;
  }
  STROM_INLINE static bool skip(const ArrayView& array, int64_t* offset) {
    return FixedElements<uint32_t, float>::skip(array, offset);
  }
};

/// Skips padding at *offset and reads the varlena there, without its header. False when it reaches beyond the array or
/// has another kind of header.
STROM_INLINE bool read_array_varlena(const ArrayView& array, int64_t* offset, StrView* value) {
  int64_t at = *offset;
  for (; (at + kVarlenaHeader) % 4 != 0; ++at)
    if (at >= array.bytes.len || array.bytes.ptr[at] != 0) return false;
  if (at + kVarlenaHeader > array.bytes.len) return false;
  const auto header = base::load_unaligned<uint32_t>(array.bytes.ptr + at);
  const int64_t size = header >> 2;
  if ((header & 3) != 0 || size < kVarlenaHeader || size > array.bytes.len - at) return false;
  *value = {array.bytes.ptr + at + kVarlenaHeader, size - kVarlenaHeader};
  *offset = at + size;
  return true;
}

struct TextElements {
  using Value = StrView;
  STROM_INLINE static bool read(const ArrayView& array, int64_t* offset, StrView* value) {
    return read_array_varlena(array, offset, value);
  }
  STROM_INLINE static bool skip(const ArrayView& array, int64_t* offset) {
    StrView ignored;
    return read_array_varlena(array, offset, &ignored);
  }
};

struct DecimalElements {
  using Value = int128;
  STROM_INLINE static bool read(const ArrayView& array, int64_t* offset, int128* value) {
    StrView bytes;
    return read_array_varlena(array, offset, &bytes) && base::numeric_to_decimal(bytes.ptr, bytes.len, value);
  }
  STROM_INLINE static bool skip(const ArrayView& array, int64_t* offset) { return TextElements::skip(array, offset); }
};

using BoolElements = FixedElements<uint8_t, uint8_t>;
using Int2Elements = FixedElements<int16_t, int32_t>;
using Word4Elements = FixedElements<int32_t, int32_t>;
using Word8Elements = FixedElements<int64_t, int64_t>;
using OidElements = FixedElements<uint32_t, int64_t>;
using Float4Elements = FixedElements<uint32_t, float>;
using Float8Elements = FixedElements<uint64_t, double>;
using UuidElements = FixedElements<uint128, int128>;

/// array[index] of an array with one dimension. Gives a flag.
template <class Elements>
struct ArrayElement {
  template <class R>
  STROM_INLINE static uint8_t eval(const Context&, R& out, StrView bytes, int32_t index) {
    ArrayView array;
    if (!open_array(bytes, &array)) return block::kErrorFlag;
    if (array.dimensions != 1) return block::kNullFlag;
    const int64_t element = static_cast<int64_t>(index) - array.lower(0);
    if (element < 0 || element >= array.count || array.is_null(element)) return block::kNullFlag;
    int64_t offset = array.data;
    for (int64_t i = 0; i < element; ++i)
      if (!array.is_null(i) && !Elements::skip(array, &offset)) return block::kErrorFlag;
    typename Elements::Value value{};
    if (!Elements::read(array, &offset, &value)) return block::kErrorFlag;
    out = value;
    return 0;
  }
};

// ---- comparison with any element ----

/// Which results of a comparison count: bits 0 to 2 are less, equal, greater.
inline constexpr int32_t kAnyLess = 1, kAnyEqual = 2, kAnyGreater = 4;

template <class T>
STROM_INLINE int compare_elements(T a, T b) {
  return a < b ? -1 : a > b;
}
template <>
STROM_INLINE int compare_elements(double a, double b) {
  return float_less(a, b) ? -1 : float_less(b, a);
}
/// order() returns -1, 0 or 1.
struct CompareRegisters {
  template <class T>
  STROM_INLINE static int order(T a, T b) {
    return compare_elements(a, b);
  }
};
struct CompareUuids {
  STROM_INLINE static int order(int128 a, int128 b) { return compare_elements(uuid_order(a), uuid_order(b)); }
};
struct CompareDecimals {
  STROM_INLINE static int order(int128 a, int128 b) { return compare_decimals(a, b); }
};
struct CompareTexts {
  STROM_INLINE static int order(StrView a, StrView b) { return compare_elements(text_compare(a, b), 0); }
};
struct CompareBpchars {
  STROM_INLINE static int order(StrView a, StrView b) {
    return compare_elements(text_compare(trimmed(a), trimmed(b)), 0);
  }
};

/// value OP ANY (array); `wanted` has the bits of OP. Gives a flag: the result is null if there is no match and some
/// element is null.
template <class Elements, class Compare>
struct AnyElement {
  STROM_INLINE static uint8_t eval(const Context&, uint8_t& out, typename Elements::Value value, StrView bytes,
                                   int32_t wanted) {
    ArrayView array;
    out = 0;
    if (!open_array(bytes, &array)) return block::kErrorFlag;
    int64_t offset = array.data;
    uint8_t flag = 0;
    for (int64_t i = 0; i < array.count; ++i) {
      if (array.is_null(i)) {
        flag = block::kNullFlag;
        continue;
      }
      typename Elements::Value element{};
      if (!Elements::read(array, &offset, &element)) return block::kErrorFlag;
      if (wanted >> (Compare::order(value, element) + 1) & 1) {
        out = 1;
        return 0;
      }
    }
    return flag;
  }
};

using AnyBool = AnyElement<BoolElements, CompareRegisters>;
using AnyInt2 = AnyElement<FixedElements<int16_t, int64_t>, CompareRegisters>;
using AnyInt4 = AnyElement<FixedElements<int32_t, int64_t>, CompareRegisters>;
using AnyWord4 = AnyElement<Word4Elements, CompareRegisters>;
using AnyWord8 = AnyElement<Word8Elements, CompareRegisters>;
using AnyOid = AnyElement<OidElements, CompareRegisters>;
using AnyFloat4 = AnyElement<WidenedFloats, CompareRegisters>;
using AnyFloat8 = AnyElement<Float8Elements, CompareRegisters>;
using AnyUuid = AnyElement<UuidElements, CompareUuids>;
using AnyDecimal = AnyElement<DecimalElements, CompareDecimals>;
using AnyText = AnyElement<TextElements, CompareTexts>;
using AnyBpchar = AnyElement<TextElements, CompareBpchars>;

// ---- dimensions ----

enum class ArrayBound { kLength, kLower, kUpper };

/// array_length, array_lower, array_upper. Gives a flag.
template <ArrayBound bound>
struct ArrayBoundOf {
  STROM_INLINE static uint8_t eval(const Context&, int32_t& out, StrView bytes, int32_t dimension) {
    ArrayView array;
    if (!open_array(bytes, &array)) return block::kErrorFlag;
    if (dimension < 1 || dimension > array.dimensions) return block::kNullFlag;
    const int64_t length = array.length(dimension - 1), lower = array.lower(dimension - 1);
    out = static_cast<int32_t>(bound == ArrayBound::kLength  ? length
                               : bound == ArrayBound::kLower ? lower
                                                             : lower + length - 1);
    return 0;
  }
};

/// Gives a flag.
struct ArrayDimensions {
  STROM_INLINE static uint8_t eval(const Context&, int32_t& out, StrView bytes) {
    ArrayView array;
    if (!open_array(bytes, &array)) return block::kErrorFlag;
    out = array.dimensions;
    return array.dimensions == 0 ? block::kNullFlag : 0;
  }
};

struct ArrayCardinality {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView bytes) {
    ArrayView array;
    out = 0;
    if (!open_array(bytes, &array)) return true;
    out = static_cast<int32_t>(array.count);
    return false;
  }
};

}  // namespace strom::engine::expr
