// The lowest and the highest of many texts, by bytes. Most are neither, which the first eight bytes tell. Used by those
// that compute statistics.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace strom::format::arrow {

/// Texts are not copied: they stay where they are as long as this is used.
class TextExtremes {
 public:
  void add(std::string_view text) {
    const uint64_t key = order_key(text);
    if (!any_) {
      low_ = high_ = text;
      low_key_ = high_key_ = key;
      any_ = true;
      return;
    }
    if (key < low_key_ || (key == low_key_ && !is_same(text, low_) && text < low_)) {
      low_ = text;
      low_key_ = key;
    }
    if (key > high_key_ || (key == high_key_ && !is_same(text, high_) && text > high_)) {
      high_ = text;
      high_key_ = key;
    }
  }

  bool any() const { return any_; }
  std::string_view low() const { return low_; }
  std::string_view high() const { return high_; }

 private:
  /// Of two with the same key: few different texts, and short ones, are the rule.
  static bool is_same(std::string_view a, std::string_view b) { return a.size() == b.size() && a.size() <= kWord; }

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

  static constexpr size_t kWord = 8;

  std::string_view low_, high_;
  uint64_t low_key_ = 0, high_key_ = 0;
  bool any_ = false;
};

}  // namespace strom::format::arrow
