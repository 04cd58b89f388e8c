// Columns with one value for all rows of a file or record batch. The value comes from the file's name or custom
// metadata, or it is NULL because the file has no such field. Used by Source.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "columnar/bounds.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/codec/decode.hpp"

namespace strom::pg::files {

/// The distinct values of one column; kNull is always among them. Values never move.
class ConstantColumn {
 public:
  static constexpr int kNull = 0;

  ConstantColumn(std::string name, codec::SqlType type);

  /// Adds the value that the type's input function makes from `text`, in the server's encoding, and returns its index.
  /// Main thread. Throws PostgresError, which names the column and the file.
  int add(const std::string& text, const std::string& file);

  /// The field under which the engine loads values. take_field() replaces it by that of other files; all values are
  /// NULL then.
  const columnar::Field& field() const { return field_; }
  void take_field(const columnar::Field& like);
  /// True if field() can represent all values so far.
  bool engine_readable() const { return engine_readable_; }

  /// A view of `rows` rows with value `index`. `zeros` has at least 16 bytes for each row. Thread-safe.
  Result<columnar::ColumnView> view(int index, int64_t rows, const uint8_t* zeros,
                                    std::shared_ptr<const void>* memory) const;
  /// Reads view() as Datum, also if the engine cannot.
  codec::Decoder decoder(int index, const columnar::ColumnView& view) const;
  std::optional<columnar::Bounds> bounds(int index) const;
  bool is_null(int index) const { return index == kNull; }

 private:
  struct Value {
    Datum datum = 0;
    std::unique_ptr<char[]> storage;  // what `datum` points to, if it does
    std::string bytes;                // in field()'s layout; for text, the text
    registry::StrView text{};
  };

  Datum parse(const std::string& text, const std::string& file) const;
  void keep(Datum datum, Value* value) const;
  void encode(Value* value);

  std::string name_;
  codec::SqlType type_;
  columnar::Field field_;
  const registry::TypeInfo* info_ = nullptr;  // nullptr: the engine does not have such columns
  bool engine_readable_ = false;
  std::deque<Value> values_;
  std::map<std::string, int> by_text_;
};

}  // namespace strom::pg::files
