// The thread that writes events while others are received. It has at most one buffer at a time.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "fluent2arrow/event_files.hpp"

namespace strom::fluent2arrow {

class Writer {
 public:
  explicit Writer(EventFiles& files) : files_(files) {}
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Errors: no thread or event can be made.
  Status start();
  /// Only when nothing is being written. The buffer belongs to the thread until result() has something.
  void write(EventBuffer& events);
  bool is_busy() const { return is_busy_; }
  /// Becomes readable when there is a result.
  int descriptor() const { return done_.get(); }
  /// What EventFiles::write() has returned, once; nothing while it is being written. `waits`: until it is there.
  std::optional<Status> result(bool waits);

 private:
  void run();

  EventFiles& files_;
  base::Descriptor done_;
  bool is_busy_ = false;  // of the thread that calls
  std::mutex mutex_;
  std::condition_variable changed_;
  EventBuffer* events_ = nullptr;
  std::optional<Status> result_;
  bool is_end_ = false;
  std::thread thread_;
};

}  // namespace strom::fluent2arrow
