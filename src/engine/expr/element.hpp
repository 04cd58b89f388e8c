// Element functions: one row of an SQL function, single source for all platforms. Each is a class (the `functor` column
// of registry/functions.def) with
//   static bool eval(const Context&, R& out, A a[, B b])
// that returns true when the row becomes a fallback row (PostgreSQL would raise an error, or the value does not fit the
// engine's representation). It is also called for null rows, with arbitrary values, and must not trap on them.
#pragma once

#include <cstdint>

#include "base/int128.hpp"
#include "engine/block/tile.hpp"
#include "engine/platform/platform.hpp"
#include "registry/types.hpp"

namespace strom::engine::expr {

using base::int128;
using base::uint128;
using registry::Phys;
using registry::StrView;
using registry::TypeId;

struct Context {
  bool single_byte;        // one byte per character, else UTF-8
  block::TextArena* text;  // for functions with the trait kMakesText
  int scale;               // of the first argument, a numeric

  /// Memory for the text that a function makes, valid until the end of the tile. nullptr when there is no room; the row
  /// is then a fallback row. A single text may take an eighth of the arena, so that it leaves room for others.
  STROM_INLINE char* make_text(int64_t bytes) const {
    const int64_t at = bytes > text->capacity / 8 ? text->capacity : platform::fetch_add(&text->used, bytes);
    if (bytes <= text->capacity - at) return text->bytes + at;
    text->overflowed = 1;
    return nullptr;
  }
};

template <Phys phys>
struct PhysType;
template <>
struct PhysType<Phys::kBool> {
  using type = uint8_t;
};
template <>
struct PhysType<Phys::kI32> {
  using type = int32_t;
};
template <>
struct PhysType<Phys::kI64> {
  using type = int64_t;
};
template <>
struct PhysType<Phys::kI128> {
  using type = int128;
};
template <>
struct PhysType<Phys::kF32> {
  using type = float;
};
template <>
struct PhysType<Phys::kF64> {
  using type = double;
};
template <>
struct PhysType<Phys::kStr> {
  using type = StrView;
};

template <TypeId id>
using RegisterType = typename PhysType<registry::type_info(id).phys>::type;

}  // namespace strom::engine::expr
