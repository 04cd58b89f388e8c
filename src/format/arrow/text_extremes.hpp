// The lowest and the highest of many texts, by bytes. Most are neither, which the first eight bytes and the length
// tell. Used by those that compute statistics.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace strom::format::arrow {

/// Texts are not copied: they stay where they are as long as this is used.
class TextExtremes {
 public:
  void add(std::string_view text) {
    if (may_change(order_key(text), text.size())) take(text);
  }

  /// Text i is bytes [offsets[i], offsets[i + 1]). The offsets ascend, and none is behind `size`.
  template <class Offset>
  void add_all(const char* bytes, const Offset* offsets, int64_t count, int64_t size) {
    int64_t row = 0;
    for (; row < count && static_cast<int64_t>(offsets[row]) + kWord <= size; ++row) {
      // Without a branch that depends on the length.
      const auto length = static_cast<uint64_t>(offsets[row + 1] - offsets[row]);
      uint64_t word;
      std::memcpy(&word, bytes + offsets[row], kWord);
      const uint64_t key = __builtin_bswap64(word) & kFirstBytes[length < kWord ? length : kWord];
      if (may_change(key, length)) take({bytes + offsets[row], static_cast<size_t>(length)});
    }
    for (; row < count; ++row) add({bytes + offsets[row], static_cast<size_t>(offsets[row + 1] - offsets[row])});
  }

  bool any() const { return any_; }
  std::string_view low() const { return low_; }
  std::string_view high() const { return high_; }

 private:
  using Order = unsigned __int128;

  /// By key and length: false when the text is certainly not lower or higher than those so far.
  bool may_change(uint64_t key, uint64_t length) const {
    const Order order = Order{key} << 64 | length;
    return (order < below_) | (order > above_);
  }

  void take(std::string_view text) {
    if (!any_ || text < low_) {
      low_ = text;
      // Of those with the same key it is the shorter ones that are lower, unless bytes behind the key count.
      below_ = Order{order_key(text)} << 64 | (text.size() <= kWord ? text.size() : UINT64_MAX);
    }
    if (!any_ || text > high_) {
      high_ = text;
      above_ = Order{order_key(text)} << 64 | (text.size() <= kWord ? text.size() : kWord);
    }
    any_ = true;
  }

  /// A text with the lower key orders before one with the higher.
  static uint64_t order_key(std::string_view text) {
    constexpr size_t kHalf = 4;
    const size_t size = text.size();
    if (size >= kWord) {
      uint64_t word;
      std::memcpy(&word, text.data(), kWord);
      return __builtin_bswap64(word);
    }
    if (size >= kHalf) {  // two halves, which may overlap
      uint32_t front, back;
      std::memcpy(&front, text.data(), kHalf);
      std::memcpy(&back, text.data() + size - kHalf, kHalf);
      const auto rest = static_cast<uint32_t>(uint64_t{__builtin_bswap32(back)} << 8 * (kWord - size));
      return uint64_t{__builtin_bswap32(front)} << 32 | rest;
    }
    uint64_t key = 0;
    for (size_t i = 0; i < size; ++i) key |= uint64_t{static_cast<unsigned char>(text[i])} << (56 - 8 * i);
    return key;
  }

  static constexpr int64_t kWord = 8;
  static constexpr uint64_t kFirstBytes[kWord + 1] = {0,
                                                      0xFF00000000000000,
                                                      0xFFFF000000000000,
                                                      0xFFFFFF0000000000,
                                                      0xFFFFFFFF00000000,
                                                      0xFFFFFFFFFF000000,
                                                      0xFFFFFFFFFFFF0000,
                                                      0xFFFFFFFFFFFFFF00,
                                                      UINT64_MAX};

  std::string_view low_, high_;
  Order below_ = ~Order{0}, above_ = 0;  // nothing so far: every text is below
  bool any_ = false;
};

}  // namespace strom::format::arrow
