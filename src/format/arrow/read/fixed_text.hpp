// What a FixedSizeBinary column whose type the file does not name is: char(n), as pg2arrow of PG-Strom writes it, or
// bytes. The one place that decides it: asked by IMPORT FOREIGN SCHEMA, and for tools that write a table's definition.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::format::arrow {

/// Looks at some values of a column. They are text if there are any, and all are valid UTF-8 without control
/// characters, to which zero bytes belong.
class FixedTextSample {
 public:
  /// Rows of the view, spread over it.
  void add(const columnar::ColumnView& column);
  bool has_values() const { return has_values_; }
  /// Some value is no text.
  bool has_other() const { return has_other_; }
  bool is_text() const { return has_values_ && !has_other_; }

 private:
  bool has_values_ = false, has_other_ = false;
};

/// True for a field of FixedSizeBinary, wide enough for char(n) and no wider, that no metadata give a type.
bool may_be_fixed_text(const columnar::Field& field);

/// Adds the first, the middle and the last record batch. Errors: those of FileReader::column().
Status sample_fixed_text(const FileReader& file, int field, FixedTextSample* sample);

}  // namespace strom::format::arrow
