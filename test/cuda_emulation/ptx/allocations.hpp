// Which addresses a kernel may touch as global memory. The fake runtime keeps one map of what was allocated through it;
// each launch checks its accesses against it, so that a host pointer given to a kernel, or an index out of bounds, is
// an error although host and device memory are the same here.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace strom::ptx {

/// [first, first + bytes)
struct Allocation {
  std::uint64_t first = 0, bytes = 0;

  bool contains(std::uint64_t address, std::uint64_t size) const {
    return size <= bytes && address - first <= bytes - size;
  }
};

/// Thread safe. Allocations do not overlap.
class AllocationMap {
 public:
  void add(const void* start, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    allocations_[reinterpret_cast<std::uint64_t>(start)] = bytes;
  }
  /// False when there was none at `start`.
  bool remove(const void* start) {
    const std::lock_guard lock(mutex_);
    return allocations_.erase(reinterpret_cast<std::uint64_t>(start)) != 0;
  }
  std::optional<Allocation> find(std::uint64_t address, std::uint64_t bytes) const {
    const std::lock_guard lock(mutex_);
    auto next = allocations_.upper_bound(address);
    if (next == allocations_.begin()) return std::nullopt;
    --next;
    const Allocation found{next->first, next->second};
    return found.contains(address, bytes) ? std::optional(found) : std::nullopt;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> allocations_;
};

/// The allocations that one block touched last, by page.
struct AllocationCache {
  std::array<Allocation, 64> entries{};
  Allocation& of(std::uint64_t address) { return entries[(address >> 12) % entries.size()]; }
};

}  // namespace strom::ptx
