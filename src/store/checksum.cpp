#include "store/checksum.hpp"

#include <array>
#include <cstring>

#include "store/platform/crc64_clmul.hpp"

namespace strom::store {

namespace {

constexpr size_t kSlices = 8, kBytes = 256;
using Tables = std::array<std::array<uint64_t, kBytes>, kSlices>;

constexpr Tables make_tables() {
  Tables tables{};
  for (size_t byte = 0; byte < kBytes; ++byte) {
    uint64_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? (value >> 1) ^ kCrc64Polynomial : value >> 1;
    tables[0][byte] = value;
  }
  for (size_t slice = 1; slice < kSlices; ++slice)
    for (size_t byte = 0; byte < kBytes; ++byte) {
      const uint64_t before = tables[slice - 1][byte];
      tables[slice][byte] = tables[0][before & 255] ^ (before >> 8);
    }
  return tables;
}

constexpr Tables kTables = make_tables();

/// The register of the CRC after these bytes.
uint64_t run_tables(uint64_t state, const uint8_t* bytes, size_t size) {
  for (; size >= kSlices; bytes += kSlices, size -= kSlices) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof(word));
    word ^= state;
    state = 0;
    for (size_t i = 0; i < kSlices; ++i) state ^= kTables[kSlices - 1 - i][(word >> (8 * i)) & 255];
  }
  for (; size != 0; ++bytes, --size) state = kTables[0][(state ^ *bytes) & 255] ^ (state >> 8);
  return state;
}

/// The register of the CRC after these bytes, by the fastest method that the processor supports.
uint64_t run(uint64_t state, const uint8_t* bytes, size_t size) {
  if (size < kLeastFolded || !has_fast_crc64()) return run_tables(state, bytes, size);
  uint8_t rest[kFoldedBytes];
  const size_t folded = fold_crc64(state, bytes, size, rest);
  return run_tables(run_tables(0, rest, sizeof(rest)), bytes + folded, size - folded);
}

}  // namespace

uint64_t crc64(const void* data, size_t bytes) { return ~run(~uint64_t{0}, static_cast<const uint8_t*>(data), bytes); }

uint64_t crc64_by_tables(const void* data, size_t bytes) {
  return ~run_tables(~uint64_t{0}, static_cast<const uint8_t*>(data), bytes);
}

bool has_fast_crc64() {
  static const bool has = can_fold_crc64();
  return has;
}

void Crc64::add(const void* data, size_t bytes) { state_ = run(state_, static_cast<const uint8_t*>(data), bytes); }

}  // namespace strom::store
