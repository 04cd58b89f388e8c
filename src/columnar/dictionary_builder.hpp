// The values of a growing dictionary, found by value. Used by producers of dictionary-encoded columns: INSERT into
// Arrow tables and copies of files. Several columns may share one.
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
  /// `field` has the dictionary. Its values are texts, bytes, booleans or of fixed width: see can_hold().
  explicit DictionaryBuilder(const Field& field);
  static bool can_hold(const Field& field);

  int64_t id() const { return id_; }
  int64_t size() const { return values_.length(); }
  const ColumnBuilder& values() const { return values_; }

  /// Adds the value even if the dictionary has it already: dictionaries of files are taken over unchanged.
  bool add(std::string_view value);
  void add_null();
  /// Index of a value by its bytes as they are in values(); a boolean is one byte. A new value is added. -1 when there
  /// are too many bytes for one column, or more values than the field's indexes can count.
  int64_t find_or_add(std::string_view value);
  /// Index of the value of row `row`, which is not null, in a kDictionary column. -2 when the dictionary's value is
  /// NULL, -1 when there are too many values, -3 when the row's index is outside of its dictionary.
  int64_t find_or_add(const ColumnView& column, int64_t row);

 private:
  bool push(std::string_view value);

  int64_t id_, most_;  // most_: values that the indexes can count
  ColumnBuilder values_;
  std::unordered_map<std::string, int64_t> index_;
  /// Indexes of another dictionary's values in this one, filled on demand. The other dictionary is identified by its
  /// address.
  struct Known {
    const void* dictionary = nullptr;
    int64_t size = 0;
    std::vector<int64_t> indexes;
  };
  std::vector<Known> known_;
};

using DictionaryBuilders = std::map<int64_t, std::shared_ptr<DictionaryBuilder>>;  // by id

/// Bytes of row `row`, which is not null. The column is neither a dictionary nor nested. The byte of a boolean is in
/// `*boolean`. False when a text lies outside of its column.
bool value_bytes(const ColumnView& column, int64_t row, char* boolean, std::string_view* bytes);

/// Gives each part of `column` that has a dictionary the builder with the dictionary's id, making missing ones.
void attach_dictionaries(ColumnBuilder& column, DictionaryBuilders& dictionaries);

}  // namespace strom::columnar
