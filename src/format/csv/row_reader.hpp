// Splits rows of delimited text into fields. Used by tsv2arrow. The text is untrusted.
//
// There are two forms, read as PostgreSQL's COPY reads them. With a quote character (CSV), delimiters and line ends
// inside of quotes are text, and two quotes inside of quotes are one. Instead, another character (the escape) may
// precede quotes and itself inside of quotes. Without a quote character (TSV), a backslash changes the meaning of the
// next character.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strom::format::csv {

struct Dialect {
  char delimiter = '\t';
  char quote = 0;                    // 0: none
  std::vector<std::string> nulls{};  // texts in the file that mean NULL; never in quotes
  char escape = 0;                   // before quotes, and itself, inside of quotes; 0: the quote
  bool backslashes = true;           // without a quote: backslashes have a meaning
  char comment = 0;                  // lines that begin with it are skipped; 0: none
};

struct TextField {
  std::string_view text;  // without quotes and backslashes
  bool is_null = false;
  bool is_quoted = false;
};

/// Goes through `text` row by row. Not thread-safe.
class RowReader {
 public:
  /// `dialect` and `text` outlive the reader. `text` begins with a row.
  RowReader(const Dialect& dialect, std::string_view text);

  /// Reads the next row; false at the end. The fields stay valid until the next call.
  bool next();
  const std::vector<TextField>& fields() const { return fields_; }
  /// Where the row of next() begins and ends, in bytes of the text.
  int64_t row_begin() const { return row_begin_; }
  int64_t position() const { return at_; }
  /// True when the row is an empty line.
  bool is_blank() const { return fields_.size() == 1 && fields_[0].text.empty() && !fields_[0].is_quoted; }
  /// True when the text ended inside of quotes.
  bool is_unfinished() const { return unfinished_; }

 private:
  void skip_comments();
  bool plain_field();
  bool special_field(int64_t begin);
  void add(std::string_view raw, std::string_view text, bool is_quoted);
  bool is_null(std::string_view raw) const;
  int64_t find_stop(int64_t from);
  void load_block(int64_t block);

  const Dialect& dialect_;
  std::string_view text_;
  int64_t at_ = 0, row_begin_ = 0;
  bool unfinished_ = false;
  size_t longest_null_ = 0;
  // Delimiters, line ends, and quotes or escapes in block `block_` of 64 bytes of the text: a bit for each byte.
  int64_t block_ = -1;
  uint64_t stops_ = 0;
  std::vector<TextField> fields_;
  std::vector<std::string> made_;  // texts that differ from the file's bytes
  size_t made_count_ = 0;
};

/// True when next_row() can find rows of this dialect: the number of quotes before a place tells whether it is quoted.
bool has_simple_quotes(const Dialect& dialect);
/// The end of the row that begins at or before `from`, where another row begins at or after `from`; the end of the text
/// when there is none. `quotes`: whether the number of quotes before `from` is odd.
int64_t next_row(const Dialect& dialect, std::string_view text, int64_t from, bool quotes);

}  // namespace strom::format::csv
