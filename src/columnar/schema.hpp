// Schema of columnar data as it lies in memory or in an Arrow file: fields of any Arrow type, with their children.
// Readers, writers, builders, the tools and the server all share this one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "columnar/layout.hpp"

namespace strom::columnar {

using KeyValues = std::vector<std::pair<std::string, std::string>>;

/// A column, or a part of a nested one.
struct Field {
  std::string name;
  Layout layout = Layout::kInt32;
  bool nullable = true;
  int32_t precision = 0;             // decimals
  int32_t scale = 0;                 // decimals
  int32_t byte_width = 0;            // kFixedBinary; elements of kFixedList
  TimeUnit unit = TimeUnit::kMicro;  // of times, timestamps and durations
  std::string timezone;              // kTimestamp; not empty = timestamptz
  bool dictionary = false;           // stored as indexes into a dictionary of values of `layout`
  bool ordered = false;              // the dictionary's order is that of its values; keys of a kMap are sorted
  Layout index = Layout::kInt32;     // of the dictionary: integers
  int64_t dictionary_id = 0;         // fields with the same id share a dictionary
  std::vector<Field> children;       // of nested layouts
  std::vector<int32_t> type_ids;     // of unions: the type id of each child
  KeyValues metadata;
  /// Not empty: the file's column has an unsupported feature, and this is its name, e.g. "dictionary encoding" or "type
  /// Struct". `layout` is then meaningless; reading the column is ErrorCode::kUnsupported.
  std::string unsupported;
};

struct Schema {
  std::vector<Field> fields;
  KeyValues metadata;
};

/// The layout of integers with 8 to 64 bits.
constexpr Layout integer_layout(int bits, bool is_signed) {
  switch (bits) {
    case 8: return is_signed ? Layout::kInt8 : Layout::kUInt8;
    case 16: return is_signed ? Layout::kInt16 : Layout::kUInt16;
    case 32: return is_signed ? Layout::kInt32 : Layout::kUInt32;
    default: return is_signed ? Layout::kInt64 : Layout::kUInt64;
  }
}

/// True when the types, their parameters and their children's are the same. The fields' own names and metadata do not
/// count, but the names of children of structs and unions do. Ids of dictionaries may differ.
bool same_type(const Field& a, const Field& b);

/// Bytes for each row in a column's buffer of values, see value_width(). With a dictionary, the bytes of an index.
int64_t stored_width(const Field& field);

/// Name with parameters, for messages: "Decimal128(10,2)", "List<Int32>", "Timestamp(us,UTC)".
std::string type_text(const Field& field);
/// The same for the values: a field with a dictionary has the name of its values' type.
std::string value_type_text(const Field& field);

}  // namespace strom::columnar
