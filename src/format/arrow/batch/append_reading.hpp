// Rows of a record batch into ColumnBuilders, so that they can be written again together with others. Private to
// src/format/arrow.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "arrow_ipc_generated.h"
#include "columnar/builder.hpp"
#include "format/arrow/metadata/ipc.hpp"

namespace strom::format::arrow {

/// What the indexes of a dictionary become; -1: a value that has none.
using IndexMap = std::vector<int32_t>;

/// A column of a record batch, checked: the rows that it has are inside of its buffers.
struct BatchColumn {
  struct Buffer {
    const uint8_t* data = nullptr;
    int64_t size = 0;
  };
  int64_t length = 0;
  Buffer validity, values, data;
  std::vector<BatchColumn> children;
  const IndexMap* map = nullptr;  // nullptr: indexes stay as they are

  bool is_null(int64_t row) const { return validity.size > 0 && (validity.data[row >> 3] >> (row & 7) & 1) == 0; }
  int32_t offset(int64_t row) const {
    int32_t value;
    std::memcpy(&value, values.data + row * static_cast<int64_t>(sizeof(value)), sizeof(value));
    return value;
  }
};

/// The columns of one record batch. What they are read from must stay.
class BatchColumns {
 public:
  /// `body` is where the batch's body begins in `file`. `like` has the columns' types; `maps` are for its columns with
  /// dictionaries, depth first, or empty. Errors: kCorruptFile, kUnsupported, kOutOfMemory.
  static Result<BatchColumns> load(const FileBytes& file, const fbs::RecordBatch& batch, int64_t body,
                                   const std::vector<columnar::ColumnBuilder>& like,
                                   const std::vector<const IndexMap*>& maps);

  int64_t rows() const { return rows_; }
  /// Appends rows [first, first + count). Errors: kCorruptFile, kUnsupported; then some columns may have got rows.
  Status append_to(std::vector<columnar::ColumnBuilder>& columns, int64_t first, int64_t count) const;

 private:
  std::string name_;
  int64_t rows_ = 0;
  std::vector<BatchColumn> columns_;
  std::vector<std::shared_ptr<const void>> inflated_;  // what compressed buffers became
};

}  // namespace strom::format::arrow
