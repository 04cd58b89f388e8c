// Geometries of PostGIS: calls of registry/functions/geometry.def.
#pragma once

#include <type_traits>

#include "engine/expr/geometry_make.hpp"
#include "engine/expr/geometry_relate.hpp"
#include "engine/op/call/kernel.hpp"
#include "geo/points_in_box.hpp"

namespace strom::engine::op {

using geo::PairPredicate;

/// Locates a tile of points in a prepared polygon that is the same in all rows. Most points are outside of its box, and
/// vectors find these at once; only the others are located one by one. False: call_by_row() has to do the tile.
template <class P, PairPredicate predicate>
STROM_KERNEL bool locate_tile(const P& p, TileState& s, const TileInstr& instr) {
  for (const uint16_t reg : {instr.a, instr.b, instr.c})
    if (s.regs[reg].flags != nullptr) return false;
  const StrView* prepared = values<StrView>(s, instr.a);
  const char* const image = prepared[0].ptr;
  if (s.count == 0 || !geo::PreparedPolygon::is_image(image, prepared[0].len)) return false;
  unsigned others = 0;
  p.for_each(s.count, [&](int i) { others |= static_cast<unsigned>(prepared[i].ptr != image); });
  const geo::PreparedPolygon polygon(image);
  if (others != 0 || !polygon.header().decidable) return false;
  const double *x = values<double>(s, instr.b), *y = values<double>(s, instr.c);
  auto* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  uint8_t* flags = s.storage[instr.dst].flags;
  const int32_t* const near = s.scratch_positions;
  const int near_count = geo::points_in_box(polygon.reach(), x, y, s.count, s.scratch_positions);
  const uint8_t far = geo::of_location(predicate, geo::Answer::kOutside) == geo::Verdict::kYes;
  p.for_each(s.count, [&](int i) { out[i] = far; });
  p.for_each(s.count, [&](int i) { flags[i] = 0; });
  unsigned raised = 0;
  for (int k = 0; k < near_count; ++k) {
    const int i = near[k];
    const bool unsure = expr::answer_to(geo::of_location(predicate, polygon.locate({x[i], y[i]})), out[i]);
    if (unsure) flags[i] = kErrorFlag;
    raised |= static_cast<unsigned>(unsure);
  }
  own(s, instr.dst, raised != 0);
  return true;
}

template <class F>
struct IsOfPrepared : std::false_type {};
template <PairPredicate predicate>
struct IsOfPrepared<expr::PreparedAndNumbers<predicate>> : std::true_type {};

namespace geometry {

/// execute_group() of this group finds this function before op::call(). It does the same, but by whole tiles where that
/// is faster.
template <class P, class F, int kArgs, expr::TypeId r, expr::TypeId a, expr::TypeId b, expr::TypeId c, uint32_t kTraits>
STROM_INLINE void call(const P& p, TileState& s, const TileInstr& instr) {
  if constexpr (IsOfPrepared<F>::value && !P::kDevice) {
    if (locate_tile<P, F::kPredicate>(p, s, instr)) return;
  }
  op::call<P, F, kArgs, r, a, b, c, kTraits>(p, s, instr);
}

}  // namespace geometry

}  // namespace strom::engine::op

#define STROM_GROUP geometry
#define STROM_GROUP_ROWS "registry/functions/geometry.def"
#include "engine/op/call/define_group.hpp"
