// Rows of record batches as text: CSV, tab-separated values, JSON lines, Markdown tables. Used by arrow2csv.
//
// Values are printed as PostgreSQL prints them (DateStyle ISO, time zone UTC, bytea_output hex), so that COPY FROM
// reads them back. CSV is that of COPY (FORMAT csv) and RFC 4180, TSV is COPY's text format, JSON lines are those of
// row_to_json().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "columnar/schema.hpp"
#include "format/csv/text_buffer.hpp"

namespace strom::format::csv {

enum class Style : uint8_t { kCsv, kTsv, kJsonLines, kMarkdown };

struct TextOptions {
  Style style = Style::kCsv;
  char delimiter = ',';     // kCsv and kTsv
  char quote = '"';         // kCsv
  bool quote_all = false;   // kCsv: every value that is not null
  std::string null_text;    // all but kJsonLines
  bool binary_hex = false;  // FixedSizeBinary without a known type as \x…, not as characters
  bool arrays = false;      // kCsv and kTsv: lists of flat values as PostgreSQL's arrays, {1,2}, not as JSON
};

/// Immutable, safe to share between threads.
class RowText {
 public:
  /// `fields` are the columns of the batches for append_rows(). Errors: kInvalidParameter (characters that cannot be
  /// delimiter or quote), kUnsupported (an unreadable column).
  static Result<std::shared_ptr<const RowText>> create(const std::vector<columnar::Field>& fields,
                                                       const TextOptions& options);

  virtual ~RowText() = default;
  /// Line or lines with the columns' names; empty for kJsonLines.
  virtual const std::string& header() const = 0;
  /// Appends rows [begin, end) of `batch`. Errors: kCorruptFile (a text that lies outside of its column), kOutOfMemory,
  /// kInvalidParameter (bytes that are not text).
  virtual Status append_rows(const columnar::BatchView& batch, int64_t begin, int64_t end, TextBuffer& out) const = 0;
};

}  // namespace strom::format::csv
