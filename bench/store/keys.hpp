// The keys that clients request.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace strom::bench {

enum class Draw : uint8_t { kUniform, kZipf, kLatest };

/// Draws numbers below a count: uniformly; by YCSB's scrambled zipf with the constant 0.99; or by the same zipf from
/// the last number backwards.
class Keys {
 public:
  Keys(uint64_t count, Draw draw, uint64_t seed) : count_(count), draw_(draw), random_(seed) {
    if (draw == Draw::kUniform) return;
    for (uint64_t i = 1; i <= count; ++i) zeta_ += 1 / std::pow(static_cast<double>(i), kTheta);
    const double two = 1 + std::pow(0.5, kTheta);
    alpha_ = 1 / (1 - kTheta);
    eta_ = (1 - std::pow(2.0 / static_cast<double>(count), 1 - kTheta)) / (1 - two / zeta_);
  }

  /// `last`: the number after the last one, for kLatest.
  uint64_t next(uint64_t last) {
    const uint64_t random = random_();
    if (draw_ == Draw::kUniform) return scale(random);
    const uint64_t rank = zipf_rank(static_cast<double>(random >> 11) * 0x1p-53);
    if (draw_ == Draw::kLatest) return last - 1 - std::min(rank, last - 1);
    // Scatters popular keys over all keys.
    uint64_t hash = (rank + 1) * 0x9E3779B97F4A7C15;
    hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93;
    return scale(hash ^ (hash >> 32));
  }

 private:
  static constexpr double kTheta = 0.99;
  uint64_t zipf_rank(double u) const {
    const double uz = u * zeta_;
    if (uz < 1) return 0;
    if (uz < 1 + std::pow(0.5, kTheta)) return 1;
    return static_cast<uint64_t>(static_cast<double>(count_) * std::pow(eta_ * u - eta_ + 1, alpha_));
  }
  uint64_t scale(uint64_t random) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(random) * count_) >> 64);
  }
  uint64_t count_;
  Draw draw_;
  double zeta_ = 0, alpha_ = 0, eta_ = 0;
  std::mt19937_64 random_;
};

}  // namespace strom::bench
