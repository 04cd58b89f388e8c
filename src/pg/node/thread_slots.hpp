// Limits the engine threads of queries. Each thread except the backend's own holds a slot: a lock on one byte of a file
// in the data directory, which all backends share. The kernel drops the locks when a process ends, so a crash leaves
// none behind. This works without shared_preload_libraries. Never waits.
#pragma once

namespace strom::pg::node {

/// Threads that a query asks for, including the backend's own: pg_strom.cpu_threads, or the online cores up to 16.
int wanted_threads();

/// Slots held until destruction. Does not call PostgreSQL and does not throw.
class ThreadSlots {
 public:
  /// Takes up to `wanted` slots out of pg_strom.max_engine_threads; none when the file cannot be used.
  explicit ThreadSlots(int wanted);
  ~ThreadSlots();
  ThreadSlots(const ThreadSlots&) = delete;
  ThreadSlots& operator=(const ThreadSlots&) = delete;

  int count() const { return count_; }

 private:
  int file_ = -1;
  int count_ = 0;
};

}  // namespace strom::pg::node
