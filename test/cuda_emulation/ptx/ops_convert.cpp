// cvt between integers and floating point numbers. PTX ISA, "Data Movement and Conversion Instructions: cvt".

#include <cmath>
#include <limits>

#include "cuda_emulation/ptx/decoder.hpp"
#include "cuda_emulation/ptx/rounding.hpp"

namespace strom::ptx {

namespace {

template <class To>
struct Truncate {
  template <class From>
  To operator()(From value) const {
    return static_cast<To>(value);
  }
};

template <class To>
struct Saturate {
  template <class From>
  To operator()(From value) const {
    const auto wide = static_cast<__int128>(value);  // NOLINT(bugprone-signed-char-misuse): numbers, not letters
    if (wide < static_cast<__int128>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (wide > static_cast<__int128>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  }
};

// In the order of {"rni", "rzi", "rmi", "rpi"}.
template <int kMode, class T>
T round_to_integer(T value) {
  switch (kMode) {
    case 0: return std::nearbyint(value);
    case 1: return std::trunc(value);
    case 2: return std::floor(value);
    default: return std::ceil(value);
  }
}

// Always clamped. A NaN is 0, or the top bit alone when either side has 64 bits.
template <class To, int kMode>
struct FloatToInteger {
  template <class From>
  To operator()(From value) const {
    if (std::isnan(value)) {
      constexpr bool kTopBit = sizeof(From) == 8 || sizeof(To) == 8;
      return kTopBit ? static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1)) : To{0};
    }
    const From rounded = round_to_integer<kMode>(value);
    const From limit = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (rounded >= limit) return std::numeric_limits<To>::max();
    if (rounded < (std::is_signed_v<To> ? -limit : From{0})) return std::numeric_limits<To>::min();
    return static_cast<To>(rounded);
  }
};

template <int kMode>
struct RoundToInteger {
  template <class T>
  T operator()(T value) const {
    return round_to_integer<kMode>(value);
  }
};

struct SaturateToUnit {
  template <class T>
  T operator()(T value) const {
    return !(value > 0) ? T{0} : value > 1 ? T{1} : value;
  }
};

template <class F>
void emit_conversion(Decoder& d, Type to, Type from, F make) {
  d.expect_operands(2);
  Instruction i;
  i.dst = d.destination(0, to, Decoder::Width::kAtLeast);
  i.a = d.source(1, from, Decoder::Width::kAtLeast);
  const Handler handler = make();
  if (handler == nullptr) d.fail("conversion is not possible or not emulated");
  d.emit(handler, i);
}

Handler integer_to_integer(Type to, Type from, bool saturate) {
  return select_integer(to, [&]<class To>() {
    return select_integer(from, [&]<class From>() -> Handler {
      return saturate ? &unary<From, Saturate<To>> : &unary<From, Truncate<To>>;
    });
  });
}

Handler integer_to_float(Type to, Type from, int rounding) {
  return select_float(to, [&]<class To>() {
    return select_integer(from, [&]<class From>() -> Handler {
      return rounding == 0 ? &unary<From, Truncate<To>> : select_rounding<UnaryRounded<From, Truncate<To>>>(rounding);
    });
  });
}

Handler float_to_integer(Type to, Type from, int mode) {
  return select_float(from, [&]<class From>() {
    return select_integer(to, [&]<class To>() -> Handler {
      switch (mode) {
        case 0: return &unary<From, FloatToInteger<To, 0>>;
        case 1: return &unary<From, FloatToInteger<To, 1>>;
        case 2: return &unary<From, FloatToInteger<To, 2>>;
        default: return &unary<From, FloatToInteger<To, 3>>;
      }
    });
  });
}

Handler float_to_integral_float(Type type, int mode) {
  return select_float(type, [&]<class T>() -> Handler {
    switch (mode) {
      case 0: return &unary<T, RoundToInteger<0>>;
      case 1: return &unary<T, RoundToInteger<1>>;
      case 2: return &unary<T, RoundToInteger<2>>;
      default: return &unary<T, RoundToInteger<3>>;
    }
  });
}

// Modes: at most one of `integral` (.rni …) and `rounding` (.rn …) is given, else -1.
Handler float_to_float(Type to, Type from, int integral, int rounding, bool saturate) {
  if (to == from) {
    if (integral >= 0) return saturate ? nullptr : float_to_integral_float(to, integral);
    if (rounding >= 0) return nullptr;
    return select_float(
        to, [&]<class T>() -> Handler { return saturate ? &unary<T, SaturateToUnit> : &unary<T, Truncate<T>>; });
  }
  if (saturate || integral >= 0) return nullptr;
  if (to.bits == 64) return rounding >= 0 ? nullptr : &unary<float, Truncate<double>>;
  if (rounding < 0) return nullptr;
  return rounding == 0 ? &unary<double, Truncate<float>>
                       : select_rounding<UnaryRounded<double, Truncate<float>>>(rounding);
}

void decode_cvt(Decoder& d) {
  constexpr int kNone = 4;
  int integral = d.choose({"rni", "rzi", "rmi", "rpi"}, kNone);
  int rounding = d.choose({"rn", "rz", "rm", "rp"}, kNone);
  integral = integral == kNone ? -1 : integral;
  rounding = rounding == kNone ? -1 : rounding;
  const bool saturate = d.accept("sat");
  const Type to = d.take_type(), from = d.take_last_type("usfb", {8, 16, 32, 64});
  if (to.is_predicate() || (integral >= 0 && rounding >= 0)) d.fail("conversion is not possible");
  emit_conversion(d, to, from, [&]() -> Handler {
    if (to.is_float() && from.is_float()) return float_to_float(to, from, integral, rounding, saturate);
    // The result of a float is always clamped, so .sat adds nothing to it.
    if (from.is_float()) return rounding >= 0 || integral < 0 ? nullptr : float_to_integer(to, from, integral);
    if (integral >= 0) return nullptr;
    if (to.is_float()) return rounding < 0 || saturate ? nullptr : integer_to_float(to, from, rounding);
    return rounding >= 0 ? nullptr : integer_to_integer(to, from, saturate);
  });
}

}  // namespace

const OpcodeTable& convert_opcodes() {
  static const OpcodeTable table = {{"cvt", decode_cvt}};
  return table;
}

}  // namespace strom::ptx
