// Things that sessions of the GPU service have between their tasks, each with a number. Used by the runner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace strom::service {

/// Any thread. The last holder of an item releases it, without the lock.
template <class T>
class SessionItems {
 public:
  /// The number under which the session has it from now on; 0 when it has `most` already.
  uint64_t add(uint32_t session, std::shared_ptr<T> item, size_t most = SIZE_MAX) {
    const std::lock_guard lock(mutex_);
    Items& items = sessions_[session];
    if (items.size() >= most) return 0;
    items[++last_] = std::move(item);
    return last_;
  }
  /// nullptr when the session has none of this number.
  std::shared_ptr<T> find(uint32_t session, uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return nullptr;
    const auto item = found->second.find(number);
    return item == found->second.end() ? nullptr : item->second;
  }
  std::shared_ptr<T> remove(uint32_t session, uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return nullptr;
    auto node = found->second.extract(number);
    return node.empty() ? nullptr : std::move(node.mapped());
  }
  /// All of the session's, for a task that may use any of them though the client releases it meanwhile.
  std::vector<std::shared_ptr<T>> all(uint32_t session) {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> items;
    if (const auto found = sessions_.find(session); found != sessions_.end())
      for (const auto& [number, item] : found->second) items.push_back(item);
    return items;
  }
  void end_session(uint32_t session) {
    Items items;
    const std::lock_guard lock(mutex_);
    if (auto node = sessions_.extract(session); !node.empty()) items = std::move(node.mapped());
  }

 protected:
  using Items = std::map<uint64_t, std::shared_ptr<T>>;
  std::mutex mutex_;
  std::map<uint32_t, Items> sessions_;

 private:
  uint64_t last_ = 0;
};

}  // namespace strom::service
