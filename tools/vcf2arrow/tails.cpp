// See tails.hpp.
#include "vcf2arrow/tails.hpp"

#include <algorithm>
#include <utility>

namespace strom::vcf2arrow {

bool Tails::take(size_t run, std::string* tail) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failed_ || tails_[run].has_value(); });
  if (failed_) return false;
  *tail = std::move(*tails_[run]);
  return true;
}

void Tails::put(size_t run, std::string tail) {
  {
    std::lock_guard lock(mutex_);
    tails_[run] = std::move(tail);
  }
  changed_.notify_all();
}

void Tails::give_up() {
  {
    std::lock_guard lock(mutex_);
    failed_ = true;
  }
  changed_.notify_all();
}

bool Tails::has_failed() const {
  std::lock_guard lock(mutex_);
  return failed_;
}

void join(std::string_view before, std::string_view text, Piece& piece) {
  const auto offset = static_cast<size_t>(text.data() - piece.buffer.data());
  if (before.size() <= offset) {
    std::copy(before.begin(), before.end(), piece.buffer.data() + offset - before.size());
    piece.text = {piece.buffer.data() + offset - before.size(), before.size() + text.size()};
  } else {
    piece.buffer.insert(piece.buffer.begin() + static_cast<std::ptrdiff_t>(offset), before.begin(), before.end());
    piece.text = {piece.buffer.data() + offset, before.size() + text.size()};
  }
}

}  // namespace strom::vcf2arrow
