// Decoder of the Arrow stream format into ColumnBuilders, for whoever gets record batches from another program:
// pg2arrow from a server that makes them. Everything that it is given is untrusted. Format:
// https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/labels.hpp"
#include "columnar/builder.hpp"

namespace strom::format::arrow {

class BatchColumns;

/// Rows that can be appended to columns, once or in parts.
class StreamRows {
 public:
  StreamRows(const BatchColumns& batch, int64_t bytes) : batch_(batch), bytes_(bytes) {}
  int64_t count() const;
  /// What they took in the stream.
  int64_t bytes() const { return bytes_; }
  /// Rows [first, first + count). Errors: kCorruptFile, kUnsupported; kOutOfMemory.
  Status append_to(std::vector<columnar::ColumnBuilder>& columns, int64_t first, int64_t count) const;

 private:
  const BatchColumns& batch_;
  int64_t bytes_;
};

/// Labels of dictionaries by their numbers in the fields.
using LabelsById = std::map<int64_t, std::shared_ptr<columnar::Labels>>;

/// One for each stream; not thread-safe.
class StreamDecoder {
 public:
  using TakeRows = std::function<Status(const StreamRows& rows)>;

  /// `name` stands for the stream in messages. `columns`, which outlive the decoder, say what types are wanted, and
  /// `labels` what the indexes of their dictionaries mean.
  StreamDecoder(std::string name, const std::vector<columnar::ColumnBuilder>& columns, LabelsById labels);
  ~StreamDecoder();

  /// One or more whole messages. Rows that come are given to `take`. Errors: kCorruptFile; kTypeMismatch when the
  /// stream's columns are of other types than those that are wanted; kUnsupported.
  Status feed(const uint8_t* bytes, int64_t size, const TakeRows& take);
  /// The schema has come, and fits.
  bool has_schema() const { return has_schema_; }
  /// After the last message: kCorruptFile when the end is missing.
  Status finish() const;

 private:
  struct Maps;
  Status take_schema(const columnar::Schema& schema);
  void find_maps(const columnar::Field& theirs, const columnar::Field& ours);
  Status add_labels(int64_t id, const std::vector<std::string>& labels, bool is_delta);
  Status corrupt(const std::string& what) const;

  std::string name_;
  const std::vector<columnar::ColumnBuilder>& columns_;
  LabelsById labels_;
  std::unique_ptr<Maps> maps_;
  bool has_schema_ = false, is_done_ = false;
};

}  // namespace strom::format::arrow
