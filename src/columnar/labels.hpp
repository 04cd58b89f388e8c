// The labels of a dictionary by their indexes, for writers of dictionaries. Used by the decoders and the tools.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace strom::columnar {

/// Labels that are known beforehand, such as those of an enum, or labels that are added while rows come. Thread-safe.
class Labels {
 public:
  explicit Labels(std::vector<std::string> labels, bool grows = false);

  bool grows() const { return grows_; }
  int64_t size() const;
  /// -1: no such label.
  int32_t find(std::string_view label) const;
  /// The label's index; a new label is added.
  int32_t add(std::string_view label);
  /// The labels from index `first` on.
  std::vector<std::string> from(int64_t first) const;
  std::vector<std::string> all() const { return from(0); }

 private:
  const bool grows_;
  mutable std::mutex mutex_;
  std::deque<std::string> labels_;  // a deque: the index points to strings, which must not move
  std::unordered_map<std::string_view, int32_t> index_;
};

/// Looks up labels for one thread: labels that it has seen before need no lock.
class LabelLookup {
 public:
  LabelLookup() = default;
  explicit LabelLookup(std::shared_ptr<Labels> labels) : labels_(std::move(labels)) {}

  const std::shared_ptr<Labels>& labels() const { return labels_; }
  /// -1: there is no such label, and no labels can be added.
  int32_t find(std::string_view label);

 private:
  std::shared_ptr<Labels> labels_;
  std::deque<std::string> seen_;
  std::unordered_map<std::string_view, int32_t> index_;
};

}  // namespace strom::columnar
