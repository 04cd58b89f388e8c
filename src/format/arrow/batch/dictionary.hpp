// Dictionaries of dictionary-encoded columns. A file has them in messages of their own, in any number for one column:
// those that follow the first add to it (delta) or, in streams, replace it for the record batches behind them. Private
// to src/format/arrow.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "format/arrow/batch/batch_decode.hpp"
#include "registry/types.hpp"

namespace strom::format::arrow {

/// The values that indexes of one record batch mean.
struct DictionaryView {
  int64_t size = 0;
  const registry::StrView* texts = nullptr;     // of layouts of texts and bytes; else
  const char* values = nullptr;                 // values of the layout's width; else
  const columnar::ColumnView* parts = nullptr;  // columns, one behind the other
  int32_t part_count = 0;
  const uint8_t* nulls = nullptr;  // of texts and values: a byte for each, 1 = NULL; nullptr: none
  std::shared_ptr<const void> memory;
};

/// All dictionaries of a file, loaded when they are asked for. Thread-safe after the last add().
class Dictionaries {
 public:
  /// A dictionary message that stands before record batch `before_batch`. Its place is inside of the file.
  void add(const BatchLocation& location, int before_batch) { messages_.push_back({location, before_batch}); }
  bool empty() const { return messages_.empty(); }

  /// What `encoding` means in record batch `batch`. Errors: kCorruptFile (also: there is none), kOutOfMemory.
  Result<DictionaryView> find(const FileBytes& file, const DictionaryEncoding& encoding, int batch) const;

 private:
  struct Message {
    BatchLocation location;
    int before_batch;
  };
  /// Values up to the next replacement.
  struct Values;
  using Versions = std::vector<std::shared_ptr<Values>>;

  Status sort_messages(const FileBytes& file) const;
  Result<const Versions*> versions_of(const FileBytes& file, const DictionaryEncoding& encoding) const;
  Result<Versions> load(const FileBytes& file, const DictionaryEncoding& encoding) const;

  std::vector<Message> messages_;
  mutable std::recursive_mutex mutex_;  // dictionaries may have dictionary-encoded parts
  mutable bool sorted_ = false;
  struct Part {
    size_t message;
    bool is_delta;
  };
  mutable std::map<int64_t, std::vector<Part>> parts_;  // by id, in the file's order
  struct Loaded {
    const DictionaryEncoding* encoding;
    Versions versions;
  };
  mutable std::multimap<int64_t, Loaded> loaded_;  // by id; columns of different types may share one
};

}  // namespace strom::format::arrow
