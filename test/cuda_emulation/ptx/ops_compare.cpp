// Comparison and selection: setp selp slct. PTX ISA, "Comparison and Selection Instructions".

#include <cmath>
#include <tuple>

#include "cuda_emulation/ptx/decoder.hpp"

namespace strom::ptx {

namespace {

// In the order of the modifiers' list of decode_setp.
enum Comparison { kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };

// The ordered comparisons are false of a NaN (ne too), the unordered ones true.
template <int kComparison, class T>
bool compare(T a, T b) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>) unordered = std::isunordered(a, b);
  switch (kComparison) {
    case kEq: return a == b;
    case kNe: return !unordered && a != b;
    case kLt: return a < b;
    case kLe: return a <= b;
    case kGt: return a > b;
    case kGe: return a >= b;
    case kEqu: return unordered || a == b;
    case kNeu: return unordered || a != b;
    case kLtu: return unordered || a < b;
    case kLeu: return unordered || a <= b;
    case kGtu: return unordered || a > b;
    case kGeu: return unordered || a >= b;
    case kNum: return !unordered;
    default: return unordered;
  }
}

template <class T, int kComparison>
const Instruction* set_predicate(const Instruction* i, std::uint64_t* r, Thread&) {
  r[i->dst] = compare<kComparison>(get<T>(r[i->a]), get<T>(r[i->b]));
  return i + 1;
}

// What follows the comparison when there is more to it, as bits of `immediate`.
enum : std::int64_t { kAnd = 1, kOr = 2, kXor = 3, kBooleanMask = 3, kNegateThird = 4 };

bool combine(std::int64_t how, bool left, bool right) {
  switch (how & kBooleanMask) {
    case kAnd: return left && right;
    case kOr: return left || right;
    case kXor: return left != right;
    default: return left;
  }
}

template <class T, int kComparison>
const Instruction* set_two_predicates(const Instruction* i, std::uint64_t* r, Thread&) {
  const bool holds = compare<kComparison>(get<T>(r[i->a]), get<T>(r[i->b]));
  const bool third = get<bool>(r[i->c]) != ((i->immediate & kNegateThird) != 0);
  r[i->dst] = combine(i->immediate, holds, third);
  r[i->d] = combine(i->immediate, !holds, third);
  return i + 1;
}

template <class T, int kComparison>
Handler setp_handler(bool is_plain) {
  return is_plain ? &set_predicate<T, kComparison> : &set_two_predicates<T, kComparison>;
}

template <class T, int kComparison = kEq>
Handler select_setp(int comparison, bool is_plain) {
  if constexpr (kComparison > (std::is_floating_point_v<T> ? kNan : kGe)) {
    return nullptr;
  } else {
    return comparison == kComparison ? setp_handler<T, kComparison>(is_plain)
                                     : select_setp<T, kComparison + 1>(comparison, is_plain);
  }
}

void decode_setp(Decoder& d) {
  static constexpr int kUnsignedNames[4] = {kLt, kLe, kGt, kGe};
  int comparison = d.choose({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
                             "lo", "ls", "hi", "hs"});
  const bool is_unsigned_name = comparison > kNan;
  if (is_unsigned_name) comparison = kUnsignedNames[comparison - kNan - 1];
  const int boolean = d.choose({"and", "or", "xor"}, 3);
  const Type type = d.take_last_type("busf", {16, 32, 64});
  if (is_unsigned_name && type.kind != 'u') d.fail("comparison of unsigned numbers");
  if (type.kind == 'b' && comparison > kNe) d.fail("bits have no order");

  d.expect_operands(boolean == 3 ? 3 : 4);
  Instruction i;
  std::tie(i.dst, i.d) = d.destination_pair(0, kPredicate, kPredicate);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  if (boolean != 3) {
    Operand third = d.operand(3);
    i.immediate = boolean + 1;
    if (third.kind == Operand::Kind::kNot) {
      third.kind = Operand::Kind::kName;
      i.immediate |= kNegateThird;
    }
    i.c = d.source(third, kPredicate);
  }
  const bool is_plain = boolean == 3 && i.d == Decoder::unread_slot();
  const auto make = [&]<class T>() -> Handler { return select_setp<T>(comparison, is_plain); };
  const Handler handler = type.is_float() ? select_float(type, make) : select_integer(type, make);
  if (handler == nullptr) d.fail("comparison is not possible of this type");
  d.emit(handler, i);
}

const Instruction* select_by_predicate(const Instruction* i, std::uint64_t* r, Thread&) {
  r[i->dst] = get<bool>(r[i->c]) ? r[i->a] : r[i->b];
  return i + 1;
}

void decode_selp(Decoder& d) {
  const Type type = d.take_last_type("busf", {16, 32, 64});
  d.expect_operands(4);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  i.c = d.source(3, kPredicate);
  d.emit(select_by_predicate, i);
}

template <class T>
const Instruction* select_by_sign(const Instruction* i, std::uint64_t* r, Thread&) {
  r[i->dst] = get<T>(r[i->c]) >= 0 ? r[i->a] : r[i->b];
  return i + 1;
}

void decode_slct(Decoder& d) {
  const Type type = d.take_type();
  if (type.is_predicate() || type.bits < 16) d.fail("type is not possible here");
  const Type selector = d.take_last_type("sf", {32});
  d.expect_operands(4);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  i.c = d.source(3, selector);
  d.emit(selector.is_float() ? &select_by_sign<float> : &select_by_sign<std::int32_t>, i);
}

}  // namespace

const OpcodeTable& compare_opcodes() {
  static const OpcodeTable table = {{"setp", decode_setp}, {"selp", decode_selp}, {"slct", decode_slct}};
  return table;
}

}  // namespace strom::ptx
