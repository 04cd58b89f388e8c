// The C++ library has memory for each thread to handle exceptions. If the library came into the process by dlopen(), as
// in PostgreSQL servers that are not linked to it, it allocates that memory at the thread's first exception. When the
// allocation fails, the process ends, even if the exception is a std::bad_alloc. Called by code that starts a thread
// that may throw.
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
