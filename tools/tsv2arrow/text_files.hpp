// Files of delimited text, and pieces of them that begin and end with a row.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "cli/spool.hpp"
#include "format/csv/row_reader.hpp"

namespace strom::tsv2arrow {

/// A mapped file, or what came from standard input; or the text of it, if it is compressed.
class TextFile {
 public:
  /// "-": standard input, all of it. A mark of UTF-8 at the beginning is left out. Errors: also those of
  /// decompress() and check_input_kind().
  static Result<std::unique_ptr<TextFile>> open(const std::string& path);
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  const std::string& path() const { return path_; }
  std::string_view text() const { return text_; }

 private:
  TextFile() = default;
  Status map();
  Status read_input();
  Status use_spool();
  Status decompress_text();

  std::string path_;
  std::unique_ptr<tool::Spool> spool_;
  void* mapped_ = nullptr;
  size_t mapped_size_ = 0;
  std::string_view text_;
};

struct Piece {
  const TextFile* file = nullptr;
  int64_t begin = 0, end = 0;  // bytes of the file's text
  std::string_view text() const {
    return file->text().substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }
};

/// The rows from `begin` to `end`, which are ends of rows, in pieces of about `size` bytes, in order. `threads` count
/// quotes.
Result<std::vector<Piece>> cut(const TextFile& file, const format::csv::Dialect& dialect, int64_t begin, int64_t end,
                               int64_t size, int threads);

}  // namespace strom::tsv2arrow
