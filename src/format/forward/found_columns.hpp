// Columns for records without a given schema: one for each key, with a type that holds all values seen so far. Used by
// fluent2arrow.
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

/// The type of a key's values. Whole numbers and others together are kReal; other mixtures are kText.
enum class FoundType : uint8_t { kBool, kInt, kBigInt, kReal, kJson, kText };

class FoundColumns {
 public:
  /// Names of the columns for times and tags. A key with such a name gets a column with an underscore after it.
  FoundColumns(std::string time_column, std::string tag_column)
      : time_column_(std::move(time_column)), tag_column_(std::move(tag_column)) {}

  enum class Change : uint8_t { kNone, kMore, kOther };
  /// Looks at the records of a message. kMore: there are new columns; kOther: a column has another type. A damaged
  /// message is looked at up to the damage.
  Change observe(const Message& message);
  /// Begins with the columns of a file. False, and there are no columns: the file has others than could be found.
  bool start(const std::vector<columnar::Field>& fields);

  std::vector<columnar::Field> fields() const;
  /// Keys of records, by column.
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

/// True when a column that was found can hold the value without loss. It always can for NULL and extensions.
bool fits_found(const Value& value, const columnar::Field& field);
/// True when no column can be found for the value.
inline bool is_nothing(const Value& value) {
  return value.kind == Value::Kind::kNil || value.kind == Value::Kind::kExtension;
}

}  // namespace strom::format::forward
