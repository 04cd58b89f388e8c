// The base file of a store table: its committed rows at a position of the redo log. Each checkpoint writes a new one.
// It has another name until it is complete. docs/format/store.md describes the bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "store/log/file.hpp"
#include "store/log/identity.hpp"
#include "store/rows/cell.hpp"
#include "store/rows/shape.hpp"

namespace strom::store::log {

/// The facts that the file contains besides rows.
struct BaseHeader {
  Identity identity;
  rows::Shape shape;
  uint64_t position = 0;  // the file includes the redo records before it
  uint64_t next_xid = 0;  // the cluster's, when the file was made
  uint64_t rows = 0;
};

/// A row of the file. Transactions are 0 if everybody sees the row and nobody has ended it.
struct BaseRow {
  rows::Slot slot;
  uint64_t xmin = 0, xmax = 0;  // with epochs
};

/// A base file has this behind its name until it is complete.
inline constexpr const char* kNewSuffix = ".new";

class BaseWriter {
 public:
  /// Begins a file named `path` + kNewSuffix. Errors: those of opening.
  static Result<BaseWriter> begin(const std::string& path, const BaseHeader& header);
  /// Adds a row; `image` comes from append_row().
  Status add(const BaseRow& row, std::string_view image);
  /// Completes the file and renames it to `path`. If `is_durable`, both are on the device afterwards.
  Status finish(bool is_durable);
  /// Removes the file unless finish() was called.
  ~BaseWriter();
  BaseWriter(BaseWriter&&) noexcept;
  BaseWriter& operator=(BaseWriter&&) = delete;

 private:
  BaseWriter(std::string path, BaseHeader header);
  Status write_header();
  Status flush();

  std::string path_;
  BaseHeader header_;
  File file_;
  std::string block_;
  uint32_t block_rows_ = 0;
  uint64_t offset_ = 0, blocks_ = 0;
};

class BaseReader {
 public:
  /// Opens a base file. Errors: kCorruptFile, kUnsupported, those of opening.
  static Result<BaseReader> open(const std::string& path);
  const BaseHeader& header() const { return header_; }

  using EachRow = std::function<Status(const BaseRow& row, std::span<const rows::Cell> cells)>;
  /// Calls `each` for all rows. Errors: kCorruptFile with the offset; those of `each`.
  Status read_rows(const EachRow& each) const;

 private:
  Status read_block(const struct BlockHeader& block, uint64_t offset, std::string_view bytes,
                    const EachRow& each) const;

  File file_;
  BaseHeader header_;
  uint64_t begin_ = 0;  // offset of the blocks
};

}  // namespace strom::store::log
