// Error messages about values, for decoders of a server's rows and of text. `place` tells the row and the column.
#pragma once

#include <string>

#include "base/status.hpp"

namespace strom::format {

inline Status unexpected_bytes(const std::string& place, const char* what) {
  return Status(ErrorCode::kCorruptFile, "unexpected bytes from the server in " + place).with_detail(what);
}

inline Status out_of_range(const char* what, const std::string& place, const char* hint) {
  return Status(ErrorCode::kNumericOutOfRange, std::string(what) + " in " + place).with_hint(hint);
}

inline Status unsupported_value(const char* what, const std::string& place, const char* hint) {
  return Status(ErrorCode::kUnsupported, std::string(what) + " in " + place).with_hint(hint);
}

inline Status batch_too_large(const std::string& place) {
  return Status(ErrorCode::kOverBudget, "more than 2 GiB in " + place)
      .with_hint("Make the record batches smaller with -s.");
}

}  // namespace strom::format
