#include "cuda_emulation/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define STROM_SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STROM_SIMT_ASAN 1
#endif
#endif
#if defined(STROM_SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(STROM_SIMT_UCONTEXT)
// void strom_simt_switch(void** save, void* to): System V callee-saved registers go to the old stack.
asm(R"(.text
.globl strom_simt_switch
.hidden strom_simt_switch
.type strom_simt_switch,@function
strom_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size strom_simt_switch,.-strom_simt_switch
)");
extern "C" void strom_simt_switch(void** save, void* to);
#endif

namespace strom::simt {

namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
constexpr std::size_t kGuardBytes = 4096;

thread_local Fiber* entering = nullptr;

void start_switch(void** fake_stack, const void* stack, std::size_t size) {
#if defined(STROM_SIMT_ASAN)
  __sanitizer_start_switch_fiber(fake_stack, stack, size);
#else
  (void)fake_stack, (void)stack, (void)size;
#endif
}

void finish_switch(void* fake_stack, const void** old_stack, std::size_t* old_size) {
#if defined(STROM_SIMT_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack, old_stack, old_size);
#else
  (void)fake_stack, (void)old_stack, (void)old_size;
#endif
}

// Frames of a dropped fiber leave their red zones behind.
void unpoison([[maybe_unused]] const void* start, [[maybe_unused]] std::size_t size) {
#if defined(STROM_SIMT_ASAN)
  __asan_unpoison_memory_region(start, size);
#endif
}

}  // namespace

Fiber::~Fiber() {
  if (stack_ == nullptr) return;
  unpoison(stack_, kStackBytes);
  munmap(stack_ - kGuardBytes, kStackBytes + kGuardBytes);
}

void Fiber::prepare(Entry entry, void* argument) {
  entry_ = entry;
  argument_ = argument;
  fake_stack_ = nullptr;
  if (stack_ == nullptr) {
    void* memory = mmap(nullptr, kStackBytes + kGuardBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    // A stack overflow faults instead of writing into the neighbour.
    mprotect(memory, kGuardBytes, PROT_NONE);
    stack_ = static_cast<std::byte*>(memory) + kGuardBytes;
  }
  unpoison(stack_, kStackBytes);
#if defined(STROM_SIMT_UCONTEXT)
  getcontext(&inner_);
  inner_.uc_stack.ss_sp = stack_;
  inner_.uc_stack.ss_size = kStackBytes;
  inner_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&inner_, reinterpret_cast<void (*)()>(&Fiber::run_split), 2, static_cast<unsigned>(self),
              static_cast<unsigned>(static_cast<std::uint64_t>(self) >> 32));
#else
  auto** top = reinterpret_cast<void**>(stack_ + kStackBytes - 64);
  *--top = nullptr;  // run() never returns; this keeps its frame aligned
  *--top = reinterpret_cast<void*>(+[] { run(entering); });
  for (int i = 0; i < 6; i++) *--top = nullptr;
  inner_ = top;
#endif
}

void Fiber::run_split(unsigned low, unsigned high) {
  run(reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(static_cast<std::uint64_t>(high) << 32 | low)));
}

void Fiber::run(Fiber* self) {
  self->arrived();
  self->entry_(self->argument_);
}

void Fiber::arrived() { finish_switch(fake_stack_, &outer_stack_, &outer_size_); }

void Fiber::resume() {
  void* fake_stack = nullptr;
  entering = this;
  start_switch(&fake_stack, stack_, kStackBytes);
#if defined(STROM_SIMT_UCONTEXT)
  swapcontext(&outer_, &inner_);
#else
  strom_simt_switch(&outer_, inner_);
#endif
  finish_switch(fake_stack, nullptr, nullptr);
}

void Fiber::switch_out(bool for_ever) {
  start_switch(for_ever ? nullptr : &fake_stack_, outer_stack_, outer_size_);
#if defined(STROM_SIMT_UCONTEXT)
  swapcontext(&inner_, &outer_);
#else
  strom_simt_switch(&inner_, outer_);
#endif
  arrived();
}

}  // namespace strom::simt
