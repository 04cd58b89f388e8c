// The lowest and the highest of many texts, by bytes. Most texts are neither, and a few of their bytes tell so: see
// text_window.hpp. Used by code that computes statistics.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "format/arrow/statistics/text_window.hpp"

namespace strom::format::arrow {

/// Texts are not copied: they must stay in place as long as this is used.
class TextExtremes {
 public:
  void add(std::string_view text) {
    if (!any_ || text.size() < window_.skip + TextWindow::kWord)
      take(text);
    else
      place(text);
  }

  /// Text i is bytes [offsets[i], offsets[i + 1]). The offsets ascend, and none is beyond `size`.
  template <class Offset>
  void add_all(const char* bytes, const Offset* offsets, int64_t count, int64_t size) {
    int64_t row = 0;
    if (!any_ && count > 0) take(text_at(bytes, offsets, row++));
    while (row < count) {
      const int64_t last = size - static_cast<int64_t>(window_.skip + TextWindow::kWord);  // readable place
      int64_t end = count;
      if (offsets[count - 1] > last) end = std::upper_bound(offsets + row, offsets + count, last) - offsets;
      if (end == row) break;
      row = first_outside(window_, bytes, offsets, row, end);
      // Next to a text outside, there are often more of them: all texts, if they ascend.
      while (row < end && place(text_at(bytes, offsets, row)) == Placed::kByKey) ++row;
      row += row < end ? 1 : 0;
    }
    for (; row < count; ++row) add(text_at(bytes, offsets, row));
  }

  bool any() const { return any_; }
  std::string_view low() const { return low_; }
  std::string_view high() const { return high_; }

 private:
  template <class Offset>
  static std::string_view text_at(const char* bytes, const Offset* offsets, int64_t row) {
    return {bytes + offsets[row], static_cast<size_t>(offsets[row + 1] - offsets[row])};
  }

  enum class Placed : uint8_t { kInside, kByKey, kByAll };

  /// Places a text whose window can be read.
  Placed place(std::string_view text) {
    uint64_t key;
    const TextWindow::Side side = window_.side_of(text.data(), text.size(), &key);
    if (side == TextWindow::Side::kInside) return Placed::kInside;
    const bool one_text = window_.low_key == window_.high_key;  // perhaps: then the window is that of a single text
    if (side == TextWindow::Side::kUnknown || one_text) {
      take(text);
      return Placed::kByAll;
    }
    // The common prefix of both bounds stays. Beyond it, the text differs from one bound as the other bound did.
    const uint64_t size = text.size(), end = window_.skip + TextWindow::kWord;
    if (side == TextWindow::Side::kBelow) {
      low_ = text;
      window_.low_key = key;
      window_.low_size = size <= end ? size : UINT64_MAX;
    } else {
      high_ = text;
      window_.high_key = key;
      window_.high_size = std::min(size, end);
    }
    return Placed::kByKey;
  }

  void take(std::string_view text) {
    const bool lower = !any_ || text < low_, higher = !any_ || text > high_;
    if (lower) low_ = text;
    if (higher) high_ = text;
    any_ = true;
    if (lower || higher) move_window();
  }

  void move_window() {
    constexpr size_t kWord = TextWindow::kWord;
    const size_t shorter = std::min(low_.size(), high_.size());
    size_t skip = 0;
    while (skip + kWord <= shorter && TextWindow::load(low_.data() + skip) == TextWindow::load(high_.data() + skip))
      skip += kWord;
    while (skip < shorter && low_[skip] == high_[skip]) ++skip;
    if (skip == low_.size() && skip == high_.size()) skip -= std::min(skip, kWord);  // one text so far: its end
    window_.skip = skip;
    window_.front = first_word(low_);
    window_.front_mask = skip < kWord ? (uint64_t{1} << 8 * skip) - 1 : UINT64_MAX;
    window_.back = skip < kWord ? 0 : TextWindow::load(low_.data() + skip - kWord);
    window_.middle = skip > 2 * kWord ? low_.substr(kWord, skip - 2 * kWord) : std::string_view();
    // Of texts with the same key, shorter ones are lower, unless bytes behind the key count.
    const size_t end = skip + kWord;
    window_.low_key = key_of(low_.substr(skip));
    window_.low_size = low_.size() <= end ? low_.size() : UINT64_MAX;
    window_.high_key = key_of(high_.substr(skip));
    window_.high_size = std::min(high_.size(), end);
  }

  /// The first bytes in memory order; zeros after the end.
  static uint64_t first_word(std::string_view text) {
    uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min<size_t>(text.size(), TextWindow::kWord));
    return word;
  }
  static uint64_t key_of(std::string_view text) { return TextWindow::key_of(first_word(text), text.size()); }

  std::string_view low_, high_;
  TextWindow window_;  // of both bounds, once there are any
  bool any_ = false;
};

}  // namespace strom::format::arrow
