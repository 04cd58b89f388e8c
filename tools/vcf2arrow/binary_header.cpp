// See binary_header.hpp.
#include "vcf2arrow/binary_header.hpp"

#include <cstdint>
#include <cstring>

namespace strom::vcf2arrow {

std::optional<BinaryHeader> binary_header(std::string_view bytes) {
  constexpr size_t kMagic = 5;
  uint32_t size = 0;
  constexpr size_t kBegin = kMagic + sizeof size;
  if (bytes.size() < kBegin) return std::nullopt;
  std::memcpy(&size, bytes.data() + kMagic, sizeof size);
  if (bytes.size() - kBegin < size) return std::nullopt;
  return BinaryHeader{bytes.substr(kBegin, size), kBegin + size};
}

}  // namespace strom::vcf2arrow
