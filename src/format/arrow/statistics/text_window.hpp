// Finds which of many texts cannot be lower or higher than two others. Usually eight bytes of each text and its length
// suffice: the eight bytes after the prefix that all texts so far share. Used by text_extremes.hpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace strom::format::arrow {

/// A text is inside when it begins with the first `skip` bytes of both bounds and its key is between theirs. The key is
/// the eight bytes after these, as a number. For texts with the key of a bound, the length decides.
struct TextWindow {
  static constexpr uint64_t kWord = 8;

  uint64_t skip = 0;                     // bytes that both bounds begin with
  uint64_t front = 0, front_mask = 0;    // their first eight bytes; the mask has those before `skip`
  uint64_t back = 0;                     // the eight bytes before `skip`, if it is at least kWord
  std::string_view middle;               // the bytes between front and back
  uint64_t low_key = 0, low_size = 0;    // lower keys are outside, and so are shorter texts with this key
  uint64_t high_key = 0, high_size = 0;  // likewise above

  /// Eight bytes in memory order.
  static uint64_t load(const char* bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, kWord);
    return word;
  }

  /// The first `count` of eight bytes, as a number with the same order.
  static uint64_t key_of(uint64_t word, uint64_t count) {
    return __builtin_bswap64(word) & kFirstBytes[count < kWord ? count : kWord];
  }

  enum class Side : uint8_t { kInside, kBelow, kAbove, kUnknown };

  /// The side of a text; kBelow and kAbove are decided by its key. kWord bytes must be readable from `text` on, and
  /// from `text` + skip on, whatever the text's length.
  Side side_of(const char* text, uint64_t size, uint64_t* key) const {
    if (skip != 0) {
      if (size < skip || ((load(text) ^ front) & front_mask) != 0) return Side::kUnknown;
      if (skip > kWord && load(text + skip - kWord) != back) return Side::kUnknown;
      if (!middle.empty() && std::memcmp(text + kWord, middle.data(), middle.size()) != 0) return Side::kUnknown;
    }
    // No branch depends on the length.
    *key = key_of(load(text + skip), size - skip);
    const Order order = Order{*key} << 64 | size;
    if (!((order < (Order{low_key} << 64 | low_size)) | (order > (Order{high_key} << 64 | high_size))))
      return Side::kInside;
    return *key < low_key ? Side::kBelow : *key > high_key ? Side::kAbove : Side::kUnknown;
  }

 private:
  using Order = unsigned __int128;
  static constexpr uint64_t kFirstBytes[kWord + 1] = {0,
                                                      0xFF00000000000000,
                                                      0xFFFF000000000000,
                                                      0xFFFFFF0000000000,
                                                      0xFFFFFFFF00000000,
                                                      0xFFFFFFFFFF000000,
                                                      0xFFFFFFFFFFFF0000,
                                                      0xFFFFFFFFFFFFFF00,
                                                      UINT64_MAX};
};

/// The first of texts [begin, end) that is not inside, or `end`. Text i is bytes [offsets[i], offsets[i + 1]). The
/// bytes that side_of() reads must be readable. Defined in platform/text_window.cpp.
int64_t first_outside(const TextWindow& window, const char* bytes, const int32_t* offsets, int64_t begin, int64_t end);
int64_t first_outside(const TextWindow& window, const char* bytes, const int64_t* offsets, int64_t begin, int64_t end);

}  // namespace strom::format::arrow
