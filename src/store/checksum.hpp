// CRC-64/XZ, the checksum of the store's records, log and files. Uses carry-less multiplication if the processor has
// it, else tables with eight bytes at a time. Both give the same values. By option records have XXH3 instead.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strom::store {

/// CRC-64/XZ (polynomial 0x42F0E1EBA9EA3693 reflected, all ones before and after). The value for "123456789" is
/// 0x995DC9BBDF1939FA.
uint64_t crc64(const void* data, size_t bytes);

/// Like crc64(), without carry-less multiplication.
uint64_t crc64_by_tables(const void* data, size_t bytes);

/// XXH3 of 64 bits without a seed, of Collet's xxHash. The value for no bytes is 0x2D06800538D394C2.
uint64_t xxh3(const void* data, size_t bytes);

/// True if crc64() uses carry-less multiplication on this machine.
bool has_fast_crc64();

/// CRC-64/XZ of bytes that are added in several parts.
class Crc64 {
 public:
  void add(const void* data, size_t bytes);
  uint64_t value() const { return ~state_; }

 private:
  uint64_t state_ = ~uint64_t{0};
};

}  // namespace strom::store
