// Finds the ends of fields and lines, with one look at each block of 64 bytes. Private to src/format/vcf.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "format/vcf/byte_marks.hpp"

namespace strom::format::vcf {

/// Positions are those of the text. The scanner moves forward only.
class LineScanner {
 public:
  explicit LineScanner(std::string_view text) : text_(text) { load(0); }

  /// The next tab or line end; the text's size where there is none.
  size_t next_end() {
    while (ends_ == 0) {
      if (base_ + kBlock >= text_.size()) return text_.size();
      load(base_ + kBlock);
    }
    const size_t found = base_ + static_cast<size_t>(std::countr_zero(ends_));
    ends_ &= ends_ - 1;
    return found;
  }
  /// Counts semicolons from `from` on, which is behind the last end that was found.
  void begin_items(size_t from) {
    if (from >= base_ + kBlock && from < text_.size()) load(from / kBlock * kBlock);
    semicolons_ &= from - base_ < kBlock ? ~uint64_t{0} << (from - base_) : 0;
  }
  /// The next semicolon, tab or line end.
  size_t next_item_end() {
    while ((ends_ | semicolons_) == 0) {
      if (base_ + kBlock >= text_.size()) return text_.size();
      load(base_ + kBlock);
    }
    const uint64_t all = ends_ | semicolons_, others = all & (all - 1);
    ends_ &= others;
    semicolons_ &= others;
    return base_ + static_cast<size_t>(std::countr_zero(all));
  }
  /// Continues at a position behind everything that was found.
  void jump(size_t to) {
    if (to >= text_.size()) to = text_.size();
    if (to - base_ >= kBlock) load(to / kBlock * kBlock);
    ends_ &= ~uint64_t{0} << (to - base_);
  }
  /// True when a block that was looked at and ends behind this position has bytes that are not ASCII.
  bool has_high_bytes(size_t from) const { return high_end_ > from; }

 private:
  static constexpr size_t kBlock = kMarkBytes;

  void load(size_t base) {
    base_ = base;
    const char* bytes = text_.data() + base;
    char tail[kBlock];
    if (text_.size() - base < kBlock) {
      std::memset(tail, 0, sizeof tail);
      if (text_.size() > base) std::memcpy(tail, bytes, text_.size() - base);
      bytes = tail;
    }
    ends_ = marks_of(bytes, '\t') | marks_of(bytes, '\n');
    semicolons_ = marks_of(bytes, ';');
    if (vcf::has_high_bytes(bytes)) high_end_ = base + kBlock;
  }

  std::string_view text_;
  size_t base_ = 0, high_end_ = 0;
  uint64_t ends_ = 0, semicolons_ = 0;
};

}  // namespace strom::format::vcf
