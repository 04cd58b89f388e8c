// Tells whether two builds agree on the meaning of tile code. Planner, service and device module are separate files,
// and an upgrade may replace some of them while the others run.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/block/copies.hpp"
#include "engine/block/join_table.hpp"
#include "engine/block/pages.hpp"
#include "engine/block/tile.hpp"
#include "engine/block/tile_op.hpp"

namespace strom::engine::block {

namespace internal {

/// FNV-1a, of Fowler, Noll and Vo.
class Fnv {
 public:
  void add(std::string_view text) {
    constexpr uint64_t kPrime = 0x100000001b3;
    for (const char c : text) hash_ = (hash_ ^ static_cast<uint8_t>(c)) * kPrime;
    hash_ *= kPrime;  // the end of a text counts, too
  }
  template <class... T>
  void add_sizes() {
    for (const size_t size : {sizeof(T)...}) add({reinterpret_cast<const char*>(&size), sizeof size});
  }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

inline uint64_t make_fingerprint() {
  Fnv fnv;
#define STROM_BEGIN_GROUP(...) fnv.add(#__VA_ARGS__);
#define STROM_FUNCTION(...) fnv.add(#__VA_ARGS__);
#define STROM_FUNCTION3(...) fnv.add(#__VA_ARGS__);
#define STROM_EXTRACT(...) fnv.add(#__VA_ARGS__);
#include "registry/functions.def"
#undef STROM_BEGIN_GROUP
#undef STROM_FUNCTION
#undef STROM_FUNCTION3
#undef STROM_EXTRACT
#define STROM_AGGREGATE(...) fnv.add(#__VA_ARGS__);
#define STROM_AVERAGE(...) fnv.add(#__VA_ARGS__);
#define STROM_AGGREGATE2(...) fnv.add(#__VA_ARGS__);
#include "registry/aggregates.def"
#undef STROM_AGGREGATE
#undef STROM_AVERAGE
#undef STROM_AGGREGATE2
#define STROM_TYPE(...) fnv.add(#__VA_ARGS__);
#include "registry/types.def"
#undef STROM_TYPE
  const auto operations = static_cast<uint16_t>(TileOp::kFindGroup);
  fnv.add({reinterpret_cast<const char*>(&operations), sizeof operations});
  fnv.add_sizes<TileInstr, TileCode, TileState, RunResult, JoinTable, PageTask, BlockCopy>();
  return fnv.hash();
}

}  // namespace internal

/// A hash of all registry rows that are op-codes, accumulators or layouts, in their order, and of the structs that
/// kernels read. Equal for builds of the same sources.
inline uint64_t fingerprint() {
  static const uint64_t made = internal::make_fingerprint();
  return made;
}

}  // namespace strom::engine::block
