// The values of a growing dictionary, which is found by value. Used by whoever appends to dictionary-encoded columns:
// INSERT into Arrow tables and copies of files. Several columns may share one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "columnar/builder.hpp"

namespace strom::columnar {

/// Not thread-safe. Throws std::bad_alloc.
class DictionaryBuilder {
 public:
  /// `field` is one that has the dictionary. Its values are texts, bytes or of fixed width, or booleans: see can_hold().
  explicit DictionaryBuilder(const Field& field);
  static bool can_hold(const Field& field);

  int64_t id() const { return id_; }
  int64_t size() const { return values_.length(); }
  const ColumnBuilder& values() const { return values_; }

  /// The value is added whether it is there or not: dictionaries of files come as they are.
  bool add(std::string_view value);
  void add_null();
  /// Index of a value by its bytes as they stand in values(), a boolean being one byte. A new value is added. -1 when
  /// there are too many bytes for one column, or more values than the field's indexes can count.
  int64_t find_or_add(std::string_view value);
  /// Index of what row `row`, not null, of a kDictionary column stands for; -2 when it is NULL, -1 when there are too
  /// many values, -3 when it is outside of its dictionary.
  int64_t find_or_add(const ColumnView& column, int64_t row);

 private:
  bool push(std::string_view value);

  int64_t id_, most_;  // most_: values that the indexes can count
  ColumnBuilder values_;
  std::unordered_map<std::string, int64_t> index_;
  /// Indexes of another dictionary in this one, as far as they were asked for. It is known by where it lies.
  struct Known {
    const void* dictionary = nullptr;
    int64_t size = 0;
    std::vector<int64_t> indexes;
  };
  std::vector<Known> known_;
};

using DictionaryBuilders = std::map<int64_t, std::shared_ptr<DictionaryBuilder>>;  // by id

/// Bytes of row `row`, not null, of a column that is no dictionary and not nested; those of a boolean are in `*boolean`.
/// False when a text lies outside of its column.
bool value_bytes(const ColumnView& column, int64_t row, char* boolean, std::string_view* bytes);

/// Gives each part of `column` that has a dictionary the one with its id, which is made when it is not there.
void attach_dictionaries(ColumnBuilder& column, DictionaryBuilders& dictionaries);

}  // namespace strom::columnar
