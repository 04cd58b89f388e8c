// What a file says may ask for more memory than there is: an error of that file, not the end of the process.
#pragma once

#include <new>
#include <string>

#include "base/status.hpp"

namespace strom::format::arrow {

/// Runs `f`, whose allocations are sized by what an untrusted file says.
template <class F>
auto within_memory(const std::string& path, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while reading file \"" + path + "\"");
  }
}

}  // namespace strom::format::arrow
