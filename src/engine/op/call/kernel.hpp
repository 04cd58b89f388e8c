// Calls of element functions over a tile. Single source; instantiated for the rows of each group of functions.def by
// engine/op/call/GROUP.hpp.
#pragma once

#include "engine/block/registers.hpp"
#include "engine/expr/element.hpp"
#include "registry/function_traits.hpp"

namespace strom::engine::op {

using namespace block;

/// Makes the flags of a strict function's result: nulls and errors of the arguments, and errors that eval has returned.
template <class P, class Eval>
STROM_INLINE void finish_call(const P& p, TileState& s, const TileInstr& instr, uint16_t b, bool raised,
                              Eval eval_again) {
  bool flagged = merge_flags(p, s, instr.dst, instr.a, b);
  if (p.any(raised)) {
    uint8_t* flags = s.storage[instr.dst].flags;
    const bool merged = flagged;
    p.for_each(s.count, [&](int i) {
      const uint8_t before = merged ? flags[i] : 0;
      flags[i] = before != 0 ? before : eval_again(i) ? kErrorFlag : 0;
    });
    flagged = true;
  }
  p.leader([&] { own(s, instr.dst, flagged); });
  p.sync();
}

template <class P, class F, class R, class A>
STROM_KERNEL void call_unary(const P& p, TileState& s, const TileInstr& instr) {
  const expr::Context context{s.code->single_byte, &s.text, static_cast<int>(instr.imm)};
  const A* a = values<A>(s, instr.a);
  R* out = static_cast<R*>(s.storage[instr.dst].data);
  unsigned raised = 0;
  p.for_each(s.count, [&](int i) { raised |= static_cast<unsigned>(F::eval(context, out[i], a[i])); });
  finish_call(p, s, instr, kNoRegister, raised != 0, [&](int i) {
    R ignored;
    return F::eval(context, ignored, a[i]);
  });
}

template <class P, class F, class R, class A, class B>
STROM_KERNEL void call_binary(const P& p, TileState& s, const TileInstr& instr) {
  const expr::Context context{s.code->single_byte, &s.text, static_cast<int>(instr.imm)};
  const A* a = values<A>(s, instr.a);
  const B* b = values<B>(s, instr.b);
  R* out = static_cast<R*>(s.storage[instr.dst].data);
  unsigned raised = 0;
  if (instr.flags & kConstRight) {
    const B constant = b[0];
    p.for_each(s.count, [&](int i) { raised |= static_cast<unsigned>(F::eval(context, out[i], a[i], constant)); });
  } else {
    p.for_each(s.count, [&](int i) { raised |= static_cast<unsigned>(F::eval(context, out[i], a[i], b[i])); });
  }
  finish_call(p, s, instr, instr.b, raised != 0, [&](int i) {
    R ignored;
    return F::eval(context, ignored, a[i], b[i]);
  });
}

/// For functions that make text or nulls, or have three arguments. Rows with a flag are left out, because their
/// arguments can be anything and should not cost memory.
template <class P, class F, int kArgs, bool kGivesFlag, class R, class A, class B, class C>
STROM_KERNEL void call_by_row(const P& p, TileState& s, const TileInstr& instr) {
  const expr::Context context{s.code->single_byte, &s.text, static_cast<int>(instr.imm)};
  const A* a = values<A>(s, instr.a);
  const B* b = kArgs > 1 ? values<B>(s, instr.b) : nullptr;
  const C* c = kArgs > 2 ? values<C>(s, instr.c) : nullptr;
  const uint8_t* fa = s.regs[instr.a].flags;
  const uint8_t* fb = kArgs > 1 ? s.regs[instr.b].flags : nullptr;
  const uint8_t* fc = kArgs > 2 ? s.regs[instr.c].flags : nullptr;
  R* out = static_cast<R*>(s.storage[instr.dst].data);
  uint8_t* flags = s.storage[instr.dst].flags;
  unsigned flagged = 0;
  p.for_each_shared(s.count, [&](int i) {
    uint8_t flag =
        static_cast<uint8_t>((fa != nullptr ? fa[i] : 0) | (fb != nullptr ? fb[i] : 0) | (fc != nullptr ? fc[i] : 0));
    R value{};
    if (flag == 0) {
      uint8_t result;
      if constexpr (kArgs == 1)
        result = F::eval(context, value, a[i]);
      else if constexpr (kArgs == 2)
        result = F::eval(context, value, a[i], b[i]);
      else
        result = F::eval(context, value, a[i], b[i], c[i]);
      flag = kGivesFlag ? result : result != 0 ? kErrorFlag : 0;
    }
    out[i] = flag == 0 ? value : R{};
    flags[i] = flag;
    flagged |= flag;
  });
  const bool any_flag = p.any(flagged != 0);
  p.leader([&] { own(s, instr.dst, any_flag); });
  p.sync();
}

template <class P, class F, int kArgs, expr::TypeId r, expr::TypeId a, expr::TypeId b, expr::TypeId c, uint32_t kTraits>
STROM_INLINE void call(const P& p, TileState& s, const TileInstr& instr) {
  using expr::RegisterType;
  constexpr bool kGivesFlag = (kTraits & registry::kNullable) != 0;
  if constexpr (kArgs == 3 || kGivesFlag || (kTraits & registry::kMakesText) != 0)
    call_by_row<P, F, kArgs, kGivesFlag, RegisterType<r>, RegisterType<a>, RegisterType<b>, RegisterType<c>>(p, s,
                                                                                                             instr);
  else if constexpr (kArgs == 1)
    call_unary<P, F, RegisterType<r>, RegisterType<a>>(p, s, instr);
  else
    call_binary<P, F, RegisterType<r>, RegisterType<a>, RegisterType<b>>(p, s, instr);
}

}  // namespace strom::engine::op
