// Predicates of two geometries, and the verdicts about them. Single source.
#pragma once

#include <cstdint>

#include "base/single_source.hpp"

namespace strom::geo {

enum class PairPredicate : uint8_t { kContains, kCovers, kIntersects, kTouches, kCrosses, kOverlaps, kEquals };

enum class Verdict : uint8_t { kNo, kYes, kUncertain };

STROM_BASE_INLINE Verdict verdict(bool yes) { return yes ? Verdict::kYes : Verdict::kNo; }

}  // namespace strom::geo
