// CRC-64/XZ, the checksum of the store's records, log and files: by carry-less multiplication where the processor has
// it, by tables of eight bytes at a time elsewhere. Both give the same values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strom::store {

/// CRC-64/XZ (polynomial 0x42F0E1EBA9EA3693 reflected, all ones before and after): "123456789" gives
/// 0x995DC9BBDF1939FA.
uint64_t crc64(const void* data, size_t bytes);

/// The same without carry-less multiplication.
uint64_t crc64_by_tables(const void* data, size_t bytes);

/// Whether crc64() uses carry-less multiplication here.
bool has_fast_crc64();

/// CRC-64/XZ of bytes that come in several parts.
class Crc64 {
 public:
  void add(const void* data, size_t bytes);
  uint64_t value() const { return ~state_; }

 private:
  uint64_t state_ = ~uint64_t{0};
};

}  // namespace strom::store
