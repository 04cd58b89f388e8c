// Error codes shared by every layer; rows live in registry-style table errors.def so that the SQLSTATE of a code
// is written down once.
#pragma once

#include <cstdint>

namespace strom::base {

enum class ErrorCode : uint8_t {
  kOk = 0,
#define STROM_ERROR(name, sqlstate, meaning) name,
#include "base/errors.def"
#undef STROM_ERROR
};

/// Five-character SQLSTATE of `code`; "00000" for kOk.
constexpr const char* sqlstate(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk: return "00000";
#define STROM_ERROR(name, state, meaning) \
  case ErrorCode::name: return state;
#include "base/errors.def"
#undef STROM_ERROR
  }
  return "XX000";
}

}  // namespace strom::base
