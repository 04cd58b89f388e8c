// Workers that each have a session on a server: the first failure ends the others and is the one that is told.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include "base/status.hpp"

namespace strom::tool {

class Failure {
 public:
  /// `stop` is called at the first failure, to end what the other workers wait for.
  explicit Failure(std::function<void()> stop) : stop_(std::move(stop)) {}

  bool is_set() const { return set_; }
  void set(Status status);
  Status status() const;

 private:
  std::function<void()> stop_;
  mutable std::mutex mutex_;
  std::atomic<bool> set_{false};
  Status status_;
};

/// Calls work(index, failure) in a thread for each 0 <= index < count; work looks at the failure now and then.
Status run_sessions(size_t count, std::function<void()> stop,
                    const std::function<Status(size_t index, const Failure& failure)>& work);

}  // namespace strom::tool
