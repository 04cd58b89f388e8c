// Free extents of a piece of memory, which the rows' heap and the published region use again. There is a list for each
// size class. An extent of a larger class is split where there is none of the right one. From time to time neighbours
// are merged, so that memory of short values serves longer ones.
#pragma once

#include <cstdint>
#include <optional>

#include "store/size_classes.hpp"

namespace strom::store {

inline constexpr uint32_t kExtentClasses = 160;

/// The lists, in memory that processes share. All zeros at the beginning.
struct FreeExtents {
  static constexpr uint32_t kBits = 64;

  uint64_t heads[kExtentClasses];  // offset + 1 of the first extent, whose first word has the next one's; 0: none
  uint64_t present[(kExtentClasses + kBits - 1) / kBits];  // a bit for each class that has extents
  uint64_t bytes;                                          // of all extents
  uint64_t given;                                          // bytes that came back since the last merge
};

/// Works on the lists. The caller holds a lock.
class ExtentLists {
 public:
  /// Offsets count from `memory`. No extent crosses a multiple of `boundary`; 0: there is none.
  ExtentLists(FreeExtents* lists, uint8_t* memory, uint64_t boundary)
      : lists_(*lists), memory_(memory), boundary_(boundary) {}

  /// Takes an extent of this class. Its first word is zero, the others are as they were given.
  std::optional<uint64_t> take(uint32_t size_class) noexcept;
  void give(uint64_t offset, uint32_t size_class) noexcept;
  /// Merges neighbours, if so much has come back since the last time that it is worth it. `used` is the size of all
  /// extents. True: it is worth it to try take() again.
  bool merge_if_worth_it(uint64_t used) noexcept;
  /// Merges neighbours. Looks at a limited number of extents.
  void merge() noexcept;

 private:
  uint64_t pop(uint32_t size_class) noexcept;
  void push(uint64_t offset, uint32_t size_class) noexcept;
  void push_pieces(uint64_t offset, uint64_t bytes) noexcept;
  std::optional<uint32_t> first_class(uint32_t from) const noexcept;
  uint64_t* link_of(uint64_t offset) const { return reinterpret_cast<uint64_t*>(memory_ + offset); }

  FreeExtents& lists_;
  uint8_t* memory_;
  uint64_t boundary_;
};

}  // namespace strom::store
