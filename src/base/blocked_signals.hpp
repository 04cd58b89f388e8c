// Signals that PostgreSQL handles must reach its main thread only. A new thread inherits the blocked signals of the
// thread that starts it. Used by all code that starts threads, or calls a library that might.
#pragma once

#include <signal.h>

namespace strom::base {

/// While it lives, the calling thread takes no signals but those of its own faults.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, number);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace strom::base
