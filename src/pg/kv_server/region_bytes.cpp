#include "pg/kv_server/region_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "store/region/format.hpp"

namespace strom::pg::kv_server {

namespace region = ::strom::store::region;

std::string region_bytes(const store::Region& from, const std::vector<::strom::store::message::Range>& ranges) {
  const region::Header& header = from.writer.header();
  size_t bytes = 0;
  for (const auto& range : ranges) bytes += range.bytes;
  std::string all(bytes, '\0');
  char* to = all.data();
  for (const auto& range : ranges) {
    const uint64_t end = std::min(from.bytes, region::load_word(&header.extents_end, __ATOMIC_ACQUIRE));
    const uint64_t part = range.offset < end ? std::min<uint64_t>(range.bytes, end - range.offset) : 0;
    // Words of headers and entries must be read atomically.
    const uint64_t words = range.offset % sizeof(uint64_t) == 0 ? part / sizeof(uint64_t) * sizeof(uint64_t) : 0;
    for (uint64_t at = 0; at < words; at += sizeof(uint64_t)) {
      const uint64_t word =
          region::load_word(reinterpret_cast<const uint64_t*>(from.memory + range.offset + at), __ATOMIC_ACQUIRE);
      std::memcpy(to + at, &word, sizeof(word));
    }
    std::memcpy(to + words, from.memory + range.offset + words, part - words);
    to += range.bytes;
  }
  return all;
}

}  // namespace strom::pg::kv_server
