// See labels.hpp.
#include "columnar/labels.hpp"

namespace strom::columnar {

Labels::Labels(std::vector<std::string> labels, bool grows) : grows_(grows) {
  for (std::string& label : labels) {
    labels_.push_back(std::move(label));
    index_.emplace(labels_.back(), static_cast<int32_t>(labels_.size() - 1));
  }
}

int64_t Labels::size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(labels_.size());
}

int32_t Labels::find(std::string_view label) const {
  std::lock_guard lock(mutex_);
  const auto found = index_.find(label);
  return found == index_.end() ? -1 : found->second;
}

int32_t Labels::add(std::string_view label) {
  std::lock_guard lock(mutex_);
  const auto found = index_.find(label);
  if (found != index_.end()) return found->second;
  labels_.emplace_back(label);
  const auto index = static_cast<int32_t>(labels_.size() - 1);
  index_.emplace(labels_.back(), index);
  return index;
}

std::vector<std::string> Labels::from(int64_t first) const {
  std::lock_guard lock(mutex_);
  return {labels_.begin() + first, labels_.end()};
}

int32_t LabelLookup::find(std::string_view label) {
  const auto found = index_.find(label);
  if (found != index_.end()) return found->second;
  const int32_t index = labels_->grows() ? labels_->add(label) : labels_->find(label);
  if (index < 0) return index;
  seen_.emplace_back(label);
  index_.emplace(seen_.back(), index);
  return index;
}

}  // namespace strom::columnar
