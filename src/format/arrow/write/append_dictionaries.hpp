// Dictionaries of a file that gets more record batches. Used by FileAppender. Private to src/format/arrow.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "columnar/dictionary_builder.hpp"
#include "format/arrow/metadata/file_tail.hpp"
#include "format/arrow/metadata/schema_decode.hpp"

namespace strom::format::arrow {

class AppendDictionaries {
 public:
  /// Writes a whole dictionary; `block` becomes its location.
  using Write = std::function<Status(int64_t id, const columnar::ColumnBuilder& values, fbs::Block* block)>;

  /// Loads the dictionaries of a file with this schema. Errors: kCorruptFile.
  Status load(const FileTail& tail, const flatbuffers::Vector<const fbs::Block*>* source, const DecodedSchema& schema);

  /// The dictionary of a field with the values that the file has, see FileAppender::dictionary().
  Result<std::shared_ptr<columnar::DictionaryBuilder>> find(const std::string& path, const columnar::Field& field);

  /// Writes the dictionaries that have got values since they were loaded or written.
  Status write_grown(const Write& write);

  /// The dictionaries' blocks for the footer.
  std::vector<fbs::Block> blocks() const;

 private:
  struct Stored {
    int64_t id;
    fbs::Block block;
  };
  struct Growing {
    std::shared_ptr<columnar::DictionaryBuilder> builder;
    int64_t written = 0;  // values in the file
  };
  void find_encodings(const FieldPlace& place);

  std::vector<Stored> stored_;  // in the file's order
  std::map<int64_t, std::shared_ptr<const DictionaryEncoding>> encodings_;
  std::map<int64_t, Growing> growing_;
};

}  // namespace strom::format::arrow
