// Dictionaries of dictionary-encoded columns. A file has them in separate messages, any number for one column. Messages
// after the first add to the dictionary (delta) or, in streams, replace it for later record batches. Private to
// src/format/arrow.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "format/arrow/batch/batch_decode.hpp"
#include "registry/types.hpp"

namespace strom::format::arrow {

/// The values that the indexes of one record batch refer to.
struct DictionaryView {
  int64_t size = 0;
  const registry::StrView* texts = nullptr;     // for layouts of texts and bytes; else
  const char* values = nullptr;                 // values of the layout's width; else
  const columnar::ColumnView* parts = nullptr;  // consecutive columns
  int32_t part_count = 0;
  const uint8_t* nulls = nullptr;  // for texts and values: a byte for each, 1 = NULL; nullptr: no NULL
  std::shared_ptr<const void> memory;
};

/// All dictionaries of a file, loaded when first needed. Thread-safe after the last add().
class Dictionaries {
 public:
  /// Adds a dictionary message that precedes record batch `before_batch`. The location is inside of the file.
  void add(const BatchLocation& location, int before_batch) { messages_.push_back({location, before_batch}); }
  bool empty() const { return messages_.empty(); }

  /// The values of `encoding` in record batch `batch`. Errors: kCorruptFile (also: there is no such dictionary),
  /// kOutOfMemory.
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
