// Threads that write one after the other, in the order of their pieces of work.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace strom::tool {

class Turns {
 public:
  /// False when another has failed.
  bool wait(int64_t piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || next_ == piece; });
    return !failed_;
  }
  void done(bool ok) {
    {
      std::lock_guard lock(mutex_);
      ++next_;
      failed_ = failed_ || !ok;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t next_ = 0;
  bool failed_ = false;
};

}  // namespace strom::tool
