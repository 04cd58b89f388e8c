// The beginning of a BCF file, in front of its records. Used by block_text.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace strom::vcf2arrow {

/// The text of the header, and where records begin.
struct BinaryHeader {
  std::string_view text;
  size_t end = 0;
};

inline bool is_binary(std::string_view bytes) { return bytes.starts_with("BCF\2"); }
/// Nothing: `bytes` end before.
std::optional<BinaryHeader> binary_header(std::string_view bytes);

}  // namespace strom::vcf2arrow
