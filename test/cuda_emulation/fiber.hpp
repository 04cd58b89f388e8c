// Stackful fibers for simt.cpp: one per CUDA thread. x86-64 switches in ten instructions; elsewhere (or with
// STROM_SIMT_UCONTEXT) ucontext does it. It reports every switch to AddressSanitizer.
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#define STROM_SIMT_UCONTEXT 1
#endif
#if defined(STROM_SIMT_UCONTEXT)
#include <ucontext.h>
#endif

namespace strom::simt {

/// A stack and a place to go on. A fiber that is left for ever is simply dropped: its stack is not unwound.
class Fiber {
 public:
  using Entry = void (*)(void* argument);

  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// The next resume() calls entry(argument), which must not return but leave().
  void prepare(Entry entry, void* argument);
  /// Called outside of any fiber: runs it until it calls suspend() or leave().
  void resume();
  /// Called inside: back to resume(), which may be called again.
  void suspend() { switch_out(false); }
  /// Called inside as the last thing: it is not resumed before the next prepare().
  void leave() { switch_out(true); }

 private:
  static void run(Fiber* self);
  static void run_split(unsigned low, unsigned high);
  void switch_out(bool for_ever);
  void arrived();

  std::byte* stack_ = nullptr;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  // Of the side that resumes, and what AddressSanitizer wants to know of both.
  const void* outer_stack_ = nullptr;
  std::size_t outer_size_ = 0;
  void* fake_stack_ = nullptr;
#if defined(STROM_SIMT_UCONTEXT)
  ucontext_t inner_{}, outer_{};
#else
  void* inner_ = nullptr;
  void* outer_ = nullptr;
#endif
};

}  // namespace strom::simt
