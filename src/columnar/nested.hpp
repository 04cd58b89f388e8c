// Schemas of any Arrow type, lists, structs and dictionaries included, for those who write files: the tools. What the
// engine computes on is columnar::Schema, which has one layout for each column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "columnar/schema.hpp"

namespace strom::columnar {

/// Types of the Arrow columnar format as far as they are written.
enum class Kind : uint8_t {
  kBool,
  kInt,          // `bits` 8, 16, 32, 64
  kUInt,         // likewise
  kFloat,        // `bits` 32, 64
  kDecimal,      // `bits` 128 or 256, `precision`, `scale`
  kDate,         // `bits` 32: days; 64: milliseconds
  kTime,         // `bits` 32 or 64, `unit`
  kTimestamp,    // `unit`, `timezone`
  kInterval,     // months, days (int32), nanoseconds (int64)
  kBinary,       // int32 offsets
  kUtf8,         // int32 offsets
  kFixedBinary,  // `byte_width`
  kList,         // int32 offsets, one child
  kStruct,       // children
  kOther,        // of a file that others wrote: a type that is not written here
};

struct NestedField {
  std::string name;
  Kind kind = Kind::kInt;
  bool nullable = true;
  int32_t bits = 0, precision = 0, scale = 0, byte_width = 0;
  TimeUnit unit = TimeUnit::kMicro;
  std::string timezone;
  std::vector<NestedField> children;
  int64_t dictionary = -1;  // not negative: rows are int32 indexes into that dictionary, whose values have `kind`
  bool ordered = false;     // of the dictionary
  KeyValues metadata;

  /// The type with its parameters is the same, and those of the children, by name; metadata may differ.
  bool same_type(const NestedField& other) const;
};

struct NestedSchema {
  std::vector<NestedField> fields;
  KeyValues metadata;
};

/// Bytes of a value of a type without offsets and children; 0 for kBool and the others. `field` is no dictionary.
int64_t fixed_width(const NestedField& field);
/// Name with parameters, for messages: "Decimal128(10,2)", "List<Int32>".
std::string type_text(const NestedField& field);

}  // namespace strom::columnar
