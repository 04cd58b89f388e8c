// Body of a record batch or dictionary batch during its assembly: nodes, buffers, and the pieces of memory that they
// consist of.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <vector>

#include "format/arrow/batch/compression.hpp"

namespace strom::format::arrow {

constexpr int64_t kBufferAlignment = 64;
/// Of large buffers that are at such an address, too: DirectWriter writes them from where they are.
constexpr int64_t kPageAlignment = 4096;
alignas(kBufferAlignment) inline constexpr char kPadding[kPageAlignment] = {};

constexpr int64_t padding_of(int64_t bytes, int64_t alignment = kBufferAlignment) { return -bytes & (alignment - 1); }

/// Buffers are referred to in the caller's memory, or compressed into memory of the body.
class BatchBody {
 public:
  struct Extent {
    int64_t a, b;  // a node's length and nulls; a buffer's offset and length
  };

  explicit BatchBody(int64_t rows) : rows_(rows) {}

  void add_node(int64_t length, int64_t nulls) { nodes_.push_back({length, nulls}); }
  /// `compressor` may be nullptr. The bytes must stay until the body is written, unless they are compressed.
  Status add_buffer(const void* bytes, int64_t size, Compressor* compressor);
  /// For a column of views, after its buffers: how many of them have texts.
  void add_variadic_count(int64_t count) { variadic_counts_.push_back(count); }
  /// Called once, after the last buffer.
  void seal();

  int64_t rows() const { return rows_; }
  int64_t size() const { return size_; }
  /// Where the body has to begin in a file.
  int64_t alignment() const { return alignment_; }
  Codec codec() const { return codec_; }
  const std::vector<Extent>& nodes() const { return nodes_; }
  const std::vector<Extent>& buffers() const { return buffers_; }
  const std::vector<int64_t>& variadic_counts() const { return variadic_counts_; }
  const std::vector<struct iovec>& pieces() const { return pieces_; }

 private:
  void pad(int64_t bytes);

  int64_t rows_, size_ = 0, alignment_ = kBufferAlignment;
  Codec codec_ = Codec::kNone;
  std::vector<Extent> nodes_, buffers_;
  std::vector<int64_t> variadic_counts_;
  std::vector<struct iovec> pieces_;
  std::vector<char> compressed_;
};

}  // namespace strom::format::arrow
