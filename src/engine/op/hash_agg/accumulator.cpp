#include "engine/op/hash_agg/accumulator.hpp"

#include <cstring>

#include "engine/agg/accumulate.hpp"

namespace strom::engine::op {

using block::AccKind;
using block::AggregateCode;
using registry::DecimalSum;
using registry::Moments;
using registry::PairMoments;
using registry::Phys;
using registry::SquareSums;
using registry::StrView;

namespace {

/// f(T{}) for the type T of a minimum or maximum of `phys`, for all types but text.
template <class F>
void with_number_type(Phys phys, F&& f) {
  switch (phys) {
    case Phys::kI32: f(int32_t{}); break;
    case Phys::kI64: f(int64_t{}); break;
    case Phys::kI128: f(__int128{}); break;
    case Phys::kF32: f(float{}); break;
    case Phys::kF64: f(double{}); break;
    default: break;
  }
}

/// Calls f(&a, b) for copies of the states at `into` and `from`, and writes the first one back.
template <class T, class F>
void update(void* into, const void* from, F f) {
  T a, b;
  std::memcpy(&a, into, sizeof a);
  std::memcpy(&b, from, sizeof b);
  f(&a, b);
  std::memcpy(into, &a, sizeof a);
}

template <class T>
void add(void* into, const void* from) {
  update<T>(into, from, [](T* a, const T& b) { agg::combine_sums(a, b); });
}

/// Combines all accumulators but minima and maxima.
void add_up(const AggregateCode& code, void* into, const void* from) {
  switch (code.acc) {
    case AccKind::kCountRows:
    case AccKind::kCount: return;
    case AccKind::kSumI64:
    case AccKind::kCountTrue: return add<int64_t>(into, from);
    case AccKind::kSumI128: return add<__int128>(into, from);
    case AccKind::kSumF32: return add<float>(into, from);
    case AccKind::kSumF64:
    case AccKind::kAvgF64: return add<double>(into, from);
    case AccKind::kSumDecimal: return add<DecimalSum>(into, from);
    case AccKind::kBitAnd:
    case AccKind::kBitOr:
    case AccKind::kBitXor:
      return agg::combine_bytes(code.acc, static_cast<uint8_t*>(into), static_cast<const uint8_t*>(from),
                                registry::phys_size(code.phys));
    case AccKind::kSumSquares:
      return update<SquareSums>(into, from, [](SquareSums* a, const SquareSums& b) { agg::combine_squares(a, b); });
    case AccKind::kMoments:
      return update<Moments>(into, from, [](Moments* a, const Moments& b) { agg::combine_moments(a, b); });
    case AccKind::kPairMoments:
      return update<PairMoments>(into, from, [](PairMoments* a, const PairMoments& b) { agg::combine_pairs(a, b); });
    default: return;
  }
}

bool combine_best(const AggregateCode& code, void* into, const void* from) {
  const bool less = code.acc == AccKind::kMin || code.acc == AccKind::kMinSpan;
  bool tie = false;
  const bool by_parts = agg::is_of_decimals(code) || code.acc == AccKind::kMinSpan || code.acc == AccKind::kMaxSpan;
  if (by_parts) {
    update<__int128>(into, from, [&](__int128* a, __int128 b) { tie = agg::combine_best_parts(code, a, b); });
  } else if (code.phys == Phys::kStr) {
    update<StrView>(into, from, [&](StrView* a, const StrView& b) {
      if (b.len >= 0 && agg::text_replaces(b, *a, less)) *a = b;
    });
  } else {
    with_number_type(code.phys, [&](auto zero) {
      using T = decltype(zero);
      update<T>(into, from, [&](T* a, const T& b) { tie = agg::combine_best(less, a, b); });
    });
  }
  return tie;
}

}  // namespace

std::array<uint8_t, kLargestAccumulator> empty_accumulator(const AggregateCode& code) {
  std::array<uint8_t, kLargestAccumulator> bytes{};
  const auto write = [&](const auto& value) { std::memcpy(bytes.data(), &value, sizeof value); };
  const bool less = code.acc == AccKind::kMin || code.acc == AccKind::kMinSpan;
  switch (code.acc) {
    case AccKind::kMinSpan:
    case AccKind::kMaxSpan: write(agg::span_identity(less)); break;
    // -0 changes no sum, not even a sum of -0 alone. An average begins with 0.
    case AccKind::kSumF32: write(-0.0f); break;
    case AccKind::kSumF64: write(-0.0); break;
    case AccKind::kMin:
    case AccKind::kMax:
      if (code.phys == Phys::kStr)
        write(agg::kNoText);
      else
        with_number_type(code.phys, [&](auto zero) { write(agg::best_identity<decltype(zero)>(less)); });
      break;
    case AccKind::kBitAnd: std::fill_n(bytes.begin(), agg::accumulator_size(code), 0xff); break;
    default: break;
  }
  return bytes;
}

uint64_t accumulator_identity(const AggregateCode& code) {
  uint64_t first;
  std::memcpy(&first, empty_accumulator(code).data(), sizeof first);
  return first;
}

bool combine_accumulators(const AggregateCode& code, void* into, const void* from) {
  switch (code.acc) {
    case AccKind::kMin:
    case AccKind::kMax:
    case AccKind::kMinSpan:
    case AccKind::kMaxSpan: return combine_best(code, into, from);
    default: add_up(code, into, from); return false;
  }
}

bool depends_on_order(const AggregateCode& code) {
  const bool of_floats = code.phys == Phys::kF32 || code.phys == Phys::kF64;
  const bool is_best = code.acc == AccKind::kMin || code.acc == AccKind::kMax;
  return code.acc == AccKind::kSumF32 || code.acc == AccKind::kMinSpan || code.acc == AccKind::kMaxSpan ||
         (is_best && of_floats) || agg::is_of_decimals(code);
}

}  // namespace strom::engine::op
