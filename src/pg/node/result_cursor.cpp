#include "pg/node/result_cursor.hpp"

namespace strom::pg::node {

void ResultCursor::take(Batch batch, bool may_cache, int64_t limit) {
  batch_ = std::move(batch);
  row_ = -1;
  if (!is_caching_) return;
  cached_bytes_ += batch_->memory_bytes;
  is_caching_ = may_cache && cached_bytes_ <= limit;
  if (is_caching_)
    cached_.push_back(batch_);
  else
    cached_.clear();
  handed_out_ = cached_.size();
}

bool ResultCursor::next_cached() {
  if (handed_out_ == cached_.size()) return false;
  batch_ = cached_[handed_out_++];
  row_ = -1;
  return true;
}

void ResultCursor::clear() {
  drop_batch();
  cached_.clear();
  cached_bytes_ = 0;
  handed_out_ = 0;
  is_caching_ = false;
}

}  // namespace strom::pg::node
