// Limits the engine threads of queries. Each thread except the backend's own holds a slot: a lock on one byte of a file
// in the data directory, which all backends share. The kernel drops the locks when a process ends, so a crash leaves
// none behind. This works without shared_preload_libraries. Never waits.
#pragma once

namespace strom::pg::node {

/// Threads that a query asks for, including the backend's own: pg_strom.cpu_threads, or the online cores up to 16.
int wanted_threads();

/// Most threads of a query that a busy machine would make wait long: as many as wanted_threads() if
/// pg_strom.cpu_threads says how many.
int most_threads();

/// Slots held until destruction. Does not call PostgreSQL and does not throw.
class ThreadSlots {
 public:
  /// Takes up to `wanted` slots out of pg_strom.max_engine_threads; none when the file cannot be used.
  explicit ThreadSlots(int wanted);
  /// Takes more slots, up to most_threads() - 1 together, if other programs want the processors. The kernel deals out
  /// time by threads, so a query gets a larger share. Queries of other sessions are not competed with.
  void take_more();
  ~ThreadSlots();
  ThreadSlots(const ThreadSlots&) = delete;
  ThreadSlots& operator=(const ThreadSlots&) = delete;

  int count() const { return count_; }

 private:
  void take(int wanted);

  int file_ = -1;
  int count_ = 0;
};

}  // namespace strom::pg::node
