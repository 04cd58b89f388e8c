// A file may ask for more memory than there is: that is an error of the file, and must not end the process.
#pragma once

#include <new>
#include <string>

#include "base/status.hpp"

namespace strom::format::arrow {

/// Runs `f`, whose allocations depend on sizes in an untrusted file.
template <class F>
auto within_memory(const std::string& path, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while reading file \"" + path + "\"");
  }
}

}  // namespace strom::format::arrow
