#include "store/free_extents.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <vector>

namespace strom::store {

namespace {

struct Extent {
  uint64_t offset, bytes;
};

/// The largest class of at most so many bytes, which are a multiple of kExtentUnit.
uint32_t class_within(uint64_t bytes) {
  const uint32_t size_class = std::min(class_of(bytes), kExtentClasses - 1);
  return bytes_of_class(size_class) > bytes ? size_class - 1 : size_class;
}

}  // namespace

uint64_t ExtentLists::pop(uint32_t size_class) noexcept {
  const uint64_t offset = lists_.heads[size_class] - 1;
  uint64_t* link = link_of(offset);
  lists_.heads[size_class] = *link;
  if (*link == 0) lists_.present[size_class / FreeExtents::kBits] &= ~(uint64_t{1} << size_class % FreeExtents::kBits);
  // Clients may be reading the word.
  __atomic_store_n(link, uint64_t{0}, __ATOMIC_RELAXED);
  lists_.bytes -= bytes_of_class(size_class);
  return offset;
}

void ExtentLists::push(uint64_t offset, uint32_t size_class) noexcept {
  __atomic_store_n(link_of(offset), lists_.heads[size_class], __ATOMIC_RELAXED);
  lists_.heads[size_class] = offset + 1;
  lists_.present[size_class / FreeExtents::kBits] |= uint64_t{1} << size_class % FreeExtents::kBits;
  lists_.bytes += bytes_of_class(size_class);
}

/// Makes extents of all of the bytes.
void ExtentLists::push_pieces(uint64_t offset, uint64_t bytes) noexcept {
  while (bytes != 0) {
    const uint32_t size_class = class_within(bytes);
    push(offset, size_class);
    offset += bytes_of_class(size_class);
    bytes -= bytes_of_class(size_class);
  }
}

/// The smallest class from `from` on that has extents.
std::optional<uint32_t> ExtentLists::first_class(uint32_t from) const noexcept {
  uint64_t mask = ~uint64_t{0} << from % FreeExtents::kBits;
  for (uint32_t word = from / FreeExtents::kBits; word < std::size(lists_.present); ++word) {
    if (const uint64_t found = lists_.present[word] & mask; found != 0)
      return word * FreeExtents::kBits + static_cast<uint32_t>(std::countr_zero(found));
    mask = ~uint64_t{0};
  }
  return std::nullopt;
}

std::optional<uint64_t> ExtentLists::take(uint32_t size_class) noexcept {
  const auto found = first_class(size_class);
  if (!found.has_value()) return std::nullopt;
  const uint64_t offset = pop(*found), bytes = bytes_of_class(size_class);
  push_pieces(offset + bytes, bytes_of_class(*found) - bytes);
  return offset;
}

void ExtentLists::give(uint64_t offset, uint32_t size_class) noexcept {
  push(offset, size_class);
  lists_.given += bytes_of_class(size_class);
}

bool ExtentLists::merge_if_worth_it(uint64_t used) noexcept {
  constexpr uint64_t kLeast = 1 << 20, kPart = 16;
  if (lists_.given < std::max(kLeast, used / kPart)) return false;
  merge();
  return true;
}

void ExtentLists::merge() noexcept {
  constexpr size_t kMost = 1 << 20;  // takes about a tenth of a second
  lists_.given = 0;
  std::vector<Extent> found;
  try {
    found.reserve(kMost);
  } catch (const std::exception&) {
    return;
  }
  for (auto next = first_class(0); next.has_value() && found.size() < kMost; next = first_class(*next))
    while (lists_.heads[*next] != 0 && found.size() < kMost) {
      const uint64_t offset = pop(*next);
      found.push_back({offset, bytes_of_class(*next)});
    }
  std::sort(found.begin(), found.end(), [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  for (size_t i = 0; i < found.size();) {
    Extent run = found[i++];
    while (i < found.size() && found[i].offset == run.offset + run.bytes &&
           (boundary_ == 0 || found[i].offset % boundary_ != 0))
      run.bytes += found[i++].bytes;
    push_pieces(run.offset, run.bytes);
  }
}

}  // namespace strom::store
