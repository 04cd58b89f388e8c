// Decides what a FixedSizeBinary column is whose type the file does not name: char(n), as pg2arrow of PG-Strom writes
// it, or bytes. Only this code decides it, for IMPORT FOREIGN SCHEMA and for tools that write a table's definition.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::format::arrow {

/// Looks at some values of a column. The column is text if there are values and all of them are valid UTF-8 without
/// control characters. Zero bytes count as control characters.
class FixedTextSample {
 public:
  /// Adds rows of the view, spread over it.
  void add(const columnar::ColumnView& column);
  bool has_values() const { return has_values_; }
  /// True when some value is not text.
  bool has_other() const { return has_other_; }
  bool is_text() const { return has_values_ && !has_other_; }

 private:
  bool has_values_ = false, has_other_ = false;
};

/// True for a FixedSizeBinary field without a type in its metadata whose width char(n) can have.
bool may_be_fixed_text(const columnar::Field& field);

/// Adds the first, the middle and the last record batch. Errors: those of FileReader::column().
Status sample_fixed_text(const FileReader& file, int field, FixedTextSample* sample);

}  // namespace strom::format::arrow
