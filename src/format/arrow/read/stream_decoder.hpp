// Decodes the Arrow stream format into ColumnBuilders, for record batches from another program: pg2arrow gets them from
// a server that makes them. All input is untrusted. Format:
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
  /// Bytes of the rows in the stream.
  int64_t bytes() const { return bytes_; }
  /// Appends rows [first, first + count). Errors: kCorruptFile, kUnsupported; kOutOfMemory.
  Status append_to(std::vector<columnar::ColumnBuilder>& columns, int64_t first, int64_t count) const;

 private:
  const BatchColumns& batch_;
  int64_t bytes_;
};

/// Labels of dictionaries by the fields' dictionary ids.
using LabelsById = std::map<int64_t, std::shared_ptr<columnar::Labels>>;

/// Each stream has its own. Not thread-safe.
class StreamDecoder {
 public:
  using TakeRows = std::function<Status(const StreamRows& rows)>;

  /// `name` is the stream's name in messages. `columns`, which outlive the decoder, have the expected types; `labels`
  /// have the labels of their dictionaries.
  StreamDecoder(std::string name, const std::vector<columnar::ColumnBuilder>& columns, LabelsById labels);
  ~StreamDecoder();

  /// Takes one or more whole messages, and gives their rows to `take`. Errors: kCorruptFile; kTypeMismatch when the
  /// stream's columns do not have the expected types; kUnsupported.
  Status feed(const uint8_t* bytes, int64_t size, const TakeRows& take);
  /// True when the schema has come and fits.
  bool has_schema() const { return has_schema_; }
  /// Called after the last message: kCorruptFile when the end is missing.
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
