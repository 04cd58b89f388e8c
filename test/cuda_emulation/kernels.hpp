// Kernels that exercise the emulation: one source, compiled by nvcc to PTX and by the host compiler over simt.hpp
// (kernels_test.cu, both ways). Each does what one part of a columnar engine does on a device.
#pragma once

#include "cuda_emulation/cuda_kernel.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace strom::cuda_emulation {

using Int128 = __int128;

inline constexpr unsigned kFullWarp = 0xffffffffu;
inline constexpr std::int64_t kEmptyKey = -1;

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  for (int step = 16; step > 0; step >>= 1) value += __shfl_down_sync(kFullWarp, value, step);
  return value;
}

// The sum of one value per thread, valid in thread 0.
template <class T>
__device__ T block_sum(T value) {
  __shared__ T partial[32];
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  value = warp_sum(value);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = threadIdx.x < warps ? partial[lane] : T(0);
  if (warp == 0) value = warp_sum(value);
  __syncthreads();
  return value;
}

__global__ void sum_kernel(const std::int64_t* values, std::uint64_t rows, unsigned long long* total) {
  std::int64_t sum = 0;
  const std::uint64_t step = std::uint64_t(gridDim.x) * blockDim.x;
  for (std::uint64_t i = blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x; i < rows; i += step) sum += values[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(total, static_cast<unsigned long long>(sum));
}

// Position of this thread's row among the block's rows that passed; *total is their number.
__device__ inline unsigned block_rank(bool keep, unsigned* total) {
  __shared__ unsigned offset[33];
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = (blockDim.x + 31) >> 5;
  const unsigned votes = __ballot_sync(kFullWarp, keep);
  if (lane == 0) offset[warp] = __popc(votes);
  __syncthreads();
  if (warp == 0) {
    const unsigned own = lane < warps ? offset[lane] : 0;
    unsigned scan = own;
    for (unsigned step = 1; step < 32; step <<= 1) {
      const unsigned below = __shfl_up_sync(kFullWarp, scan, step);
      if (lane >= step) scan += below;
    }
    offset[lane] = scan - own;
    if (lane == 31) offset[32] = scan;
  }
  __syncthreads();
  const unsigned rank = offset[warp] + __popc(votes & ((1u << lane) - 1));
  *total = offset[32];
  __syncthreads();
  return rank;
}

__global__ void compact_kernel(const std::int32_t* values, unsigned rows, std::int32_t limit, std::int32_t* kept,
                               unsigned* kept_rows) {
  __shared__ unsigned base;
  for (unsigned first = blockIdx.x * blockDim.x; first < rows; first += gridDim.x * blockDim.x) {
    const unsigned i = first + threadIdx.x;
    const bool keep = i < rows && values[i] < limit;
    unsigned total;
    const unsigned rank = block_rank(keep, &total);
    if (threadIdx.x == 0) base = atomicAdd(kept_rows, total);
    __syncthreads();
    if (keep) kept[base + rank] = values[i];
    __syncthreads();
  }
}

struct Group {
  long long key;
  unsigned long long sum;
  double sum_double;
  int minimum, maximum;
  unsigned rows, flags;
};

__host__ __device__ inline std::uint64_t mix(std::uint64_t key) {
  key ^= key >> 33;
  key *= 0xff51afd7ed558ccdull;
  key ^= key >> 33;
  return key;
}

// `groups` has a power of two of slots with key kEmptyKey, minimum INT_MAX, maximum INT_MIN, all else 0.
__global__ void aggregate_kernel(const std::int64_t* keys, const std::int32_t* values, unsigned rows, Group* groups,
                                 unsigned mask) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x) {
    unsigned slot = unsigned(mix(keys[i])) & mask;
    for (;;) {
      const auto found = static_cast<std::int64_t>(atomicCAS(reinterpret_cast<unsigned long long*>(&groups[slot].key),
                                                             static_cast<unsigned long long>(kEmptyKey),
                                                             static_cast<unsigned long long>(keys[i])));
      if (found == kEmptyKey || found == keys[i]) break;
      slot = (slot + 1) & mask;
    }
    Group& group = groups[slot];
    atomicAdd(&group.sum, static_cast<unsigned long long>(std::int64_t(values[i])));
    atomicAdd(&group.sum_double, values[i] * 0.25);
    atomicMin(&group.minimum, values[i]);
    atomicMax(&group.maximum, values[i]);
    atomicAdd(&group.rows, 1u);
    atomicOr(&group.flags, 1u << (values[i] & 31));
  }
}

// A histogram in dynamic shared memory where lanes with equal keys elect one that adds for all of them.
__global__ void histogram_kernel(const std::uint8_t* keys, unsigned rows, unsigned* counts) {
  STROM_DYNAMIC_SHARED(unsigned, local);
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  const unsigned padded = (rows + 31) & ~31u;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < padded; i += gridDim.x * blockDim.x) {
    const int key = i < rows ? keys[i] : -1;
    const unsigned peers = __match_any_sync(kFullWarp, key);
    if (key >= 0 && int(threadIdx.x & 31) == __ffs(int(peers)) - 1) atomicAdd(&local[key], unsigned(__popc(peers)));
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
    if (local[i] != 0) atomicAdd(&counts[i], local[i]);
  }
}

// ---- 128-bit decimals

struct Decimal {
  std::uint64_t low;
  std::int64_t high;
};

__host__ __device__ inline Int128 to_int128(Decimal value) {
  return static_cast<Int128>((static_cast<unsigned __int128>(static_cast<std::uint64_t>(value.high)) << 64) |
                             value.low);
}

__host__ __device__ inline Decimal to_decimal(Int128 value) {
  return {static_cast<std::uint64_t>(value), static_cast<std::int64_t>(value >> 64)};
}

__host__ __device__ inline bool add_overflows(Int128 left, Int128 right, Int128* sum) {
  const auto wrapped = static_cast<unsigned __int128>(left) + static_cast<unsigned __int128>(right);
  *sum = static_cast<Int128>(wrapped);
  return ((left ^ *sum) & (right ^ *sum)) < 0;
}

// Schoolbook product of the magnitudes in 64-bit halves.
__host__ __device__ inline bool multiply_overflows(Int128 left, Int128 right, Int128* product) {
  using Unsigned = unsigned __int128;
  const bool negative = (left < 0) != (right < 0);
  const Unsigned a = left < 0 ? -static_cast<Unsigned>(left) : static_cast<Unsigned>(left);
  const Unsigned b = right < 0 ? -static_cast<Unsigned>(right) : static_cast<Unsigned>(right);
  const std::uint64_t a_high = static_cast<std::uint64_t>(a >> 64), b_high = static_cast<std::uint64_t>(b >> 64);
  const std::uint64_t a_low = static_cast<std::uint64_t>(a), b_low = static_cast<std::uint64_t>(b);
  const Unsigned cross = static_cast<Unsigned>(a_high) * b_low + static_cast<Unsigned>(b_high) * a_low;
  const Unsigned low = static_cast<Unsigned>(a_low) * b_low;
  const Unsigned magnitude = low + (cross << 64);
  *product = static_cast<Int128>(negative ? -magnitude : magnitude);
  if ((a_high != 0 && b_high != 0) || (cross >> 64) != 0 || magnitude < low) return true;
  return magnitude != 0 && (*product < 0) != negative;
}

__host__ __device__ inline Int128 divide_by_power_of_ten(Int128 value, int digits) {
  Int128 divisor = 1;
  for (int i = 0; i < digits; i++) divisor *= 10;
  return value / divisor;
}

struct DecimalResult {
  Decimal sum, product, quotient, remainder;
  std::uint32_t sum_overflows, product_overflows;
};

__host__ __device__ inline DecimalResult decimal_row(Decimal left, Decimal right, int digits) {
  Int128 sum, product;
  DecimalResult result;
  result.sum_overflows = add_overflows(to_int128(left), to_int128(right), &sum);
  result.product_overflows = multiply_overflows(to_int128(left), to_int128(right), &product);
  result.sum = to_decimal(sum);
  result.product = to_decimal(product);
  const Int128 quotient = divide_by_power_of_ten(to_int128(left), digits);
  result.quotient = to_decimal(quotient);
  result.remainder = to_decimal(to_int128(right) == 0 ? Int128(0) : to_int128(left) % to_int128(right));
  return result;
}

__global__ void decimal_kernel(const Decimal* left, const Decimal* right, const int* digits, unsigned rows,
                               DecimalResult* results) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) results[i] = decimal_row(left[i], right[i], digits[i]);
}

// ---- an op-code interpreter over tiles

enum class OpCode : std::uint8_t {
  kLoad,
  kConstant,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,
  kAbsolute,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kLess,
  kEqual,
  kSelect,
  kMinimum,
  kMaximum,
  kPopCount,
  kRotate,
  kHash,
  kNeighbour,
  kStore,
  kEnd,
};

struct Op {
  OpCode code;
  std::uint8_t dst, a, b;
  std::int32_t column;
  std::int64_t constant;
};

inline constexpr int kTileRegisters = 8;

// Element function of an op-code that needs only its own row; shared by host and device.
__host__ __device__ inline std::int64_t element(const Op& op, std::int64_t a, std::int64_t b, std::int64_t old) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  const unsigned count = unsigned(ub & 63);
  switch (op.code) {
    case OpCode::kConstant: return op.constant;
    case OpCode::kAdd: return std::int64_t(ua + ub);
    case OpCode::kSubtract: return std::int64_t(ua - ub);
    case OpCode::kMultiply: return std::int64_t(ua * ub);
    case OpCode::kDivide: return b == 0 || b == -1 ? 0 : a / b;
    case OpCode::kNegate: return std::int64_t(0 - ua);
    case OpCode::kAbsolute: return a < 0 ? std::int64_t(0 - ua) : a;
    case OpCode::kAnd: return a & b;
    case OpCode::kOr: return a | b;
    case OpCode::kXor: return a ^ b;
    case OpCode::kShiftLeft: return std::int64_t(ua << count);
    case OpCode::kShiftRight: return a >> count;
    case OpCode::kLess: return a < b;
    case OpCode::kEqual: return a == b;
    case OpCode::kSelect: return a != 0 ? b : old;
    case OpCode::kMinimum: return a < b ? a : b;
    case OpCode::kMaximum: return a < b ? b : a;
    case OpCode::kPopCount: {
      std::int64_t bits = 0;
      for (std::uint64_t rest = ua; rest != 0; rest &= rest - 1) bits++;
      return bits;
    }
    case OpCode::kRotate: return std::int64_t((ua << count) | (ua >> ((64 - count) & 63)));
    case OpCode::kHash: return std::int64_t(mix(ua) ^ (ub >> 1));
    default: return old;
  }
}

// One tile per block, one row per thread; tile registers are rows of `registers` in dynamic shared memory.
__global__ void opcode_kernel(const Op* program, const std::int64_t* const* columns, unsigned rows,
                              std::int64_t* const* outputs) {
  STROM_DYNAMIC_SHARED(std::int64_t, registers);
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < kTileRegisters; i++) registers[i * blockDim.x + threadIdx.x] = 0;
  for (const Op* op = program;; op++) {
    std::int64_t* dst = registers + op->dst * blockDim.x + threadIdx.x;
    const std::int64_t* a = registers + op->a * blockDim.x;
    const std::int64_t* b = registers + op->b * blockDim.x;
    switch (op->code) {
      case OpCode::kEnd: return;
      case OpCode::kLoad: *dst = row < rows ? columns[op->column][row] : 0; break;
      case OpCode::kStore:
        if (row < rows) outputs[op->column][row] = a[threadIdx.x];
        break;
      case OpCode::kNeighbour: {  // the value of the next row of the tile: needs the whole block
        __syncthreads();
        const std::int64_t next = a[(threadIdx.x + 1) % blockDim.x];
        __syncthreads();
        *dst = next;
        break;
      }
      default: *dst = element(*op, a[threadIdx.x], b[threadIdx.x], *dst);
    }
  }
}

// ---- floating point

struct FloatResult {
  double sum, product, quotient, fused, root, minimum, maximum, floor, ceiling, nearest, truncated;
  float narrowed, single_sum, single_quotient, single_fused;
  std::int64_t to_int64;
  std::int32_t to_int32, compared;
  std::uint8_t to_uint8;
  std::int16_t to_int16;
  double from_int64;
  float from_uint32;
};

__host__ __device__ inline std::int64_t clamp_to_int64(double value) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) return 0;
  return static_cast<std::int64_t>(value);
}

__host__ __device__ inline std::int32_t clamp_to_int32(double value) {
  if (!(value > -2147483649.0 && value < 2147483648.0)) return -1;
  return static_cast<std::int32_t>(value);
}

__host__ __device__ inline std::int32_t compare_doubles(double a, double b) {
  return (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5 | (a != a) << 6 |
         !(a < b) << 7 | !(a >= b) << 8;
}

__global__ void float_kernel(const double* left, const double* right, const std::int64_t* integers, unsigned rows,
                             FloatResult* results) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const double a = left[i], b = right[i];
  FloatResult& r = results[i];
  r.sum = a + b;
  r.product = a * b;
  r.quotient = a / b;
  r.fused = fma(a, b, 1.5);
  r.root = sqrt(fabs(a));
  r.minimum = fmin(a, b);
  r.maximum = fmax(a, b);
  r.floor = floor(a);
  r.ceiling = ceil(a);
  r.nearest = rint(a);
  r.truncated = trunc(a);
  r.narrowed = static_cast<float>(a);
  r.single_sum = static_cast<float>(a) + static_cast<float>(b);
  r.single_quotient = static_cast<float>(a) / static_cast<float>(b);
  r.single_fused = fmaf(static_cast<float>(a), static_cast<float>(b), 0.5f);
  r.to_int64 = clamp_to_int64(a);
  r.to_int32 = clamp_to_int32(b);
  r.compared = compare_doubles(a, b);
  r.to_uint8 = static_cast<std::uint8_t>(integers[i]);
  r.to_int16 = static_cast<std::int16_t>(integers[i] >> 3);
  r.from_int64 = static_cast<double>(integers[i]);
  r.from_uint32 = static_cast<float>(static_cast<std::uint32_t>(integers[i]));
}

// ---- strings, calls, pointers

// -1, 0 or 1, bytewise; strings are offsets into one buffer, as Arrow has them.
__global__ void compare_strings_kernel(const std::uint8_t* bytes, const std::int32_t* left, const std::int32_t* right,
                                       unsigned rows, std::int8_t* results) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  const int left_size = left[i + 1] - left[i], right_size = right[i + 1] - right[i];
  const int shorter = left_size < right_size ? left_size : right_size;
  int order = 0;
  for (int k = 0; k < shorter && order == 0; k++) order = int(bytes[left[i] + k]) - int(bytes[right[i] + k]);
  if (order == 0) order = left_size - right_size;
  results[i] = static_cast<std::int8_t>(order < 0 ? -1 : order > 0 ? 1 : 0);
}

struct Pair {
  std::int64_t first;
  double second;
};

// Really called: takes and returns a structure by value, writes through a pointer to the caller's local variable.
__device__ __noinline__ inline Pair called(Pair in, std::int32_t scale, std::int64_t* steps) {
  Pair out = {in.first * scale, in.second};
  for (std::int64_t rest = in.first; rest > 1; rest = (rest & 1) != 0 ? 3 * rest + 1 : rest / 2) {
    (*steps)++;
    out.second += 0.5;
  }
  return out;
}

__device__ __noinline__ inline std::int64_t fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__global__ void call_kernel(const std::int64_t* in, unsigned rows, Pair* out, std::int64_t* steps) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  std::int64_t count = 0;
  Pair pair = called({in[i], 1.25}, 3, &count);
  pair = called({in[i] + 1, pair.second}, -2, &count);
  pair.first += fibonacci(int(in[i] & 7));
  out[i] = pair;
  steps[i] = count;
}

struct Node {
  std::int64_t value;
  const Node* next;
};

__global__ void list_kernel(const Node* const* heads, unsigned rows, std::int64_t* sums) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  std::int64_t sum = 0;
  for (const Node* node = heads[i]; node != nullptr; node = node->next) sum += node->value;
  sums[i] = sum;
}

// Look-up through a constant table, a table of device functions and a local array indexed at run time.
__constant__ const std::uint16_t kWeights[8] = {1, 2, 3, 5, 8, 13, 21, 65535};
__device__ std::int32_t global_counter = 40;
__device__ std::int32_t* global_counter_address = &global_counter;

__global__ void table_kernel(const std::int32_t* in, unsigned rows, std::int64_t* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  std::int32_t digits[10] = {};
  for (std::int32_t rest = in[i]; rest > 0; rest /= 10) digits[rest % 10]++;
  std::int64_t sum = 0;
  for (int k = 0; k < 10; k++) sum = sum * 11 + digits[(k + in[i]) % 10];
  out[i] = sum + kWeights[in[i] & 7];
  atomicAdd(global_counter_address, 1);
}

// Every operation of a warp, with a partial mask in one branch; 12 results per thread.
inline constexpr int kWarpResults = 12;

__global__ void warp_kernel(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  const int value = in[i];
  int* r = out + i * kWarpResults;
  r[0] = __shfl_sync(kFullWarp, value, value & 31);
  r[1] = __shfl_xor_sync(kFullWarp, value, 5);
  r[2] = __shfl_up_sync(kFullWarp, value, 3, 8);
  r[3] = __shfl_down_sync(kFullWarp, value, 3, 16);
  r[4] = int(__ballot_sync(kFullWarp, value > 50));
  r[5] = __any_sync(kFullWarp, value == 17) * 2 + __all_sync(kFullWarp, value >= 0);
  r[6] = int(__match_any_sync(kFullWarp, value & 3));
  r[7] = -1;
  if (lane % 3 == 0) {
    const unsigned thirds = 0x49249249u;
    r[7] = __shfl_sync(thirds, value, 9);
  }
  __syncwarp();
  r[8] = __shfl_sync(kFullWarp, (long long)(value) << 33, 1) >> 33;
  r[9] = __syncthreads_count(value > 50);
  r[10] = __syncthreads_or(value == 17) + 2 * __syncthreads_and(value >= 0);
  r[11] = __reduce_add_sync(kFullWarp, value) + __popc(unsigned(value)) + __clz(value) + __ffs(value);
}

// ---- kernels that are wrong

__global__ void divergent_barrier_kernel(int* out) {
  if (threadIdx.x < 16) {
    __syncthreads();
    out[0] = 1;
  } else {
    out[threadIdx.x] = __shfl_sync(kFullWarp, int(threadIdx.x), 20);
  }
}

__global__ void two_barriers_kernel(int* out, int limit) {
  if (int(threadIdx.x) < limit) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x + 1] = 2;
  } else {
    out[threadIdx.x] = 3;
    __syncthreads();
    out[threadIdx.x + 2] = 4;
  }
}

__global__ void trap_kernel(const int* in) {
  if (in[threadIdx.x] == 7) __trap();
}

__global__ void shared_index_kernel(int* out, int index) {
  __shared__ int values[32];
  values[threadIdx.x] = int(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = values[(threadIdx.x + unsigned(index)) * 32];
}

__global__ void global_index_kernel(int* out, int index) { out[index] = 1; }

}  // namespace strom::cuda_emulation
