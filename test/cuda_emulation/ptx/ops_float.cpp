// Floating point arithmetic of f32 and f64. PTX ISA, "Floating Point Instructions".
// Flush-to-zero (.ftz) is emulated only for the approximations; those give correctly rounded results here, which is
// within the error that the ISA allows them.

#include <cfenv>
#include <cmath>
#include <limits>

#include "cuda_emulation/ptx/decoder.hpp"
#include "cuda_emulation/ptx/rounding.hpp"

namespace strom::ptx {

namespace {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct FusedMultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};
struct SquareRoot {
  template <class T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return T(1) / a;
  }
};
struct ReciprocalSquareRoot {
  template <class T>
  T operator()(T a) const {
    return T(1) / std::sqrt(a);
  }
};
struct Exponential2 {
  float operator()(float a) const { return std::exp2(a); }
};
struct Logarithm2 {
  float operator()(float a) const { return std::log2(a); }
};
struct Sine {
  float operator()(float a) const { return std::sin(a); }
};
struct Cosine {
  float operator()(float a) const { return std::cos(a); }
};
struct Negate {
  template <class T>
  T operator()(T a) const {
    return -a;
  }
};
struct Absolute {
  template <class T>
  T operator()(T a) const {
    return std::fabs(a);
  }
};
struct CopySign {
  template <class T>
  T operator()(T sign, T magnitude) const {
    return std::copysign(magnitude, sign);
  }
};

// -0 is below +0; a NaN gives way to a number unless it is asked for.
template <bool kMaximum, bool kPropagatesNaN>
struct Extreme {
  template <class T>
  T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b)) {
      if (kPropagatesNaN || (std::isnan(a) && std::isnan(b))) return std::numeric_limits<T>::quiet_NaN();
      return std::isnan(a) ? b : a;
    }
    if (a == b) return std::signbit(a) == kMaximum ? b : a;
    return (a < b) == kMaximum ? b : a;
  }
};

template <class F>
struct FlushSubnormal {
  static float flush(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a; }
  float operator()(float a) const { return flush(F{}(flush(a))); }
};

// The f64 approximations read and write the upper half of their operand, and flush subnormals.
template <class F>
struct UpperHalf {
  double operator()(double a) const {
    constexpr std::uint64_t kUpper = 0xffffffff00000000u;
    const double operand = std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & kUpper);
    const double result = F{}(std::fpclassify(operand) == FP_SUBNORMAL ? std::copysign(0.0, operand) : operand);
    const double flushed = std::fpclassify(result) == FP_SUBNORMAL ? std::copysign(0.0, result) : result;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(flushed) & kUpper);
  }
};

template <class T>
const Instruction* test_property(const Instruction* i, std::uint64_t* r, Thread&) {
  const T a = get<T>(r[i->a]);
  bool holds = false;
  switch (i->immediate) {
    case 0: holds = std::isfinite(a); break;
    case 1: holds = std::isinf(a); break;
    case 2: holds = !std::isnan(a); break;
    case 3: holds = std::isnan(a); break;
    case 4: holds = std::isnormal(a); break;
    default: holds = std::fpclassify(a) == FP_SUBNORMAL;
  }
  r[i->dst] = holds;
  return i + 1;
}

// ---- decoding

Handler directed(Type type, int rounding, auto functor) {
  using F = decltype(functor);
  return select_float(type, [&]<class T>() -> Handler {
    if constexpr (std::is_invocable_v<F, T>) {
      return rounding == 0 ? &unary<T, F> : select_rounding<UnaryRounded<T, F>>(rounding);
    } else if constexpr (std::is_invocable_v<F, T, T>) {
      return rounding == 0 ? &binary<T, F> : select_rounding<BinaryRounded<T, F>>(rounding);
    } else {
      return rounding == 0 ? &ternary<T, F> : select_rounding<TernaryRounded<T, F>>(rounding);
    }
  });
}

template <class F, std::size_t kSources>
void emit_rounded(Decoder& d, int rounding) {
  const Type type = d.take_last_type("f", {32, 64});
  d.expect_operands(kSources + 1);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  if (kSources > 1) i.b = d.source(2, type);
  if (kSources > 2) i.c = d.source(3, type);
  d.emit(directed(type, rounding, F{}), i);
}

int optional_rounding(Decoder& d) { return d.choose({"rn", "rz", "rm", "rp"}, 0); }
int required_rounding(Decoder& d) { return d.choose({"rn", "rz", "rm", "rp"}); }

void emit_unary(Decoder& d, Type type, Handler handler) {
  d.expect_operands(2);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  d.emit(handler, i);
}

template <class F>
void decode_approximation(Decoder& d) {
  const bool flush = d.accept("ftz");
  const Type type = d.take_last_type("f", {32});
  emit_unary(d, type, flush ? &unary<float, FlushSubnormal<F>> : &unary<float, F>);
}

template <class F>
void decode_f32_approximation(Decoder& d) {
  d.expect("approx");
  decode_approximation<F>(d);
}

// rcp, rsqrt: .approx{.ftz}.f32, .approx.ftz.f64 and for rsqrt .approx.f64; with a rounding, exact.
template <class F>
void decode_reciprocal(Decoder& d) {
  if (!d.accept("approx")) return emit_rounded<F, 1>(d, required_rounding(d));
  if (!d.is_last_modifier("f64")) return decode_approximation<F>(d);
  d.accept("ftz");
  const Type type = d.take_last_type("f", {64});
  emit_unary(d, type, &unary<double, UpperHalf<F>>);
}

void decode_rsqrt(Decoder& d) {
  d.expect("approx");
  if (!d.is_last_modifier("f64")) return decode_approximation<ReciprocalSquareRoot>(d);
  d.accept("ftz");
  emit_unary(d, d.take_last_type("f", {64}), &unary<double, UpperHalf<ReciprocalSquareRoot>>);
}

void decode_sqrt(Decoder& d) {
  if (d.accept("approx")) return decode_approximation<SquareRoot>(d);
  emit_rounded<SquareRoot, 1>(d, required_rounding(d));
}

void decode_div(Decoder& d) {
  if (d.accept("approx") || d.accept("full")) {
    if (!d.is_last_modifier("f32")) d.fail("only f32 is divided approximately");
    return emit_rounded<Divide, 2>(d, 0);
  }
  emit_rounded<Divide, 2>(d, required_rounding(d));
}

template <class F>
void decode_sign(Decoder& d) {
  const Type type = d.take_last_type("f", {32, 64});
  emit_unary(d, type, select_float(type, []<class T>() -> Handler { return &unary<T, F>; }));
}

template <bool kMaximum>
void decode_extreme(Decoder& d) {
  const bool propagates = d.accept("NaN");
  const Type type = d.take_last_type("f", {32, 64});
  d.expect_operands(3);
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  i.b = d.source(2, type);
  d.emit(select_float(type,
                      [&]<class T>() -> Handler {
                        return propagates ? &binary<T, Extreme<kMaximum, true>> : &binary<T, Extreme<kMaximum, false>>;
                      }),
         i);
}

void decode_copysign(Decoder& d) { emit_rounded<CopySign, 2>(d, 0); }

void decode_testp(Decoder& d) {
  Instruction i;
  i.immediate = d.choose({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const Type type = d.take_last_type("f", {32, 64});
  d.expect_operands(2);
  i.dst = d.destination(0, kPredicate);
  i.a = d.source(1, type);
  d.emit(select_float(type, []<class T>() -> Handler { return &test_property<T>; }), i);
}

}  // namespace

const OpcodeTable& float_opcodes() {
  static const OpcodeTable table = {
      {"add", [](Decoder& d) { emit_rounded<Add, 2>(d, optional_rounding(d)); }},
      {"sub", [](Decoder& d) { emit_rounded<Subtract, 2>(d, optional_rounding(d)); }},
      {"mul", [](Decoder& d) { emit_rounded<Multiply, 2>(d, optional_rounding(d)); }},
      {"fma", [](Decoder& d) { emit_rounded<FusedMultiplyAdd, 3>(d, required_rounding(d)); }},
      {"mad", [](Decoder& d) { emit_rounded<FusedMultiplyAdd, 3>(d, required_rounding(d)); }},
      {"div", decode_div},
      {"sqrt", decode_sqrt},
      {"rcp", decode_reciprocal<Reciprocal>},
      {"rsqrt", decode_rsqrt},
      {"ex2", decode_f32_approximation<Exponential2>},
      {"lg2", decode_f32_approximation<Logarithm2>},
      {"sin", decode_f32_approximation<Sine>},
      {"cos", decode_f32_approximation<Cosine>},
      {"neg", decode_sign<Negate>},
      {"abs", decode_sign<Absolute>},
      {"copysign", decode_copysign},
      {"min", decode_extreme<false>},
      {"max", decode_extreme<true>},
      {"testp", decode_testp},
  };
  return table;
}

}  // namespace strom::ptx
