// Where the columns of a record batch come from, for caches that keep them between queries. Given by sources, used by
// engine/device/cached_columns.hpp and cached_join.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace strom::columnar {

class BatchOrigin {
 public:
  static constexpr size_t kMostNameBytes = 200, kMostLabelBytes = 255;

  virtual ~BatchOrigin() = default;
  /// Names the contents of a column of the batch: columns with the same name have the same bytes in the same layout, at
  /// any time and in any process. Empty: the column is not to be cached. Any thread may call it, and it does not call
  /// PostgreSQL.
  virtual std::string name(size_t column) const = 0;
  /// The column's number in the file or table that label() names.
  virtual int32_t number(size_t column) const = 0;
  /// The file or table, for people: see file_label(), table_label() and relation_label().
  virtual std::string label() const = 0;
  /// False when what was read of the batch so far may differ from what the names promise.
  virtual bool holds() const { return true; }
};

/// Where all rows of a source come from, for caches of what was made of them. The name is as in BatchOrigin, of any
/// length, and tells what the rows hold but not their order. Empty: nothing made of the rows is to be cached.
struct RowsOrigin {
  std::string name, label;
};

/// Appends the bytes of numbers to a name.
template <class... T>
void append_name(std::string* name, const T&... numbers) {
  (name->append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
}

/// Labels begin with their kind. Of a long path the end is kept.
inline std::string file_label(const std::string& path) {
  const size_t most = BatchOrigin::kMostLabelBytes - 1;
  return "f" + (path.size() > most ? path.substr(path.size() - most) : path);
}
inline std::string table_label(uint32_t tablespace, uint32_t database, uint32_t file) {
  return "t" + std::to_string(tablespace) + " " + std::to_string(database) + " " + std::to_string(file);
}

/// The label of a table that has no file of PostgreSQL's.
inline std::string relation_label(uint32_t database, uint32_t relation) {
  return "r" + std::to_string(database) + " " + std::to_string(relation);
}

/// The label of a join table that was made of the rows with label `of`.
inline std::string join_table_label(const std::string& of) {
  const size_t over = of.size() < BatchOrigin::kMostLabelBytes ? 0 : of.size() + 1 - BatchOrigin::kMostLabelBytes;
  return "j" + of.substr(0, 1) + of.substr(std::min(of.size(), 1 + over));
}

}  // namespace strom::columnar
