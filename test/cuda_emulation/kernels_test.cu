// The kernels of kernels.hpp against the same computation on the host. Compiled twice: by nvcc, then its PTX is
// interpreted, and as C++ over simt.hpp (simt_kernels_test.cpp).

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "cuda_emulation/device_array.hpp"
#include "cuda_emulation/kernels.hpp"

namespace strom::cuda_emulation {
namespace {

template <class T>
std::vector<T> random_values(std::size_t count, T low, T high, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<long long> pick(low, high);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(pick(random));
  return values;
}

TEST(CudaKernels, Sum) {
  for (const std::size_t rows : {0, 1, 31, 1000, 50'000}) {
    const auto values = random_values<std::int64_t>(rows, -1'000'000'000'000, 1'000'000'000'000);
    const DeviceArray<std::int64_t> in(values);
    const DeviceArray<unsigned long long> total(1, 0);
    STROM_LAUNCH(sum_kernel, dim3(5), dim3(128), 0, in.get(), rows, total.get());
    std::uint64_t expected = 0;
    for (const std::int64_t value : values) expected += static_cast<std::uint64_t>(value);
    EXPECT_EQ(total.to_host()[0], expected) << rows;
  }
}

TEST(CudaKernels, CompactKeepsEveryMatch) {
  const auto values = random_values<std::int32_t>(20'001, -1000, 1000);
  const DeviceArray<std::int32_t> in(values), out(values.size(), 0);
  const DeviceArray<unsigned> kept(1, 0);
  STROM_LAUNCH(compact_kernel, dim3(4), dim3(160), 0, in.get(), unsigned(values.size()), 137, out.get(), kept.get());
  std::vector<std::int32_t> expected, found = out.to_host();
  for (const std::int32_t value : values) {
    if (value < 137) expected.push_back(value);
  }
  ASSERT_EQ(kept.to_host()[0], expected.size());
  found.resize(expected.size());
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, expected);
}

TEST(CudaKernels, HashAggregate) {
  const auto keys = random_values<std::int64_t>(30'000, 0, 700);
  const auto values = random_values<std::int32_t>(keys.size(), -5000, 5000, 2);
  Group empty{};
  empty.key = kEmptyKey;
  empty.minimum = INT_MAX;
  empty.maximum = INT_MIN;
  const DeviceArray<std::int64_t> device_keys(keys);
  const DeviceArray<std::int32_t> device_values(values);
  const DeviceArray<Group> groups(1024, empty);
  STROM_LAUNCH(aggregate_kernel, dim3(6), dim3(96), 0, device_keys.get(), device_values.get(), unsigned(keys.size()),
               groups.get(), 1023u);
  std::map<std::int64_t, Group> expected;
  for (std::size_t i = 0; i < keys.size(); i++) {
    Group& group = expected.emplace(keys[i], empty).first->second;
    group.sum += static_cast<unsigned long long>(std::int64_t(values[i]));
    group.sum_double += values[i] * 0.25;
    group.minimum = std::min(group.minimum, values[i]);
    group.maximum = std::max(group.maximum, values[i]);
    group.rows++;
    group.flags |= 1u << (values[i] & 31);
  }
  std::size_t found = 0;
  for (const Group& group : groups.to_host()) {
    if (group.key == kEmptyKey) continue;
    found++;
    const Group& wanted = expected.at(group.key);
    EXPECT_EQ(group.sum, wanted.sum);
    EXPECT_EQ(group.sum_double, wanted.sum_double);  // multiples of 1/4: no rounding
    EXPECT_EQ(group.minimum, wanted.minimum);
    EXPECT_EQ(group.maximum, wanted.maximum);
    EXPECT_EQ(group.rows, wanted.rows);
    EXPECT_EQ(group.flags, wanted.flags);
  }
  EXPECT_EQ(found, expected.size());
}

TEST(CudaKernels, HistogramInDynamicSharedMemory) {
  const auto keys = random_values<std::uint8_t>(9'999, 0, 255);
  const DeviceArray<std::uint8_t> in(keys);
  const DeviceArray<unsigned> counts(256, 0);
  STROM_LAUNCH(histogram_kernel, dim3(3), dim3(64), 1024, in.get(), unsigned(keys.size()), counts.get());
  std::vector<unsigned> expected(256);
  for (const std::uint8_t key : keys) expected[key]++;
  EXPECT_EQ(counts.to_host(), expected);
}

TEST(CudaKernels, Decimal128) {
  std::mt19937_64 random(3);
  std::vector<Decimal> left, right;
  std::vector<int> digits;
  const std::uint64_t extremes[] = {0, 1, ~0ull, 1ull << 63, (1ull << 63) - 1, 10, 999'999'999'999'999'999ull};
  for (const std::uint64_t a : extremes) {
    for (const std::uint64_t b : extremes) {
      left.push_back({a, std::int64_t(b)});
      right.push_back({b, std::int64_t(a)});
    }
  }
  for (int i = 0; i < 1000; i++) {
    left.push_back({random(), std::int64_t(random()) >> (random() % 64)});
    right.push_back({random() >> (random() % 64), i % 3 == 0 ? std::int64_t(random()) >> (random() % 64) : -(i % 2)});
  }
  for (std::size_t i = 0; i < left.size(); i++) {
    digits.push_back(int(i % 39));
    // The one quotient that overflows.
    if (to_int128(right[i]) == -1 && left[i].low == 0 && left[i].high == INT64_MIN) right[i].low = 3;
  }
  const DeviceArray<Decimal> device_left(left), device_right(right);
  const DeviceArray<int> device_digits(digits);
  const DeviceArray<DecimalResult> results(left.size(), DecimalResult{});
  STROM_LAUNCH(decimal_kernel, dim3(unsigned(left.size() / 64 + 1)), dim3(64), 0, device_left.get(), device_right.get(),
               device_digits.get(), unsigned(left.size()), results.get());
  const auto found = results.to_host();
  for (std::size_t i = 0; i < left.size(); i++) {
    Int128 sum, product;
    const bool sum_overflows = __builtin_add_overflow(to_int128(left[i]), to_int128(right[i]), &sum);
    const bool product_overflows = __builtin_mul_overflow(to_int128(left[i]), to_int128(right[i]), &product);
    EXPECT_EQ(found[i].sum_overflows, unsigned(sum_overflows)) << i;
    EXPECT_EQ(found[i].product_overflows, unsigned(product_overflows)) << i;
    EXPECT_TRUE(to_int128(found[i].sum) == sum) << i;
    EXPECT_TRUE(to_int128(found[i].product) == product) << i;
    const DecimalResult host = decimal_row(left[i], right[i], digits[i]);
    EXPECT_TRUE(to_int128(found[i].quotient) == to_int128(host.quotient)) << i;
    EXPECT_TRUE(to_int128(found[i].remainder) == to_int128(host.remainder)) << i;
  }
}

TEST(CudaKernels, OpCodeInterpreterOverTiles) {
  constexpr unsigned kTile = 96;
  constexpr unsigned kRows = 1000;
  std::vector<Op> program = {
      {OpCode::kLoad, 0, 0, 0, 0, 0}, {OpCode::kLoad, 1, 0, 0, 1, 0}, {OpCode::kConstant, 2, 0, 0, 0, -7}};
  // Every op-code on every pair of registers, then a digest of all of them.
  for (int code = int(OpCode::kAdd); code <= int(OpCode::kHash); code++) {
    program.push_back(
        {OpCode(code), std::uint8_t(3 + code % 4), std::uint8_t(code % 3), std::uint8_t((code + 1) % 3), 0, 0});
    program.push_back({OpCode::kHash, 7, 7, std::uint8_t(3 + code % 4), 0, 0});
    program.push_back({OpCode::kXor, 7, 7, std::uint8_t(3 + code % 4), 0, 0});
  }
  program.push_back({OpCode::kNeighbour, 4, 0, 0, 0, 0});
  program.push_back({OpCode::kStore, 0, 7, 0, 0, 0});
  program.push_back({OpCode::kStore, 0, 4, 0, 1, 0});
  program.push_back({OpCode::kEnd, 0, 0, 0, 0, 0});

  const auto first = random_values<std::int64_t>(kRows, INT64_MIN, INT64_MAX),
             second = random_values<std::int64_t>(kRows, -70, 70, 9);
  const DeviceArray<std::int64_t> a(first), b(second), out_a(kRows, 0), out_b(kRows, 0);
  const DeviceArray<const std::int64_t*> columns(std::vector<const std::int64_t*>{a.get(), b.get()});
  const DeviceArray<std::int64_t*> outputs(std::vector<std::int64_t*>{out_a.get(), out_b.get()});
  const DeviceArray<Op> device_program(program);
  STROM_LAUNCH(opcode_kernel, dim3((kRows + kTile - 1) / kTile), dim3(kTile), kTile * kTileRegisters * 8,
               device_program.get(), columns.get(), kRows, outputs.get());
  const auto digests = out_a.to_host(), neighbours = out_b.to_host();
  for (unsigned row = 0; row < kRows; row++) {
    std::int64_t r[kTileRegisters] = {};
    for (const Op& op : program) {
      if (op.code == OpCode::kLoad) {
        r[op.dst] = op.column == 0 ? first[row] : second[row];
      } else if (op.code < OpCode::kNeighbour) {
        r[op.dst] = element(op, r[op.a], r[op.b], r[op.dst]);
      }
    }
    EXPECT_EQ(digests[row], r[7]) << row;
    const unsigned tile = row / kTile * kTile, next = tile + (row - tile + 1) % kTile;
    EXPECT_EQ(neighbours[row], next < kRows ? first[next] : 0) << row;
  }
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(CudaKernels, FloatingPoint) {
  const double special[] = {0.0,
                            -0.0,
                            1.0,
                            -1.5,
                            2.5,
                            3.5,
                            1e300,
                            -1e-300,
                            5e-324,
                            1e18,
                            9.3e18,
                            -9.3e18,
                            2147483647.5,
                            -2147483648.9,
                            0.1,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(),
                            1e-40,
                            3.4e38,
                            16777217.0};
  std::vector<double> left, right;
  std::vector<std::int64_t> integers;
  for (const double a : special) {
    for (const double b : special) {
      left.push_back(a);
      right.push_back(b);
      integers.push_back(std::int64_t(left.size()) * 0x123456789abcdll - 77);
    }
  }
  const DeviceArray<double> a(left), b(right);
  const DeviceArray<std::int64_t> n(integers);
  const DeviceArray<FloatResult> results(left.size(), FloatResult{});
  STROM_LAUNCH(float_kernel, dim3(8), dim3(64), 0, a.get(), b.get(), n.get(), unsigned(left.size()), results.get());
  const auto found = results.to_host();
  for (std::size_t i = 0; i < left.size(); i++) {
    const double x = left[i], y = right[i];
    const float fx = float(x), fy = float(y);
    const FloatResult& r = found[i];
    SCOPED_TRACE(std::to_string(x) + " " + std::to_string(y));
    EXPECT_TRUE(same(r.sum, x + y));
    EXPECT_TRUE(same(r.product, x * y));
    EXPECT_TRUE(same(r.quotient, x / y));
    EXPECT_TRUE(same(r.fused, std::fma(x, y, 1.5)));
    EXPECT_TRUE(same(r.root, std::sqrt(std::fabs(x))));
    if (!(x == 0 && y == 0)) {  // C leaves the sign of that zero open
      EXPECT_TRUE(same(r.minimum, std::fmin(x, y)));
      EXPECT_TRUE(same(r.maximum, std::fmax(x, y)));
    }
    EXPECT_TRUE(same(r.floor, std::floor(x)));
    EXPECT_TRUE(same(r.ceiling, std::ceil(x)));
    EXPECT_TRUE(same(r.nearest, std::rint(x)));
    EXPECT_TRUE(same(r.truncated, std::trunc(x)));
    EXPECT_TRUE(same(r.narrowed, fx));
    EXPECT_TRUE(same(r.single_sum, fx + fy));
    EXPECT_TRUE(same(r.single_quotient, fx / fy));
    EXPECT_TRUE(same(r.single_fused, std::fma(fx, fy, 0.5f)));
    EXPECT_EQ(r.to_int64, clamp_to_int64(x));
    EXPECT_EQ(r.to_int32, clamp_to_int32(y));
    EXPECT_EQ(r.compared, compare_doubles(x, y));
    EXPECT_EQ(r.to_uint8, std::uint8_t(integers[i]));
    EXPECT_EQ(r.to_int16, std::int16_t(integers[i] >> 3));
    EXPECT_EQ(r.from_int64, double(integers[i]));
    EXPECT_EQ(r.from_uint32, float(std::uint32_t(integers[i])));
  }
}

TEST(CudaKernels, CompareStrings) {
  std::mt19937 random(5);
  std::string bytes;
  std::vector<std::int32_t> offsets = {0};
  for (int i = 0; i < 600; i++) {
    for (unsigned k = random() % 20; k > 0; k--) bytes += char("ab\x80\xff"[random() % 4]);
    offsets.push_back(int(bytes.size()));
  }
  const unsigned rows = 300;
  const DeviceArray<std::uint8_t> device_bytes(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  const DeviceArray<std::int32_t> device_offsets(offsets);
  const DeviceArray<std::int8_t> results(rows, 0);
  STROM_LAUNCH(compare_strings_kernel, dim3(3), dim3(128), 0, device_bytes.get(), device_offsets.get(),
               device_offsets.get() + 300, rows, results.get());
  const auto found = results.to_host();
  const auto text = [&](unsigned i) { return bytes.substr(offsets[i], offsets[i + 1] - offsets[i]); };
  for (unsigned i = 0; i < rows; i++) {
    const int order = text(i).compare(text(i + 300));
    EXPECT_EQ(int(found[i]), order < 0 ? -1 : order > 0 ? 1 : 0) << i;
  }
}

TEST(CudaKernels, DeviceFunctionCalls) {
  const auto in = random_values<std::int64_t>(200, 1, 1'000'000);
  const DeviceArray<std::int64_t> device_in(in), steps(in.size(), 0);
  const DeviceArray<Pair> out(in.size(), Pair{});
  STROM_LAUNCH(call_kernel, dim3(2), dim3(128), 0, device_in.get(), unsigned(in.size()), out.get(), steps.get());
  const auto pairs = out.to_host();
  const auto counts = steps.to_host();
  const std::int64_t fibonacci_numbers[] = {0, 1, 1, 2, 3, 5, 8, 13};
  for (std::size_t i = 0; i < in.size(); i++) {
    std::int64_t count = 0;
    for (const std::int64_t start : {in[i], in[i] + 1}) {
      const std::int64_t from = start == in[i] + 1 ? in[i] + 1 : start;
      for (std::int64_t rest = from; rest > 1; rest = rest % 2 != 0 ? 3 * rest + 1 : rest / 2) count++;
    }
    EXPECT_EQ(counts[i], count);
    EXPECT_EQ(pairs[i].first, (in[i] + 1) * -2 + fibonacci_numbers[in[i] & 7]);
    EXPECT_EQ(pairs[i].second, 1.25 + 0.5 * double(count));
  }
}

TEST(CudaKernels, LinkedLists) {
  const unsigned rows = 70;
  std::vector<Node> nodes(rows * 20);
  const DeviceArray<Node> device_nodes(nodes.size(), Node{});
  std::vector<const Node*> heads(rows, nullptr);
  std::vector<std::int64_t> expected(rows);
  for (unsigned i = 0; i < rows; i++) {
    for (unsigned k = 0; k < i % 20; k++) {
      const unsigned place = (k * rows + i * 7) % nodes.size();
      if (nodes[place].value != 0) continue;
      nodes[place] = {std::int64_t(place) + 1, heads[i]};
      heads[i] = device_nodes.get() + place;
      expected[i] += place + 1;
    }
  }
  copy_to_device(device_nodes.get(), nodes.data(), nodes.size() * sizeof(Node));
  const DeviceArray<const Node*> device_heads(heads);
  const DeviceArray<std::int64_t> sums(rows, 0);
  STROM_LAUNCH(list_kernel, dim3(1), dim3(96), 0, device_heads.get(), rows, sums.get());
  EXPECT_EQ(sums.to_host(), expected);
}

TEST(CudaKernels, TablesAndLocalArrays) {
  const auto in = random_values<std::int32_t>(256, 0, 1'000'000'000);
  const DeviceArray<std::int32_t> device_in(in);
  const DeviceArray<std::int64_t> out(in.size(), 0);
  STROM_LAUNCH(table_kernel, dim3(2), dim3(128), 0, device_in.get(), unsigned(in.size()), out.get());
  const auto found = out.to_host();
  const int weights[8] = {1, 2, 3, 5, 8, 13, 21, 65535};
  for (std::size_t i = 0; i < in.size(); i++) {
    int digits[10] = {};
    for (std::int32_t rest = in[i]; rest > 0; rest /= 10) digits[rest % 10]++;
    std::int64_t sum = 0;
    for (int k = 0; k < 10; k++) sum = sum * 11 + digits[(k + in[i]) % 10];
    EXPECT_EQ(found[i], sum + weights[in[i] & 7]) << in[i];
  }
#if defined(__CUDACC__)
  std::int32_t counter = 0;
  check(cudaMemcpyFromSymbol(&counter, global_counter, sizeof(counter)));
  EXPECT_EQ(counter, 40 + 256);
#else
  EXPECT_EQ(global_counter, 40 + 256);
#endif
}

TEST(CudaKernels, WarpOperations) {
  const auto in = random_values<int>(96, 0, 100);
  const DeviceArray<int> device_in(in), out(in.size() * kWarpResults, 0);
  STROM_LAUNCH(warp_kernel, dim3(1), dim3(96), 0, device_in.get(), out.get());
  const auto found = out.to_host();
  const auto over_50 = std::count_if(in.begin(), in.end(), [](int v) { return v > 50; });
  for (int i = 0; i < 96; i++) {
    const int lane = i % 32;
    const int* warp = in.data() + i / 32 * 32;
    const int* r = found.data() + i * kWarpResults;
    unsigned ballot = 0, peers = 0;
    int sum = 0;
    bool any = false;
    for (int n = 0; n < 32; n++) {
      ballot |= unsigned(warp[n] > 50) << n;
      peers |= unsigned((warp[n] & 3) == (in[i] & 3)) << n;
      sum += warp[n];
      any |= warp[n] == 17;
    }
    SCOPED_TRACE(i);
    EXPECT_EQ(r[0], warp[in[i] & 31]);
    EXPECT_EQ(r[1], warp[lane ^ 5]);
    EXPECT_EQ(r[2], lane % 8 >= 3 ? warp[lane - 3] : in[i]);
    EXPECT_EQ(r[3], lane % 16 + 3 < 16 ? warp[lane + 3] : in[i]);
    EXPECT_EQ(unsigned(r[4]), ballot);
    EXPECT_EQ(r[5], any * 2 + 1);
    EXPECT_EQ(unsigned(r[6]), peers);
    EXPECT_EQ(r[7], lane % 3 == 0 ? warp[9] : -1);
    EXPECT_EQ(r[8], warp[1]);
    EXPECT_EQ(r[9], over_50);
    EXPECT_EQ(r[10], (std::count(in.begin(), in.end(), 17) != 0) + 2);
    EXPECT_EQ(r[11], sum + __builtin_popcount(in[i]) + (in[i] == 0 ? 32 : __builtin_clz(in[i])) + __builtin_ffs(in[i]));
  }
}

// ---- errors

template <class F>
std::string failure_of(F launch_and_finish) {
  std::string message = "no failure";
  try {
    launch_and_finish();
  } catch (const std::exception& e) {
    message = e.what();
  }
#if defined(__CUDACC__)
  check(cudaDeviceReset());
#endif
  return message;
}

TEST(CudaKernelErrors, DivergentBarrierIsReported) {
  const std::string message = failure_of([] {
    const DeviceArray<int> out(64, 0);
    STROM_LAUNCH(divergent_barrier_kernel, dim3(1), dim3(32), 0, out.get());
    finish();
  });
  EXPECT_NE(message.find("deadlock or divergent barrier"), std::string::npos) << message;
  EXPECT_NE(message.find("; thread"), std::string::npos) << message;
}

TEST(CudaKernelErrors, BarriersInTwoBranchesAreReported) {
  const std::string message = failure_of([] {
    const DeviceArray<int> out(128, 0);
    STROM_LAUNCH(two_barriers_kernel, dim3(1), dim3(64), 0, out.get(), 32);
    finish();
  });
  EXPECT_NE(message.find("divergent barrier"), std::string::npos) << message;
}

TEST(CudaKernelErrors, TrapIsReported) {
  const std::string message = failure_of([] {
    const DeviceArray<int> in(random_values<int>(1000, 0, 9));
    STROM_LAUNCH(trap_kernel, dim3(1), dim3(1000), 0, in.get());
    finish();
  });
  EXPECT_NE(message.find("trap"), std::string::npos) << message;
}

#if defined(__CUDACC__)

TEST(CudaKernelErrors, SharedIndexOutOfBounds) {
  const std::string message = failure_of([] {
    const DeviceArray<int> out(32, 0);
    STROM_LAUNCH(shared_index_kernel, dim3(1), dim3(32), 0, out.get(), 1);
    finish();
  });
  EXPECT_NE(message.find("shared memory out of bounds"), std::string::npos) << message;
  EXPECT_NE(message.find("shared_index_kernel"), std::string::npos) << message;
}

TEST(CudaKernelErrors, GlobalIndexOutOfBounds) {
  for (const int index : {8, -1, 100'000'000}) {
    const std::string message = failure_of([&] {
      const DeviceArray<int> out(8, 0);
      STROM_LAUNCH(global_index_kernel, dim3(1), dim3(1), 0, out.get(), index);
      finish();
    });
    EXPECT_NE(message.find("not device memory"), std::string::npos) << index << message;
  }
}

TEST(CudaKernelErrors, HostMemoryIsNotDeviceMemory) {
  std::vector<int> host(8);
  const std::string message = failure_of([&] {
    STROM_LAUNCH(global_index_kernel, dim3(1), dim3(1), 0, host.data(), 0);
    finish();
  });
  EXPECT_NE(message.find("not device memory"), std::string::npos) << message;
}

#endif

}  // namespace
}  // namespace strom::cuda_emulation
