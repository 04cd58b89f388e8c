// Logic, shifts and bit fields. PTX ISA, "Logic and Shift Instructions" and the bit instructions of "Integer
// Arithmetic".

#include <algorithm>
#include <bit>

#include "cuda_emulation/ptx/decoder.hpp"

namespace strom::ptx {

namespace {

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
  bool operator()(bool a) const { return !a; }
};
struct LogicalNot {
  template <class T>
  T operator()(T a) const {
    return a == 0 ? 1 : 0;
  }
};
struct PopulationCount {
  template <class T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <class T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct Reverse {
  template <class T>
  T operator()(T a) const {
    T reversed = 0;
    for (unsigned n = 0; n < 8 * sizeof(T); n++) reversed |= static_cast<T>((a >> n) & 1) << (8 * sizeof(T) - 1 - n);
    return reversed;
  }
};

// The most significant bit that differs from the sign, or its distance from the top.
template <bool kShiftAmount>
struct FindLeading {
  template <class T>
  std::uint32_t operator()(T a) const {
    using Unsigned = std::make_unsigned_t<T>;
    const auto bits = static_cast<Unsigned>(a < 0 ? ~a : a);
    if (bits == 0) return 0xffffffffu;
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
    return kShiftAmount ? zeros : static_cast<std::uint32_t>(8 * sizeof(T)) - 1 - zeros;
  }
};

// Shift amounts above the width are clamped to it.
template <class T>
const Instruction* shift_left(const Instruction* i, std::uint64_t* r, Thread&) {
  const std::uint32_t count = get<std::uint32_t>(r[i->b]);
  r[i->dst] = count >= 8 * sizeof(T) ? 0 : put(static_cast<T>(static_cast<std::uint64_t>(get<T>(r[i->a])) << count));
  return i + 1;
}

template <class T>
const Instruction* shift_right(const Instruction* i, std::uint64_t* r, Thread&) {
  const std::uint32_t count = get<std::uint32_t>(r[i->b]);
  const T value = get<T>(r[i->a]);
  constexpr std::uint32_t kTop = 8 * sizeof(T) - 1;
  if (std::is_signed_v<T>) {
    r[i->dst] = put(static_cast<T>(value >> std::min(count, kTop)));
  } else {
    r[i->dst] = count > kTop ? 0 : put(static_cast<T>(value >> count));
  }
  return i + 1;
}

template <bool kLeft, bool kClamp>
const Instruction* funnel_shift(const Instruction* i, std::uint64_t* r, Thread&) {
  const std::uint64_t both = get<std::uint32_t>(r[i->a]) | static_cast<std::uint64_t>(get<std::uint32_t>(r[i->b]))
                                                               << 32;
  const std::uint32_t count = get<std::uint32_t>(r[i->c]);
  const std::uint32_t shift = kClamp ? std::min(count, 32u) : count & 31;
  r[i->dst] = static_cast<std::uint32_t>(kLeft ? both << shift >> 32 : both >> shift);
  return i + 1;
}

template <class T>
const Instruction* extract_field(const Instruction* i, std::uint64_t* r, Thread&) {
  constexpr std::uint32_t kTop = 8 * sizeof(T) - 1;
  const T value = get<T>(r[i->a]);
  const std::uint32_t position = r[i->b] & 255, length = r[i->c] & 255;
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  const bool sign = std::is_signed_v<T> && length != 0 && ((bits >> std::min(position + length - 1, kTop)) & 1) != 0;
  T field = 0;
  for (std::uint32_t n = 0; n <= kTop; n++) {
    const bool bit = n < length && position + n <= kTop ? ((bits >> (position + n)) & 1) != 0 : sign;
    field = static_cast<T>(field | static_cast<T>(static_cast<T>(bit) << n));
  }
  r[i->dst] = put(field);
  return i + 1;
}

// The common case: the whole field lies inside the value and its place is known.
template <class T>
const Instruction* extract_inner_field(const Instruction* i, std::uint64_t* r, Thread&) {
  constexpr unsigned kBits = 8 * sizeof(T);
  const unsigned position = static_cast<unsigned>(i->immediate >> 8),
                 length = static_cast<unsigned>(i->immediate & 255);
  using Unsigned = std::make_unsigned_t<T>;
  const auto top = static_cast<Unsigned>(get<Unsigned>(r[i->a]) << (kBits - position - length));
  r[i->dst] = put(static_cast<T>(static_cast<T>(top) >> (kBits - length)));
  return i + 1;
}

template <class T>
const Instruction* insert_field(const Instruction* i, std::uint64_t* r, Thread&) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  const std::uint32_t position = r[i->c] & 255, length = r[i->d] & 255;
  const T ones = length >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = position >= kBits ? T{0} : static_cast<T>(ones << position);
  const T field = position >= kBits ? T{0} : static_cast<T>(get<T>(r[i->a]) << position);
  r[i->dst] = static_cast<T>((get<T>(r[i->b]) & ~mask) | (field & mask));
  return i + 1;
}

const Instruction* permute_bytes(const Instruction* i, std::uint64_t* r, Thread&) {
  const std::uint64_t both = get<std::uint32_t>(r[i->a]) | static_cast<std::uint64_t>(get<std::uint32_t>(r[i->b]))
                                                               << 32;
  const std::uint32_t selectors = get<std::uint32_t>(r[i->c]);
  std::uint32_t result = 0;
  for (unsigned n = 0; n < 4; n++) {
    const std::uint32_t selector = selectors >> (4 * n) & 15;
    std::uint32_t byte = both >> (8 * (selector & 7)) & 255;
    if (selector & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * n);
  }
  r[i->dst] = result;
  return i + 1;
}

const Instruction* look_up_3(const Instruction* i, std::uint64_t* r, Thread&) {
  const auto a = get<std::uint32_t>(r[i->a]), b = get<std::uint32_t>(r[i->b]), c = get<std::uint32_t>(r[i->c]);
  std::uint32_t result = 0;
  for (unsigned n = 0; n < 8; n++) {
    if ((i->immediate >> n & 1) == 0) continue;
    result |= (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c);
  }
  r[i->dst] = result;
  return i + 1;
}

// ---- decoding

template <class F>
void decode_logic(Decoder& d) {
  const Type type = d.take_last_type("bp", {1, 16, 32, 64});
  d.expect_operands(3);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  d.emit(
      type.is_predicate() ? &binary<bool, F> : select_integer(type, []<class T>() -> Handler { return &binary<T, F>; }),
      i);
}

void decode_not(Decoder& d) {
  const Type type = d.take_last_type("bp", {1, 16, 32, 64});
  d.expect_operands(2);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  d.emit(type.is_predicate() ? &unary<bool, Not>
                             : select_integer(type, []<class T>() -> Handler { return &unary<T, Not>; }),
         i);
}

void decode_cnot(Decoder& d) {
  const Type type = d.take_last_type("b", {16, 32, 64});
  d.expect_operands(2);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  d.emit(select_integer(type, []<class T>() -> Handler { return &unary<T, LogicalNot>; }), i);
}

void decode_shift(Decoder& d, bool left) {
  const Type type = left ? d.take_last_type("b", {16, 32, 64}) : d.take_last_type("bus", {16, 32, 64});
  d.expect_operands(3);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, kB32);
  d.emit(select_integer(type, [left]<class T>() -> Handler { return left ? &shift_left<T> : &shift_right<T>; }), i);
}

void decode_funnel_shift(Decoder& d) {
  const bool left = d.choose({"r", "l"}) == 1;
  const bool clamp = d.choose({"wrap", "clamp"}) == 1;
  const Type type = d.take_last_type("b", {32});
  d.expect_operands(4);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  i.c = d.source(3, kB32);
  d.emit(left ? (clamp ? &funnel_shift<true, true> : &funnel_shift<true, false>)
              : (clamp ? &funnel_shift<false, true> : &funnel_shift<false, false>),
         i);
}

// Of a 32- or 64-bit value into a 32-bit count.
template <class F>
void decode_count(Decoder& d) {
  const Type type = d.take_last_type("b", {32, 64});
  d.expect_operands(2);
  Instruction i;
  i.dst = d.destination(0, kB32);
  i.a = d.source(1, type);
  d.emit(type.bits == 32 ? &unary<std::uint32_t, F> : &unary<std::uint64_t, F>, i);
}

void decode_bfind(Decoder& d) {
  const bool shift_amount = d.accept("shiftamt");
  const Type type = d.take_last_type("us", {32, 64});
  d.expect_operands(2);
  Instruction i;
  i.dst = d.destination(0, kB32);
  i.a = d.source(1, type);
  d.emit(select_integer(type,
                        [&]<class T>() -> Handler {
                          return shift_amount ? &unary<T, FindLeading<true>> : &unary<T, FindLeading<false>>;
                        }),
         i);
}

void decode_brev(Decoder& d) {
  const Type type = d.take_last_type("b", {32, 64});
  d.expect_operands(2);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  d.emit(type.bits == 32 ? &unary<std::uint32_t, Reverse> : &unary<std::uint64_t, Reverse>, i);
}

void decode_bfe(Decoder& d) {
  const Type type = d.take_last_type("us", {32, 64});
  d.expect_operands(4);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, kB32);
  i.c = d.source(3, kB32);
  const bool is_known = d.operand(2).kind == Operand::Kind::kInteger && d.operand(3).kind == Operand::Kind::kInteger;
  const std::int64_t position = is_known ? d.constant(2) : 0, length = is_known ? d.constant(3) : 0;
  if (position >= 0 && length > 0 && position < type.bits && position + length <= type.bits) {
    i.immediate = position << 8 | length;
    d.emit(select_integer(type, []<class T>() -> Handler { return &extract_inner_field<T>; }), i);
  } else {
    d.emit(select_integer(type, []<class T>() -> Handler { return &extract_field<T>; }), i);
  }
}

void decode_bfi(Decoder& d) {
  const Type type = d.take_last_type("b", {32, 64});
  d.expect_operands(5);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  i.c = d.source(3, kB32);
  i.d = d.source(4, kB32);
  d.emit(type.bits == 32 ? &insert_field<std::uint32_t> : &insert_field<std::uint64_t>, i);
}

void decode_prmt(Decoder& d) {
  const Type type = d.take_last_type("b", {32});  // the modes .f4e, .rc8, … are not emulated
  d.expect_operands(4);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  i.c = d.source(3, type);
  d.emit(permute_bytes, i);
}

void decode_lop3(Decoder& d) {
  const Type type = d.take_last_type("b", {32});
  d.expect_operands(5);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  i.c = d.source(3, type);
  i.immediate = d.constant(4);
  if (i.immediate < 0 || i.immediate > 255) d.fail("the look-up table has 8 bits");
  d.emit(look_up_3, i);
}

}  // namespace

const OpcodeTable& bit_opcodes() {
  static const OpcodeTable table = {
      {"and", decode_logic<And>},
      {"or", decode_logic<Or>},
      {"xor", decode_logic<Xor>},
      {"not", decode_not},
      {"cnot", decode_cnot},
      {"shl", [](Decoder& d) { decode_shift(d, true); }},
      {"shr", [](Decoder& d) { decode_shift(d, false); }},
      {"shf", decode_funnel_shift},
      {"popc", decode_count<PopulationCount>},
      {"clz", decode_count<LeadingZeros>},
      {"bfind", decode_bfind},
      {"brev", decode_brev},
      {"bfe", decode_bfe},
      {"bfi", decode_bfi},
      {"prmt", decode_prmt},
      {"lop3", decode_lop3},
  };
  return table;
}

}  // namespace strom::ptx
