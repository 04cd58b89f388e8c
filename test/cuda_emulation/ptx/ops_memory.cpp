// Loads, stores and fences. PTX ISA, "Data Movement and Conversion Instructions" and "Memory Consistency Model".
// Every access of up to 8 bytes is a host atomic access: acquire for ld.acquire, release for st.release, else relaxed.

#include <array>
#include <atomic>
#include <tuple>

#include "cuda_emulation/ptx/decoder.hpp"
#include "cuda_emulation/ptx/memory_access.hpp"

namespace strom::ptx {

bool Thread::owns_local(std::uint64_t address, std::uint64_t bytes) const {
  for (std::uint32_t n = depth + 1; n-- > 0;) {
    const Allocation own{reinterpret_cast<std::uint64_t>(frames[n]->local.get()), frames[n]->function->local_bytes};
    if (own.contains(address, bytes)) return true;
  }
  return false;
}

void fail_access(const Instruction* i, const Thread& t, const char* what, std::uint64_t address) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (std::uint64_t rest = address; rest != 0 || hex.empty(); rest >>= 4) hex.insert(hex.begin(), kDigits[rest & 15]);
  fail(i, t, std::string(what) + ": address 0x" + hex);
}

void check_address(const Instruction* i, const Thread& t, std::uint64_t address, std::uint64_t bytes, bool is_generic) {
  constexpr std::uint64_t kNullPage = 1u << 16;
  if (address < kNullPage) fail_access(i, t, "null pointer", address);
  const LaunchState& launch = *t.block->launch;
  if (launch.allocations == nullptr) return;
  if (const auto found = launch.allocations->find(address, bytes)) {
    t.block->cache.of(address) = *found;
    return;
  }
  const Allocation parameters{reinterpret_cast<std::uint64_t>(launch.parameters), launch.kernel->parameter_bytes};
  if (is_generic && (t.owns_local(address, bytes) || parameters.contains(address, bytes))) return;
  fail_access(i, t, "not device memory", address);
}

Space take_space(Decoder& d) {
  switch (d.choose({"global", "shared", "shared::cta", "local", "param", "param::entry", "param::func", "const"}, 8)) {
    case 0: return Space::kGlobal;
    case 1:
    case 2: return Space::kShared;
    case 3: return Space::kLocal;
    case 4:
    case 5:
    case 6: return Space::kParam;
    case 7: return Space::kConst;
    default: return Space::kGeneric;
  }
}

Access decode_access(Decoder& d, std::size_t operand, Instruction& i, Space space, std::uint32_t bytes) {
  switch (d.address(operand, i, space, bytes)) {
    case AddressBase::kKernelParameter: return Access::kKernelParameter;
    case AddressBase::kLocal: return Access::kFrame;
    case AddressBase::kSlot: break;
  }
  switch (space) {
    case Space::kGlobal:
    case Space::kConst: return Access::kGlobal;
    case Space::kShared: return Access::kShared;
    case Space::kLocal: return Access::kLocal;
    // The address of a parameter may have been taken: then it is an address of the parameter block or of a frame.
    case Space::kParam:
    case Space::kGeneric: break;
  }
  return Access::kGeneric;
}

void skip_cache_hints(Decoder& d) {
  while (d.choose({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1::evict_normal", "L1::evict_unchanged",
                   "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B"},
                  99) != 99) {
  }
}

void skip_scope(Decoder& d) { d.choose({"cta", "cluster", "gpu", "sys"}, 99); }

namespace {

template <class T, int kOrder>
T load_element(const std::byte* from) {
  using Bits = std::make_unsigned_t<T>;
  return static_cast<T>(__atomic_load_n(reinterpret_cast<const Bits*>(from), kOrder));
}

template <class T, Access kAccess, int kCount, int kOrder>
const Instruction* load(const Instruction* i, std::uint64_t* r, Thread& t) {
  const std::byte* from = pointer<kAccess, sizeof(T) * kCount>(i, r, t);
  const std::uint32_t slots[4] = {i->dst, i->b, i->c, i->d};
  for (int n = 0; n < kCount; n++) r[slots[n]] = put(load_element<T, kOrder>(from + n * sizeof(T)));
  return i + 1;
}

template <class T, Access kAccess, int kCount, int kOrder>
const Instruction* store(const Instruction* i, std::uint64_t* r, Thread& t) {
  std::byte* to = pointer<kAccess, sizeof(T) * kCount>(i, r, t);
  const std::uint32_t slots[4] = {i->b, i->c, i->d, i->e};
  for (int n = 0; n < kCount; n++) {
    __atomic_store_n(reinterpret_cast<T*>(to + n * sizeof(T)), get<T>(r[slots[n]]), kOrder);
  }
  return i + 1;
}

template <class T, Access kAccess>
Handler load_of(int count, bool acquires) {
  if (acquires) return &load<T, kAccess, 1, __ATOMIC_ACQUIRE>;
  switch (count) {
    case 2: return &load<T, kAccess, 2, __ATOMIC_RELAXED>;
    case 4: return &load<T, kAccess, 4, __ATOMIC_RELAXED>;
    default: return &load<T, kAccess, 1, __ATOMIC_RELAXED>;
  }
}

template <class T, Access kAccess>
Handler store_of(int count, bool releases) {
  using Bits = std::make_unsigned_t<T>;
  if (releases) return &store<Bits, kAccess, 1, __ATOMIC_RELEASE>;
  switch (count) {
    case 2: return &store<Bits, kAccess, 2, __ATOMIC_RELAXED>;
    case 4: return &store<Bits, kAccess, 4, __ATOMIC_RELAXED>;
    default: return &store<Bits, kAccess, 1, __ATOMIC_RELAXED>;
  }
}

struct AccessModifiers {
  Space space;
  int count;
  bool is_ordered;  // .acquire or .release
  Type type;
};

// {.volatile | .weak | .relaxed.scope | .`ordered`.scope} {.space} {hints} {.v2 | .v4} .type
AccessModifiers take_access_modifiers(Decoder& d, std::string_view ordered) {
  AccessModifiers result{};
  const bool is_relaxed = d.accept("relaxed");
  result.is_ordered = !is_relaxed && d.accept(ordered);
  if (is_relaxed || result.is_ordered) {
    skip_scope(d);
  } else {
    d.choose({"volatile", "weak"}, 2);
  }
  result.space = take_space(d);
  skip_cache_hints(d);
  result.count = d.accept("v2") ? 2 : d.accept("v4") ? 4 : 1;
  result.type = d.take_last_type("busf", {8, 16, 32, 64});
  if (result.is_ordered && result.count > 1) d.fail("ordered access to a vector is not emulated");
  return result;
}

// The registers of a vector or the one operand, as slots.
std::array<std::uint32_t, 4> decode_elements(Decoder& d, std::size_t n, const AccessModifiers& access, bool is_load) {
  std::array<std::uint32_t, 4> slots{};
  const Operand& operand = d.operand(n);
  const bool is_vector = operand.kind == Operand::Kind::kVector;
  if ((is_vector ? operand.parts.size() : 1) != static_cast<std::size_t>(access.count))
    d.fail("vector of another size");
  for (std::size_t k = 0; k < static_cast<std::size_t>(access.count); k++) {
    const Operand& part = is_vector ? operand.parts[k] : operand;
    slots[k] = is_load ? d.destination(part, access.type, Decoder::Width::kAtLeast)
                       : d.source(part, access.type, Decoder::Width::kAtLeast);
  }
  return slots;
}

void decode_ld(Decoder& d) {
  const AccessModifiers access = take_access_modifiers(d, "acquire");
  d.expect_operands(2);
  Instruction i;
  const auto slots = decode_elements(d, 0, access, true);
  std::tie(i.dst, i.b, i.c, i.d) = std::tuple(slots[0], slots[1], slots[2], slots[3]);
  const auto bytes = static_cast<std::uint32_t>(access.count) * access.type.bytes();
  const Access how = decode_access(d, 1, i, access.space, bytes);
  const Type type = access.type.is_float() ? Type{'b', access.type.bits} : access.type;
  d.emit(select_integer(type,
                        [&]<class T>() {
                          return select_access(how, [&]<Access kAccess>() {
                            return load_of<T, kAccess>(access.count, access.is_ordered);
                          });
                        }),
         i);
}

void decode_st(Decoder& d) {
  const AccessModifiers access = take_access_modifiers(d, "release");
  d.expect_operands(2);
  if (access.space == Space::kConst) d.fail("constant memory is not written");
  Instruction i;
  const auto slots = decode_elements(d, 1, access, false);
  std::tie(i.b, i.c, i.d, i.e) = std::tuple(slots[0], slots[1], slots[2], slots[3]);
  const auto bytes = static_cast<std::uint32_t>(access.count) * access.type.bytes();
  const Access how = decode_access(d, 0, i, access.space, bytes);
  if (how == Access::kKernelParameter) d.fail("parameters of a kernel are not written");
  d.emit(select_integer({'b', access.type.bits},
                        [&]<class T>() {
                          return select_access(how, [&]<Access kAccess>() {
                            return store_of<T, kAccess>(access.count, access.is_ordered);
                          });
                        }),
         i);
}

const Instruction* fence(const Instruction* i, std::uint64_t*, Thread&) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return i + 1;
}

const Instruction* no_operation(const Instruction* i, std::uint64_t*, Thread&) { return i + 1; }

void decode_membar(Decoder& d) {
  d.choose({"cta", "gl", "sys"});
  d.end_modifiers();
  d.expect_operands(0);
  d.emit(fence, {});
}

void decode_fence(Decoder& d) {
  d.choose({"sc", "acq_rel", "acquire", "release"}, 4);
  d.choose({"cta", "cluster", "gpu", "sys"});
  d.end_modifiers();
  d.expect_operands(0);
  d.emit(fence, {});
}

void decode_prefetch(Decoder& d) {
  d.choose({"global", "local"}, 2);
  d.choose({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  d.end_modifiers();
  d.expect_operands(1);
  Instruction i;
  Space space = Space::kGlobal;
  d.address(0, i, space, 1);
  d.emit(no_operation, i);
}

}  // namespace

const OpcodeTable& memory_opcodes() {
  static const OpcodeTable table = {{"ld", decode_ld},         {"ldu", decode_ld},      {"st", decode_st},
                                    {"membar", decode_membar}, {"fence", decode_fence}, {"prefetch", decode_prefetch}};
  return table;
}

}  // namespace strom::ptx
