// From an address operand to a checked pointer; shared by loads, stores and atomics.
#pragma once

#include "cuda_emulation/ptx/decoder.hpp"

namespace strom::ptx {

/// How an access finds its memory: where the address comes from, and the state space it must lie in.
enum class Access : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kKernelParameter, kFrame };

/// Throws unless the bytes may be accessed as global memory (or, for a generic address, as any).
void check_address(const Instruction* i, const Thread& t, std::uint64_t address, std::uint64_t bytes, bool is_generic);
[[noreturn]] void fail_access(const Instruction* i, const Thread& t, const char* what, std::uint64_t address);

inline std::byte* shared_pointer(const Instruction* i, const Thread& t, std::uint64_t offset, std::uint64_t bytes) {
  const LaunchState& launch = *t.block->launch;
  const std::uint64_t size = launch.shared_end - launch.shared_first;
  if (size < bytes || offset - launch.shared_first > size - bytes) {
    fail_access(i, t, "shared memory out of bounds", offset);
  }
  return t.block->shared + offset;
}

/// For `kBytes`, which are also the alignment.
template <Access kAccess, std::uint64_t kBytes>
std::byte* pointer(const Instruction* i, const std::uint64_t* r, Thread& t) {
  const auto offset = static_cast<std::uint64_t>(i->immediate);
  if constexpr (kAccess == Access::kKernelParameter) {
    return const_cast<std::byte*>(t.block->launch->parameters) + offset;
  } else if constexpr (kAccess == Access::kFrame) {
    return t.local + offset;
  } else {
    const std::uint64_t address = r[i->a] + offset;
    if (address % kBytes != 0) fail_access(i, t, "misaligned address", address);
    if constexpr (kAccess == Access::kShared) return shared_pointer(i, t, address & 0xffffffffu, kBytes);
    auto* bytes = reinterpret_cast<std::byte*>(address);
    if constexpr (kAccess == Access::kLocal) {
      if (!t.owns_local(address, kBytes)) fail_access(i, t, "local memory out of bounds", address);
      return bytes;
    }
    if constexpr (kAccess == Access::kGeneric) {
      const std::uint64_t shared_offset = address - reinterpret_cast<std::uint64_t>(t.block->shared);
      if (shared_offset < kSharedWindowBytes) return shared_pointer(i, t, shared_offset, kBytes);
    }
    if (!t.block->cache.of(address).contains(address, kBytes)) {
      check_address(i, t, address, kBytes, kAccess == Access::kGeneric);
    }
    return bytes;
  }
}

/// The modifiers that name a state space, .generic being none.
Space take_space(Decoder& d);
/// Decodes the address operand; fills `a` and `immediate`.
Access decode_access(Decoder& d, std::size_t operand, Instruction& i, Space space, std::uint32_t bytes);
/// Cache and eviction hints: they change speed, not meaning.
void skip_cache_hints(Decoder& d);
/// .sys .gpu .cluster .cta: all one here, since host atomics order everything.
void skip_scope(Decoder& d);

/// make.operator()<Access>() for the access at hand.
template <class F>
Handler select_access(Access access, F make) {
  switch (access) {
    case Access::kGeneric: return make.template operator()<Access::kGeneric>();
    case Access::kGlobal: return make.template operator()<Access::kGlobal>();
    case Access::kShared: return make.template operator()<Access::kShared>();
    case Access::kLocal: return make.template operator()<Access::kLocal>();
    case Access::kKernelParameter: return make.template operator()<Access::kKernelParameter>();
    default: return make.template operator()<Access::kFrame>();
  }
}

}  // namespace strom::ptx
