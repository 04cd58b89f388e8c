// Runs of blocks that threads decompress, each by itself: what a run has behind its last whole line or record is the
// beginning of the next run's. Used by block_text and region_records.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vcf2arrow/variant_text.hpp"

namespace strom::vcf2arrow {

/// Thread-safe, but for resize().
class Tails {
 public:
  void resize(size_t runs) { tails_.resize(runs); }
  /// Waits for the thread that has the run, which has to be at work. False when a thread has given up.
  bool take(size_t run, std::string* tail);
  void put(size_t run, std::string tail);
  void give_up();
  bool has_failed() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<std::string>> tails_;
  bool failed_ = false;
};

/// The piece becomes what was left over of the run before, and this run's text, which lies in its buffer up to the end.
void join(std::string_view before, std::string_view text, Piece& piece);

}  // namespace strom::vcf2arrow
