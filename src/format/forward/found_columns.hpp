// Columns for records that nobody has described: one for each key, with a type that holds all values which were seen.
// Used by fluent2arrow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "columnar/schema.hpp"
#include "format/forward/messages.hpp"

namespace strom::format::forward {

/// What a key's values are. Whole numbers and others are kReal together; what else does not go together is kText.
enum class FoundType : uint8_t { kBool, kInt, kBigInt, kReal, kJson, kText };

class FoundColumns {
 public:
  /// Names of columns for times and tags, which keys cannot have: such a key's column has an underscore behind it.
  FoundColumns(std::string time_column, std::string tag_column)
      : time_column_(std::move(time_column)), tag_column_(std::move(tag_column)) {}

  enum class Change : uint8_t { kNone, kMore, kOther };
  /// The records of a message: kMore, there are columns behind those that were there; kOther: one has another type.
  /// Messages that are damaged are looked at as far as they are not.
  Change observe(const Message& message);
  /// Begins with the columns of a file. False, and there are none: it has others than could be found.
  bool start(const std::vector<columnar::Field>& fields);

  std::vector<columnar::Field> fields() const;
  /// Of records, by column.
  std::vector<std::string> keys() const;

  static constexpr size_t kMostColumns = 1000;

 private:
  struct Column {
    std::string key;
    FoundType type;
  };
  std::string name_of(const std::string& key) const;
  bool is_like_own(std::string_view key) const;
  void observe_value(std::string_view key, FoundType type, Change* change);

  std::string time_column_, tag_column_;
  std::vector<Column> columns_;
  std::unordered_map<std::string, size_t> index_;
};

/// Whether a value can be in a column that was found, with nothing lost. NULL and extensions can always.
bool fits_found(const Value& value, const columnar::Field& field);
/// Has no value that a column could be found for.
inline bool is_nothing(const Value& value) {
  return value.kind == Value::Kind::kNil || value.kind == Value::Kind::kExtension;
}

}  // namespace strom::format::forward
