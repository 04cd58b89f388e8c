// Memory of large arrays that are written once and read at random: in large pages where the system gives them, and not
// cleared. An allocator for std::vector.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace strom::base {

template <class T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
    const size_t rounded = (bytes + kPage - 1) / kPage * kPage;
    void* memory = bytes > PTRDIFF_MAX - kPage ? nullptr : std::aligned_alloc(kPage, rounded);
    if (memory == nullptr) throw std::bad_alloc();
    ::madvise(memory, rounded, MADV_HUGEPAGE);  // a wish
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    if (count * sizeof(T) < kLarge)
      ::operator delete(memory);
    else
      std::free(memory);
  }
  /// What resize() adds has no value.
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }

 private:
  static constexpr size_t kPage = size_t{2} << 20, kLarge = 2 * kPage;
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace strom::base
