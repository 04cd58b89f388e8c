// Integer arithmetic: add sub mul mad with and without carries, div rem abs neg min max sad.
// PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions".

#include <limits>

#include "cuda_emulation/ptx/decoder.hpp"

namespace strom::ptx {

namespace {

template <class T>
constexpr T wrap(unsigned __int128 value) {
  return static_cast<T>(value);
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  }
};
struct AddSaturating {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    std::int32_t sum;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
  }
};
struct SubtractSaturating {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    std::int32_t difference;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return a < 0 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
  }
};
struct MultiplyLow {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};
struct MultiplyHigh {
  template <class T>
  T operator()(T a, T b) const {
    using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
  }
};
struct MultiplyWide {
  template <class T>
  auto operator()(T a, T b) const {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<Wide>(a) * static_cast<Wide>(b);
  }
};
struct Negate {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(0 - static_cast<std::uint64_t>(a));
  }
};
struct Absolute {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? Negate{}(a) : a;
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
struct SumOfAbsoluteDifference {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(c, a < b ? Subtract{}(b, a) : Subtract{}(a, b));
  }
};
// What a device gives, not what C++ does: all ones for a division by zero, wrapping for MIN / -1.
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Negate{}(a);
    }
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};

template <class Multiply>
struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(Multiply{}(a, b), c);
  }
};

// The addend is as wide as the product.
template <class T>
const Instruction* multiply_add_wide(const Instruction* i, std::uint64_t* r, Thread&) {
  const auto product = static_cast<std::uint64_t>(MultiplyWide{}(get<T>(r[i->a]), get<T>(r[i->b])));
  r[i->dst] = product + r[i->c];
  return i + 1;
}

// ---- carries: addition and subtraction of two terms, `Reads` the carry, `Writes` it

template <class T, bool kReads, bool kWrites>
T add_with_carry(T a, T b, Thread& t) {
  const unsigned __int128 sum = static_cast<unsigned __int128>(a) + b + (kReads && t.carry ? 1 : 0);
  if (kWrites) t.carry = (sum >> (8 * sizeof(T))) != 0;
  return wrap<T>(sum);
}

template <class T, bool kReads, bool kWrites>
const Instruction* add_carry(const Instruction* i, std::uint64_t* r, Thread& t) {
  r[i->dst] = add_with_carry<T, kReads, kWrites>(get<T>(r[i->a]), get<T>(r[i->b]), t);
  return i + 1;
}

// The ISA calls the flag a borrow, but a device adds the complement: after a subtraction the flag is set when nothing
// was borrowed. nvcc's 128-bit division depends on it, reading by addc what subc wrote.
template <class T, bool kReads, bool kWrites>
const Instruction* subtract_borrow(const Instruction* i, std::uint64_t* r, Thread& t) {
  const T a = get<T>(r[i->a]), b = get<T>(r[i->b]);
  const unsigned __int128 taken = static_cast<unsigned __int128>(b) + (kReads && !t.carry ? 1 : 0);
  if (kWrites) t.carry = taken <= a;
  r[i->dst] = wrap<T>(a - taken);
  return i + 1;
}

template <class T, class Multiply, bool kReads, bool kWrites>
const Instruction* multiply_add_carry(const Instruction* i, std::uint64_t* r, Thread& t) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto product = static_cast<Unsigned>(Multiply{}(get<T>(r[i->a]), get<T>(r[i->b])));
  r[i->dst] = add_with_carry<Unsigned, kReads, kWrites>(product, get<Unsigned>(r[i->c]), t);
  return i + 1;
}

// ---- decoding

void emit_binary(Decoder& d, Type type, Handler handler) {
  d.expect_operands(3);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  d.emit(handler, i);
}

template <class F>
Handler binary_of(Type type) {
  return select_integer(type, []<class T>() -> Handler { return &binary<T, F>; });
}

template <bool kReads, bool kWrites>
void decode_add_carry(Decoder& d) {
  const Type type = d.take_last_type("us", {32, 64});
  emit_binary(
      d, type,
      type.bits == 32 ? &add_carry<std::uint32_t, kReads, kWrites> : &add_carry<std::uint64_t, kReads, kWrites>);
}

template <bool kReads, bool kWrites>
void decode_subtract_borrow(Decoder& d) {
  const Type type = d.take_last_type("us", {32, 64});
  emit_binary(d, type,
              type.bits == 32 ? &subtract_borrow<std::uint32_t, kReads, kWrites>
                              : &subtract_borrow<std::uint64_t, kReads, kWrites>);
}

void decode_add(Decoder& d) {
  if (d.accept("cc")) return decode_add_carry<false, true>(d);
  const bool saturates = d.accept("sat");
  const Type type = saturates ? d.take_last_type("s", {32}) : d.take_last_type("us", {16, 32, 64});
  emit_binary(d, type, saturates ? &binary<std::int32_t, AddSaturating> : binary_of<Add>(type));
}

void decode_addc(Decoder& d) {
  return d.accept("cc") ? decode_add_carry<true, true>(d) : decode_add_carry<true, false>(d);
}

void decode_sub(Decoder& d) {
  if (d.accept("cc")) return decode_subtract_borrow<false, true>(d);
  const bool saturates = d.accept("sat");
  const Type type = saturates ? d.take_last_type("s", {32}) : d.take_last_type("us", {16, 32, 64});
  emit_binary(d, type, saturates ? &binary<std::int32_t, SubtractSaturating> : binary_of<Subtract>(type));
}

void decode_subc(Decoder& d) {
  return d.accept("cc") ? decode_subtract_borrow<true, true>(d) : decode_subtract_borrow<true, false>(d);
}

enum Part { kLow, kHigh, kWide };

void decode_mul(Decoder& d) {
  const int part = d.choose({"lo", "hi", "wide"});
  if (part != kWide) {
    const Type type = d.take_last_type("us", {16, 32, 64});
    return emit_binary(d, type, part == kLow ? binary_of<MultiplyLow>(type) : binary_of<MultiplyHigh>(type));
  }
  const Type type = d.take_last_type("us", {16, 32});
  d.expect_operands(3);
  Instruction i;
  i.dst = d.destination(0, {type.kind, static_cast<std::uint8_t>(2 * type.bits)});
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  d.emit(binary_of<MultiplyWide>(type), i);
}

template <class Multiply>
Handler multiply_add_of(Type type, bool reads, bool writes) {
  return select_integer(type, [&]<class T>() -> Handler {
    if (reads)
      return writes ? &multiply_add_carry<T, Multiply, true, true> : &multiply_add_carry<T, Multiply, true, false>;
    return writes ? &multiply_add_carry<T, Multiply, false, true> : &ternary<T, MultiplyAdd<Multiply>>;
  });
}

void decode_multiply_add(Decoder& d, bool reads_carry) {
  const int part = reads_carry ? d.choose({"lo", "hi"}) : d.choose({"lo", "hi", "wide"});
  const bool writes_carry = part != kWide && d.accept("cc");
  const bool carries = reads_carry || writes_carry;
  const Type type = part == kWide ? d.take_last_type("us", {16, 32})
                    : carries     ? d.take_last_type("us", {32, 64})
                                  : d.take_last_type("us", {16, 32, 64});
  const Type wide{type.kind, static_cast<std::uint8_t>(part == kWide ? 2 * type.bits : type.bits)};
  d.expect_operands(4);
  Instruction i;
  i.dst = d.destination(0, wide);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  i.c = d.source(3, wide);
  if (part == kWide) {
    d.emit(select_integer(type, []<class T>() -> Handler { return &multiply_add_wide<T>; }), i);
  } else if (part == kHigh) {
    d.emit(multiply_add_of<MultiplyHigh>(type, reads_carry, writes_carry), i);
  } else {
    d.emit(multiply_add_of<MultiplyLow>(type, reads_carry, writes_carry), i);
  }
}

template <class F>
void decode_binary(Decoder& d) {
  const Type type = d.take_last_type("us", {16, 32, 64});
  emit_binary(d, type, binary_of<F>(type));
}

template <class F>
void decode_unary(Decoder& d) {
  const Type type = d.take_last_type("s", {16, 32, 64});
  d.expect_operands(2);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  d.emit(select_integer(type, []<class T>() -> Handler { return &unary<T, F>; }), i);
}

void decode_sad(Decoder& d) {
  const Type type = d.take_last_type("us", {16, 32, 64});
  d.expect_operands(4);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  i.c = d.source(3, type);
  d.emit(select_integer(type, []<class T>() -> Handler { return &ternary<T, SumOfAbsoluteDifference>; }), i);
}

}  // namespace

const OpcodeTable& integer_opcodes() {
  static const OpcodeTable table = {
      {"add", decode_add},
      {"addc", decode_addc},
      {"sub", decode_sub},
      {"subc", decode_subc},
      {"mul", decode_mul},
      {"mad", [](Decoder& d) { decode_multiply_add(d, false); }},
      {"madc", [](Decoder& d) { decode_multiply_add(d, true); }},
      {"div", decode_binary<Divide>},
      {"rem", decode_binary<Remainder>},
      {"min", decode_binary<Minimum>},
      {"max", decode_binary<Maximum>},
      {"neg", decode_unary<Negate>},
      {"abs", decode_unary<Absolute>},
      {"sad", decode_sad},
  };
  return table;
}

}  // namespace strom::ptx
