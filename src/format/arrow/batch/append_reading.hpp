// Appends rows of a record batch to ColumnBuilders, so that they can be written again together with others. Private to
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

/// The new index of each index of a dictionary; -1: the value has no new index.
using IndexMap = std::vector<int32_t>;

/// A column of a record batch. It has been checked: all its rows are inside of its buffers.
struct BatchColumn {
  struct Buffer {
    const uint8_t* data = nullptr;
    int64_t size = 0;
  };
  int64_t length = 0;
  Buffer validity, values, data;
  std::vector<BatchColumn> children;
  const IndexMap* map = nullptr;  // nullptr: indexes do not change

  bool is_null(int64_t row) const { return validity.size > 0 && (validity.data[row >> 3] >> (row & 7) & 1) == 0; }
  int32_t offset(int64_t row) const {
    int32_t value;
    std::memcpy(&value, values.data + row * static_cast<int64_t>(sizeof(value)), sizeof(value));
    return value;
  }
};

/// The columns of one record batch. The bytes that they were loaded from must stay.
class BatchColumns {
 public:
  /// `body`: offset of the batch's body in `file`. `like` has the columns' types. `maps` are for the columns with
  /// dictionaries, depth first, or empty. Errors: kCorruptFile, kUnsupported, kOutOfMemory.
  static Result<BatchColumns> load(const FileBytes& file, const fbs::RecordBatch& batch, int64_t body,
                                   const std::vector<columnar::ColumnBuilder>& like,
                                   const std::vector<const IndexMap*>& maps);

  int64_t rows() const { return rows_; }
  /// Appends rows [first, first + count). Errors: kCorruptFile, kUnsupported; some columns may have got rows then.
  Status append_to(std::vector<columnar::ColumnBuilder>& columns, int64_t first, int64_t count) const;

 private:
  std::string name_;
  int64_t rows_ = 0;
  std::vector<BatchColumn> columns_;
  std::vector<std::shared_ptr<const void>> inflated_;  // decompressed buffers
};

}  // namespace strom::format::arrow
