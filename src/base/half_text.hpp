// Texts of half-precision floats, rounded once. Called by float2's input functions and by the tools' readers of text.
#pragma once

#include <cstdint>

namespace strom::base {

enum class HalfText : uint8_t {
  kDone,
  kNoNumber,    // the text does not begin with one
  kOutOfRange,  // rounded it is infinity or 0, which the text is not
};

/// The half that is nearest to the number that `text` begins with, ties to even; *end is behind the number. Numbers are
/// written as for strtod().
HalfText half_of_text(const char* text, char** end, uint16_t* half);

}  // namespace strom::base
