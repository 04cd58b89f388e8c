// Handlers that compute under another rounding than to nearest: .rz, .rm and .rp of ops_float.cpp and ops_convert.cpp.
// Operands and results pass through volatile variables, which keeps the operation between the two changes of mode.
#pragma once

#include <cfenv>

#include "cuda_emulation/ptx/instruction.hpp"

namespace strom::ptx {

inline constexpr int kRoundingModes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

/// In the order of the modifiers' list {"rn", "rz", "rm", "rp"}.
class ScopedRounding {
 public:
  explicit ScopedRounding(int mode) { std::fesetround(kRoundingModes[mode]); }
  ~ScopedRounding() { std::fesetround(FE_TONEAREST); }
  ScopedRounding(const ScopedRounding&) = delete;
  ScopedRounding& operator=(const ScopedRounding&) = delete;
};

template <class T, class F>
struct UnaryRounded {
  template <int kMode>
  static const Instruction* handler(const Instruction* i, std::uint64_t* r, Thread&) {
    const ScopedRounding rounding(kMode);
    volatile T a = get<T>(r[i->a]);
    volatile auto result = F{}(T{a});
    r[i->dst] = put<std::remove_volatile_t<decltype(result)>>(result);
    return i + 1;
  }
};

template <class T, class F>
struct BinaryRounded {
  template <int kMode>
  static const Instruction* handler(const Instruction* i, std::uint64_t* r, Thread&) {
    const ScopedRounding rounding(kMode);
    volatile T a = get<T>(r[i->a]), b = get<T>(r[i->b]);
    volatile T result = F{}(T{a}, T{b});
    r[i->dst] = put<T>(result);
    return i + 1;
  }
};

template <class T, class F>
struct TernaryRounded {
  template <int kMode>
  static const Instruction* handler(const Instruction* i, std::uint64_t* r, Thread&) {
    const ScopedRounding rounding(kMode);
    volatile T a = get<T>(r[i->a]), b = get<T>(r[i->b]), c = get<T>(r[i->c]);
    volatile T result = F{}(T{a}, T{b}, T{c});
    r[i->dst] = put<T>(result);
    return i + 1;
  }
};

/// The handler of a family (`Rounded`: UnaryRounded<…> and so on) for a mode.
template <class Rounded>
Handler select_rounding(int mode) {
  switch (mode) {
    case 1: return &Rounded::template handler<1>;
    case 2: return &Rounded::template handler<2>;
    case 3: return &Rounded::template handler<3>;
    default: return &Rounded::template handler<0>;
  }
}

}  // namespace strom::ptx
