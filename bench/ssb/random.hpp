// Random numbers of the Star Schema Benchmark generator: one short stream for each row, derived from (seed, table, row)
// by hashing. So any thread can make any row in any order, with the same result.
#pragma once

#include <cstdint>

namespace strom::ssb {

/// Finaliser of SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", 2014).
constexpr uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// The stream of one row (or of one order with its lines).
class RowRandom {
 public:
  RowRandom(uint64_t seed, uint64_t table, uint64_t row)
      : state_(mix64(mix64(mix64(seed + kStep) ^ (table + 1) * kStep) + row * 0xd1342543de82ef95ULL)) {}

  uint64_t next() { return mix64(state_ += kStep); }
  /// Uniform in [0, bound), by multiplication: the bias is below bound / 2^64.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
  /// Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low + 1)));
  }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15ULL;
  uint64_t state_;
};

}  // namespace strom::ssb
