// Decoded code, and the state it runs on: what the decoder produces and the handlers of ops_*.cpp execute.
//
// A function's frame is an array of 64-bit slots: its registers, then its constants, so that every operand is a slot
// number. A slot may hold rubbish above the width of its register; every handler reads by type.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda_emulation/ptx/allocations.hpp"

namespace strom::ptx {

struct Thread;
struct Instruction;
struct Function;

/// Executes one instruction on slots `r`. Returns the next one, or nullptr after it has stored what to do next in the
/// thread (state, pc, registers). Throws Error.
using Handler = const Instruction* (*)(const Instruction* i, std::uint64_t* r, Thread& t);

/// An argument or result copied between the local memories of caller and callee.
struct ParameterCopy {
  std::uint32_t caller_offset, callee_offset, bytes;
};

struct CallSite {
  const Function* callee = nullptr;  // nullptr: the address is in slot `a`
  std::vector<ParameterCopy> arguments, results;
};

struct JumpTable {
  std::vector<const Instruction*> targets;
};

/// Executes an operation of a warp for all of its lanes at once: `lanes[n]` is set where `live` has bit n.
using WarpHandler = void (*)(const Instruction* i, Thread* const* lanes, std::uint32_t live);

struct Instruction {
  Handler run = nullptr;
  std::uint32_t dst = 0, a = 0, b = 0, c = 0, d = 0, e = 0;  // slots
  std::int64_t immediate = 0;                                // offset of an address, selector, table
  union {
    const Instruction* target = nullptr;
    const CallSite* call;
    const JumpTable* table;
    WarpHandler warp;
  };
};

struct Parameter {
  std::uint32_t offset, bytes;  // in the launch's parameter block for a kernel, else in the frame's local memory
};

struct SourceLine {
  int line;
  std::string text;
};

struct Function {
  std::string name;
  bool is_kernel = false;
  std::vector<Instruction> code;
  std::vector<SourceLine> sources;  // one per instruction
  std::uint32_t registers = 0;      // the first slots; those of `constants` follow
  std::vector<std::uint64_t> constants;
  std::uint32_t local_bytes = 0;  // parameters of a device function, local variables, arguments of its calls
  std::uint32_t local_align = 16;
  std::vector<Parameter> parameters, returns;
  std::uint32_t parameter_bytes = 0;      // kernel only
  std::uint32_t shared_base = 0;          // offset of the variables in shared memory that the body declares
  std::uint32_t static_shared_bytes = 0;  // kernel only: all that it may use
  std::uint32_t max_threads = 0;          // 0: not declared
  std::deque<CallSite> calls;
  std::deque<JumpTable> tables;
};

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

struct AlignedDelete {
  std::size_t align = 16;
  void operator()(std::byte* bytes) const { ::operator delete(bytes, std::align_val_t(align)); }
};

/// One activation of a function by one thread; used again by the next call at the same depth.
struct Frame {
  const Function* function = nullptr;
  std::vector<std::uint64_t> slots;
  std::unique_ptr<std::byte, AlignedDelete> local;
  std::uint32_t local_capacity = 0;
  const Instruction* resume = nullptr;  // in the caller
  const CallSite* site = nullptr;
};

struct Block;

struct Thread {
  enum class State : std::uint8_t { kRunning, kAtBarrier, kAtWarpOperation, kDone };
  State state = State::kRunning;
  bool carry = false;   // CC.CF
  bool yields = false;  // other threads go first
  std::uint32_t index = 0;
  Dim3 id;
  const Instruction* pc = nullptr;  // the next one, or the one it waits at
  std::uint64_t* registers = nullptr;
  std::byte* local = nullptr;
  std::uint32_t mask = 0;     // lanes it waits with
  std::uint32_t barrier = 0;  // it waits at
  std::uint32_t depth = 0;
  std::vector<std::unique_ptr<Frame>> frames;
  Block* block = nullptr;

  std::uint32_t lane() const { return index & 31; }
  Frame& frame() { return *frames[depth]; }
  const Frame& frame() const { return *frames[depth]; }
  bool owns_local(std::uint64_t address, std::uint64_t bytes) const;
};

/// What all blocks of a launch share.
struct LaunchState {
  const Function* kernel = nullptr;
  Dim3 grid, block;
  const std::byte* parameters = nullptr;
  const AllocationMap* allocations = nullptr;               // nullptr: global memory is not checked
  const std::vector<const Function*>* functions = nullptr;  // what may be called through a pointer
  std::uint32_t shared_first = 0, shared_end = 0;           // offsets that are valid
  std::uint32_t dynamic_shared_bytes = 0;
};

/// What a barrier computes from the threads' predicates; Instruction::immediate of bar.
enum class Reduction : std::int64_t { kNone, kCount, kAnd, kOr };

struct Barrier {
  std::uint32_t expected = 0;       // threads; 0: all of the block
  std::uint32_t arrived_early = 0;  // by bar.arrive
};

struct Block {
  const LaunchState* launch = nullptr;
  Dim3 id;
  std::byte* shared = nullptr;  // of offset 0; a window of kSharedWindowBytes that generic addresses point into
  std::vector<Thread> threads;
  std::array<Barrier, 16> barriers;
  AllocationCache cache;
  std::uint64_t instructions = 0;
};

inline constexpr std::uint64_t kSharedWindowBytes = 1u << 24;

/// Throws an Error that names kernel, block, thread and instruction.
[[noreturn]] void fail(const Instruction* i, const Thread& t, const std::string& message);

/// Makes `function` the thread's frame at `depth` and its innermost; its pc is the function's first instruction.
void push_frame(Thread& t, const Function& function, std::uint32_t depth);

// ---- values in slots

template <class T>
T get(std::uint64_t slot) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(slot));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(slot);
  } else if constexpr (std::is_same_v<T, bool>) {
    return (slot & 1) != 0;
  } else {
    return static_cast<T>(slot);
  }
}

template <class T>
std::uint64_t put(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

// ---- handlers made from a function object

template <class T, class F>
const Instruction* unary(const Instruction* i, std::uint64_t* r, Thread&) {
  r[i->dst] = put(F{}(get<T>(r[i->a])));
  return i + 1;
}

template <class T, class F>
const Instruction* binary(const Instruction* i, std::uint64_t* r, Thread&) {
  r[i->dst] = put(F{}(get<T>(r[i->a]), get<T>(r[i->b])));
  return i + 1;
}

template <class T, class F>
const Instruction* ternary(const Instruction* i, std::uint64_t* r, Thread&) {
  r[i->dst] = put(F{}(get<T>(r[i->a]), get<T>(r[i->b]), get<T>(r[i->c])));
  return i + 1;
}

}  // namespace strom::ptx
