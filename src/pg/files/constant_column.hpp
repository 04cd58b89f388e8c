// Columns whose value is the same in all rows of a file or record batch, because it comes from the file's name or
// custom metadata, or because the file has no such field (NULL). Used by Source.
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

/// The values of one column, each of them once; kNull is always there. Values stay where they are until the end.
class ConstantColumn {
 public:
  static constexpr int kNull = 0;

  ConstantColumn(std::string name, codec::SqlType type);

  /// The value that the type's input function makes of `text`, in the server's encoding. Main thread. Throws
  /// PostgresError, which names the column and the file.
  int add(const std::string& text, const std::string& file);

  /// How the engine gets values; they are all NULL where `like` is given, which other files have.
  const columnar::Field& field() const { return field_; }
  void take_field(const columnar::Field& like);
  /// All values so far have a place in field().
  bool engine_readable() const { return engine_readable_; }

  /// `rows` rows of value `index`. `zeros`: at least 16 bytes for each row. Thread-safe.
  Result<columnar::ColumnView> view(int index, int64_t rows, const uint8_t* zeros,
                                    std::shared_ptr<const void>* memory) const;
  /// Reads view() as Datum, whether or not the engine can.
  codec::Decoder decoder(int index, const columnar::ColumnView& view) const;
  std::optional<columnar::Bounds> bounds(int index) const;
  bool is_null(int index) const { return index == kNull; }

 private:
  struct Value {
    Datum datum = 0;
    std::unique_ptr<char[]> storage;  // what `datum` points to, if it does
    std::string bytes;                // in the layout of field(); of text, the text
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
