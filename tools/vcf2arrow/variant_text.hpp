// Variants, in pieces that begin and end with a line, or with a record of BCF: from plain files, from files compressed
// by bgzip, whose blocks threads decompress each by itself (of regions those that an index names), and from everything
// that htslib reads (gzip, pipes).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/large_allocator.hpp"
#include "base/status.hpp"

namespace strom::vcf2arrow {

/// Text of a piece. Belongs to a thread, which uses it again.
struct Piece {
  int64_t number = 0;  // of the file's pieces, from 0
  int64_t size = 0;    // bytes of the file, as progress
  std::string_view text;
  base::LargeVector<char> buffer;  // what text lies in, where it is not mapped
};

class VariantText {
 public:
  /// `piece`: bytes of text at most, or about. `threads`: how many call next(). Errors: kFileNotFound and the like,
  /// kCorruptFile, no index for regions.
  static Result<std::unique_ptr<VariantText>> open(const std::string& path, const std::vector<std::string>& regions,
                                                   int64_t piece, int threads);
  virtual ~VariantText() = default;

  /// The header's text, and perhaps more.
  virtual std::string_view header() const = 0;
  /// Whether pieces are records of BCF, whose dictionary is in the header.
  virtual bool is_binary() const { return false; }
  /// The next piece, without the header. Thread-safe. False: there are no more. A piece may be empty.
  virtual Result<bool> next(Piece& piece) = 0;
  /// Another thread has failed: nobody waits for what it should have done.
  virtual void give_up() {}
  /// Bytes of the file, 0: not known.
  virtual int64_t size() const = 0;
};

/// Bytes of pieces, at most about `most`, of which all threads get the same number.
int64_t even_piece(int64_t total, int64_t most, int threads);

}  // namespace strom::vcf2arrow
