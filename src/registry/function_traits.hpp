// What a row of functions.def says about its function beside its types.
#pragma once

#include <cstdint>

namespace strom::registry {

enum FunctionTraits : uint32_t {
  kRaises = 1,
  kSameScale = 2,
  kScaleSum = 4,
  kCLocale = 8,
  kDeterministic = 16,
  kMakesText = 32,
  kAsciiCase = 64,
  kScale0 = 128,
  kScale3 = 256,
  kScale6 = 512,
  kHostMath = 1024,
  kNullable = 2048,
  kIsLess = 4096,
  kIsEqual = 8192,
  kIsGreater = 16384,
};

}  // namespace strom::registry
