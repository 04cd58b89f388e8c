// kvbench: gets of random keys from one store, by one thread, for some seconds; a line of JSON. Called by run.py.
//
//   kvbench load KIND ADDRESS ROWS BYTES
//   kvbench get KIND ADDRESS TOKEN ROWS uniform|zipf BATCH SECONDS
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "stores.hpp"

namespace strom::bench {

namespace {

using Clock = std::chrono::steady_clock;

/// Numbers below `count`: all alike, or as YCSB's scrambled zipf with the constant 0.99.
class Keys {
 public:
  Keys(uint64_t count, bool is_zipf) : count_(count), is_zipf_(is_zipf) {
    if (!is_zipf) return;
    for (uint64_t i = 1; i <= count; ++i) zeta_ += 1 / std::pow(static_cast<double>(i), kTheta);
    const double two = 1 + std::pow(0.5, kTheta);
    alpha_ = 1 / (1 - kTheta);
    eta_ = (1 - std::pow(2.0 / static_cast<double>(count), 1 - kTheta)) / (1 - two / zeta_);
  }

  uint64_t next() {
    const uint64_t random = random_();
    if (!is_zipf_) return scale(random);
    const double u = static_cast<double>(random >> 11) * 0x1p-53, uz = u * zeta_;
    uint64_t rank = 0;
    if (uz >= 1)
      rank = uz < 1 + std::pow(0.5, kTheta)
                 ? 1
                 : static_cast<uint64_t>(static_cast<double>(count_) * std::pow(eta_ * u - eta_ + 1, alpha_));
    // Popular keys are anywhere.
    uint64_t hash = (rank + 1) * 0x9E3779B97F4A7C15;
    hash = (hash ^ (hash >> 32)) * 0xD6E8FEB86659FD93;
    return scale(hash ^ (hash >> 32));
  }

 private:
  static constexpr double kTheta = 0.99;
  uint64_t scale(uint64_t random) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(random) * count_) >> 64);
  }
  uint64_t count_;
  bool is_zipf_;
  double zeta_ = 0, alpha_ = 0, eta_ = 0;
  std::mt19937_64 random_{1};
};

void read(Store* store, uint64_t rows, bool is_zipf, size_t batch, double seconds) {
  // Keys are drawn before, so that drawing is not measured.
  constexpr size_t kDrawn = 1 << 20;
  Keys source(rows, is_zipf);
  std::vector<uint64_t> drawn(kDrawn);
  for (uint64_t& key : drawn) key = source.next();
  std::vector<uint64_t> keys(batch);
  std::vector<float> call_us;
  uint64_t gets = 0, right = 0;
  size_t at = 0;
  constexpr uint64_t kSampled = 16;
  constexpr double kMicro = 1e6;
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration<double>(seconds);
  auto now = begin;
  for (uint64_t call = 0; now < end; ++call) {
    for (uint64_t& key : keys) key = drawn[at++ % kDrawn];
    const bool is_sampled = call % kSampled == 0;
    const auto before = is_sampled ? Clock::now() : now;
    right += store->get(keys);
    gets += batch;
    if (!is_sampled) continue;
    now = Clock::now();
    call_us.push_back(static_cast<float>(std::chrono::duration<double>(now - before).count() * kMicro));
  }
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  std::sort(call_us.begin(), call_us.end());
  const auto percentile = [&](double share) {
    return call_us[static_cast<size_t>(share * static_cast<double>(call_us.size() - 1))];
  };
  std::printf(
      "{\"gets\": %lu, \"wrong\": %lu, \"per_second\": %.0f, \"p50_us\": %.2f, \"p99_us\": %.2f, \"p999_us\": %.2f}\n",
      gets, gets - right, static_cast<double>(gets) / took, percentile(0.5), percentile(0.99), percentile(0.999));
}

int run(const std::vector<std::string>& words) {
  constexpr size_t kLoad = 5, kGet = 8;
  const auto number = [&](size_t i) { return std::strtoull(words[i].c_str(), nullptr, 10); };
  if (words.size() == kLoad && words[0] == "load") {
    open_store(words[1], words[2], "")->load(number(3), number(4));
    return 0;
  }
  if (words.size() != kGet || words[0] != "get") return 2;
  read(open_store(words[1], words[2], words[3]).get(), number(4), words[5] == "zipf", number(6),
       static_cast<double>(number(7)));
  return 0;
}

}  // namespace

}  // namespace strom::bench

int main(int argc, char** argv) {
  try {
    return strom::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kvbench: %s\n", error.what());
    return 1;
  }
}
