// What the lanes of a warp do together: shfl vote match redux activemask bar.warp.sync.
// PTX ISA, "Parallel Synchronization and Communication Instructions". A lane waits at the instruction; when all live
// lanes of its mask are there, the interpreter runs the operation for all of them at once.

#include <bit>
#include <tuple>

#include "cuda_emulation/ptx/decoder.hpp"

namespace strom::ptx {

namespace {

// `e` is the slot of the mask, everywhere here.
const Instruction* wait_for_warp(const Instruction* i, std::uint64_t* r, Thread& t) {
  t.mask = get<std::uint32_t>(r[i->e]);
  if ((t.mask >> t.lane() & 1) == 0) fail(i, t, "lane is not in its own mask");
  t.pc = i;
  t.state = Thread::State::kAtWarpOperation;
  return nullptr;
}

template <class F>
void for_each_lane(std::uint32_t live, F f) {
  for (; live != 0; live &= live - 1) f(std::countr_zero(live));
}

void synchronize(const Instruction*, Thread* const*, std::uint32_t) {}

enum ShuffleMode { kUp, kDown, kButterfly, kIndex };

template <int kMode>
void shuffle(const Instruction* i, Thread* const* lanes, std::uint32_t live) {
  std::uint32_t values[32] = {}, results[32] = {};
  bool in_range[32] = {};
  for_each_lane(live, [&](int n) { values[n] = get<std::uint32_t>(lanes[n]->registers[i->a]); });
  for_each_lane(live, [&](int n) {
    const std::uint64_t* r = lanes[n]->registers;
    const int distance = static_cast<int>(r[i->b] & 31), clamp = static_cast<int>(r[i->c] & 31);
    const int segment = static_cast<int>(r[i->c] >> 8 & 31);
    const int least = n & segment, most = least | (clamp & ~segment);
    int from = 0;
    switch (kMode) {
      case kUp: from = n - distance; break;
      case kDown: from = n + distance; break;
      case kButterfly: from = n ^ distance; break;
      default: from = least | (distance & ~segment);
    }
    in_range[n] = kMode == kUp ? from >= most : from <= most;
    if (!in_range[n]) from = n;
    if ((live >> from & 1) == 0) fail(i, *lanes[n], "shuffle reads a lane that does not take part");
    results[n] = values[from];
  });
  for_each_lane(live, [&](int n) {
    lanes[n]->registers[i->d] = in_range[n];
    lanes[n]->registers[i->dst] = results[n];
  });
}

enum VoteMode { kAll, kAny, kUniform, kBallot };

template <int kMode>
void vote(const Instruction* i, Thread* const* lanes, std::uint32_t live) {
  std::uint32_t ballot = 0;
  for_each_lane(live, [&](int n) {
    ballot |= static_cast<std::uint32_t>(get<bool>(lanes[n]->registers[i->a]) != (i->immediate != 0)) << n;
  });
  const std::uint64_t result = kMode == kBallot ? ballot
                               : kMode == kAny  ? ballot != 0
                               : kMode == kAll  ? ballot == live
                                                : ballot == live || ballot == 0;
  for_each_lane(live, [&](int n) { lanes[n]->registers[i->dst] = result; });
}

template <class T, bool kAllLanes>
void match(const Instruction* i, Thread* const* lanes, std::uint32_t live) {
  T values[32] = {};
  std::uint32_t results[32] = {};
  for_each_lane(live, [&](int n) { values[n] = get<T>(lanes[n]->registers[i->a]); });
  for_each_lane(live, [&](int n) {
    for_each_lane(live,
                  [&](int other) { results[n] |= static_cast<std::uint32_t>(values[other] == values[n]) << other; });
  });
  for_each_lane(live, [&](int n) {
    const bool all = results[n] == live;
    lanes[n]->registers[i->d] = all;
    lanes[n]->registers[i->dst] = kAllLanes && !all ? 0 : results[n];
  });
}

template <class T, class F>
void reduce(const Instruction* i, Thread* const* lanes, std::uint32_t live) {
  T result = get<T>(lanes[std::countr_zero(live)]->registers[i->a]);
  for_each_lane(live & (live - 1), [&](int n) { result = F{}(result, get<T>(lanes[n]->registers[i->a])); });
  for_each_lane(live, [&](int n) { lanes[n]->registers[i->dst] = put(result); });
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
};
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct And {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a & b; }
};
struct Or {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a | b; }
};
struct Xor {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a ^ b; }
};

// Lanes run one after another, so none is known to be active but the one that asks.
const Instruction* active_mask(const Instruction* i, std::uint64_t* r, Thread& t) {
  r[i->dst] = 1u << t.lane();
  return i + 1;
}

// ---- decoding

void emit_warp(Decoder& d, WarpHandler handler, Instruction i) {
  i.warp = handler;
  d.emit(wait_for_warp, i);
}

// shfl.sync.mode.b32 d|p, a, b, c, mask
void decode_shfl(Decoder& d) {
  d.expect("sync");
  const int mode = d.choose({"up", "down", "bfly", "idx"});
  d.take_last_type("b", {32});
  d.expect_operands(5);
  Instruction i;
  std::tie(i.dst, i.d) = d.destination_pair(0, kB32, kPredicate);
  i.a = d.source(1, kB32);
  i.b = d.source(2, kB32);
  i.c = d.source(3, kB32);
  i.e = d.source(4, kB32);
  static constexpr WarpHandler kHandlers[] = {shuffle<kUp>, shuffle<kDown>, shuffle<kButterfly>, shuffle<kIndex>};
  emit_warp(d, kHandlers[mode], i);
}

// vote.sync.mode.type d, {!}a, mask
void decode_vote(Decoder& d) {
  d.expect("sync");
  const int mode = d.choose({"all", "any", "uni", "ballot"});
  const Type type = d.take_last_type(mode == kBallot ? "b" : "p", {1, 32});
  d.expect_operands(3);
  Instruction i;
  i.dst = d.destination(0, type);
  Operand predicate = d.operand(1);
  if (predicate.kind == Operand::Kind::kNot) {
    predicate.kind = Operand::Kind::kName;
    i.immediate = 1;
  }
  i.a = d.source(predicate, kPredicate);
  i.e = d.source(2, kB32);
  static constexpr WarpHandler kHandlers[] = {vote<kAll>, vote<kAny>, vote<kUniform>, vote<kBallot>};
  emit_warp(d, kHandlers[mode], i);
}

// match.any.sync.type d, a, mask; match.all.sync.type d|p, a, mask
void decode_match(Decoder& d) {
  const bool all = d.choose({"any", "all"}) == 1;
  d.expect("sync");
  const Type type = d.take_last_type("b", {32, 64});
  d.expect_operands(3);
  Instruction i;
  std::tie(i.dst, i.d) = d.destination_pair(0, kB32, kPredicate);
  i.a = d.source(1, type);
  i.e = d.source(2, kB32);
  if (type.bits == 32) return emit_warp(d, all ? match<std::uint32_t, true> : match<std::uint32_t, false>, i);
  emit_warp(d, all ? match<std::uint64_t, true> : match<std::uint64_t, false>, i);
}

void decode_redux(Decoder& d) {
  d.expect("sync");
  const int operation = d.choose({"add", "min", "max", "and", "or", "xor"});
  const Type type = d.take_last_type(operation < 3 ? "us" : "b", {32});
  d.expect_operands(3);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.e = d.source(2, kB32);
  using U = std::uint32_t;
  using S = std::int32_t;
  static constexpr WarpHandler kUnsigned[] = {reduce<U, Add>, reduce<U, Minimum>, reduce<U, Maximum>,
                                              reduce<U, And>, reduce<U, Or>,      reduce<U, Xor>};
  static constexpr WarpHandler kSigned[] = {reduce<S, Add>, reduce<S, Minimum>, reduce<S, Maximum>};
  emit_warp(d, type.is_signed() ? kSigned[operation] : kUnsigned[operation], i);
}

void decode_activemask(Decoder& d) {
  d.take_last_type("b", {32});
  d.expect_operands(1);
  Instruction i;
  i.dst = d.destination(0, kB32);
  d.emit(active_mask, i);
}

}  // namespace

void decode_warp_barrier(Decoder& d) {
  d.end_modifiers();
  d.expect_operands(1);
  Instruction i;
  i.e = d.source(0, kB32);
  emit_warp(d, synchronize, i);
}

const OpcodeTable& warp_opcodes() {
  static const OpcodeTable table = {{"shfl", decode_shfl},
                                    {"vote", decode_vote},
                                    {"match", decode_match},
                                    {"redux", decode_redux},
                                    {"activemask", decode_activemask}};
  return table;
}

}  // namespace strom::ptx
