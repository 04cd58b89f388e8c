// Compressed input of tools: gzip, zstd or lz4, known by its first bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace strom::tool {

/// Takes compressed bytes and gives what was compressed, into a buffer.
class Decompressor {
 public:
  struct Step {
    size_t taken = 0, made = 0;
    bool is_end = false;       // of a part; another may follow
    std::string problem = {};  // empty: none
  };
  virtual ~Decompressor() = default;
  virtual Step step(std::string_view from, char* to, size_t room) = 0;
};

/// As many bytes as decompressor_of() looks at.
inline constexpr size_t kMagicBytes = 4;

/// nullptr when bytes that begin so are not compressed in one of these ways.
std::unique_ptr<Decompressor> decompressor_of(std::string_view bytes);

}  // namespace strom::tool
