// What the C++ library keeps for each thread to handle exceptions. Where the library came into the process by dlopen(),
// as with PostgreSQL servers that are not linked to it, that is allocated at the thread's first exception, and the
// process ends when it cannot be: at a std::bad_alloc of all things. Called by whoever starts a thread that may throw.
#pragma once

#include <cstdlib>
#include <exception>

namespace strom::base {

/// Makes it for the calling thread, while there is memory; false when there is none any more.
inline bool prepare_for_exceptions() noexcept {
  constexpr size_t kEnough = 4096;
  void* volatile room = std::malloc(kEnough);  // volatile: not left out by the compiler
  if (room == nullptr) return false;
  std::free(room);  // this thread's allocator takes the next blocks from here
  (void)std::uncaught_exceptions();
  return true;
}

}  // namespace strom::base
