#include "store/message/giving_way.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>

namespace strom::store::message {

namespace {

using Clock = std::chrono::steady_clock;

// Longer than one turn of all clients and the server together.
constexpr auto kLong = std::chrono::milliseconds(1);
// If a thread loses the processor for that long this often, some other thread does not yield.
constexpr int kOften = 8;
constexpr int kTimes = 32;  // so the remaining attempts cost only some percent of the time

std::atomic<Clock::rep> busy_until = 0;  // shared by all threads, because they use the same processors

}  // namespace

bool may_give_way() {
  const Clock::rep until = busy_until.load(std::memory_order_relaxed);
  return until == 0 || Clock::now().time_since_epoch().count() >= until;
}

void give_way() {
  const auto before = Clock::now();
  sched_yield();
  const auto after = Clock::now();
  if (after - before <= kLong) return;
  thread_local Clock::time_point last_long;
  const bool is_often = before - last_long < kOften * (after - before);
  last_long = after;
  if (is_often)
    busy_until.store((after + kTimes * (after - before)).time_since_epoch().count(), std::memory_order_relaxed);
}

}  // namespace strom::store::message
