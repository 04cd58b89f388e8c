// A compressed varlena (src/include/varatt.h, toast_compression.h) has a word behind its length: 30 bits for the size
// of the text, and 2 bits for the compression method.
#include "pg/source/inflate.hpp"

#include <dlfcn.h>

#include <cstring>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::source {

namespace {

using registry::StrView;

constexpr int64_t kInfoSize = 4;
constexpr uint32_t kSizeMask = 0x3FFFFFFF;
constexpr int kMethodShift = 30;
constexpr uint32_t kPglz = 0, kLz4 = 1;

using Lz4 = int (*)(const char* from, char* to, int from_size, int to_size);
// LZ4_decompress_safe() of the library that the server has loaded, if it has values compressed with lz4.
Lz4 lz4 = nullptr;

uint32_t info_of(StrView stored) {
  uint32_t info;
  std::memcpy(&info, stored.ptr, sizeof info);
  return info;
}

int64_t inflated_size(StrView stored) {
  if (stored.len < kInfoSize || stored.len > BLCKSZ) return -1;
  const uint32_t info = info_of(stored), method = info >> kMethodShift;
  if (method != kPglz && (method != kLz4 || lz4 == nullptr)) return -1;
  return info & kSizeMask;
}

bool inflate(StrView stored, char* to, int64_t size) {
  char copy[BLCKSZ];  // a copy that cannot change during decompression
  std::memcpy(copy, stored.ptr, static_cast<size_t>(stored.len));
  const char* from = copy + kInfoSize;
  const auto from_size = static_cast<int>(stored.len - kInfoSize), to_size = static_cast<int>(size);
  const int made = info_of({copy, stored.len}) >> kMethodShift == kPglz
                       ? pglz_decompress(from, from_size, to, to_size, true)
                       : lz4(from, to, from_size, to_size);
  return made == to_size;
}

}  // namespace

const engine::block::Inflater* inflater() {
  static constexpr engine::block::Inflater kInflater{inflated_size, inflate};
  if (lz4 == nullptr) lz4 = reinterpret_cast<Lz4>(dlsym(RTLD_DEFAULT, "LZ4_decompress_safe"));
  return &kInflater;
}

}  // namespace strom::pg::source
