// atom and red: read-modify-write on global and shared memory. PTX ISA, "Parallel Synchronization: atom, red".
// Whatever order and scope are asked for, the operation is sequentially consistent.

#include "cuda_emulation/ptx/decoder.hpp"
#include "cuda_emulation/ptx/memory_access.hpp"

namespace strom::ptx {

namespace {

// In the order of the modifiers' list of decode_atomic.
enum Operation { kAdd, kExchange, kCompareExchange, kMinimum, kMaximum, kAnd, kOr, kXor, kIncrement, kDecrement };

template <class T, int kOperation>
T modified(T old, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (kOperation) {
    case kAdd: return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(b));
    case kMinimum: return old < b ? old : b;
    case kMaximum: return old < b ? b : old;
    case kAnd: return static_cast<T>(old & b);
    case kOr: return static_cast<T>(old | b);
    case kXor: return static_cast<T>(old ^ b);
    case kIncrement: return static_cast<T>(old >= b ? 0 : old + 1);
    case kDecrement: return static_cast<T>(old == 0 || old > b ? b : old - 1);
    default: return b;
  }
}

template <class T, Access kAccess, int kOperation>
const Instruction* atomic(const Instruction* i, std::uint64_t* r, Thread& t) {
  auto* place = reinterpret_cast<T*>(pointer<kAccess, sizeof(T)>(i, r, t));
  const T b = get<T>(r[i->b]);
  T old;
  if constexpr (kOperation == kCompareExchange) {
    old = b;
    __atomic_compare_exchange_n(place, &old, get<T>(r[i->c]), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  } else if constexpr (kOperation == kExchange) {
    old = __atomic_exchange_n(place, b, __ATOMIC_SEQ_CST);
  } else {
    old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(place, &old, modified<T, kOperation>(old, b), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
    }
  }
  r[i->dst] = put(old);
  return i + 1;
}

template <class T, Access kAccess>
const Instruction* atomic_add_float(const Instruction* i, std::uint64_t* r, Thread& t) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  auto* place = reinterpret_cast<Bits*>(pointer<kAccess, sizeof(T)>(i, r, t));
  const T b = get<T>(r[i->b]);
  Bits old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old, std::bit_cast<Bits>(std::bit_cast<T>(old) + b), true,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  r[i->dst] = old;
  return i + 1;
}

template <class T, Access kAccess, int kCandidate = 0>
Handler select_operation(int operation) {
  if constexpr (kCandidate > kDecrement) {
    return nullptr;
  } else {
    return operation == kCandidate ? &atomic<T, kAccess, kCandidate>
                                   : select_operation<T, kAccess, kCandidate + 1>(operation);
  }
}

// Which types an operation has; floats come apart.
bool is_possible(int operation, Type type) {
  switch (operation) {
    case kAdd: return type.kind == 'u' || (type.is_signed() && type.bits == 32) || type.is_float();
    case kExchange: return type.kind == 'b' && type.bits >= 32;
    case kCompareExchange: return type.kind == 'b';
    case kMinimum:
    case kMaximum: return type.kind == 'u' || type.is_signed();
    case kIncrement:
    case kDecrement: return type == Type{'u', 32};
    default: return type.kind == 'b' && type.bits >= 32;
  }
}

Handler handler_for(Access access, int operation, Type type) {
  const auto make = [&]<Access kAccess>() -> Handler {
    if (type.is_float())
      return type.bits == 32 ? &atomic_add_float<float, kAccess> : &atomic_add_float<double, kAccess>;
    if (type.bits == 16) return &atomic<std::uint16_t, kAccess, kCompareExchange>;
    return select_integer(type, [&]<class T>() -> Handler {
      if constexpr (sizeof(T) < 4) {
        return nullptr;
      } else {
        return select_operation<T, kAccess>(operation);
      }
    });
  };
  switch (access) {
    case Access::kGeneric: return make.template operator()<Access::kGeneric>();
    case Access::kGlobal: return make.template operator()<Access::kGlobal>();
    case Access::kShared: return make.template operator()<Access::kShared>();
    default: return nullptr;
  }
}

void decode_atomic(Decoder& d, bool has_result) {
  // Order and scope stand first, or in inline assembly of CUDA's headers behind the operation.
  const auto skip_order = [&] {
    d.choose({"relaxed", "acquire", "release", "acq_rel"}, 99);
    skip_scope(d);
  };
  skip_order();
  const Space space = take_space(d);
  skip_scope(d);
  const int operation = d.choose({"add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec"});
  skip_order();
  const Type type = d.take_last_type("busf", {16, 32, 64});
  if (!is_possible(operation, type) || (type.bits == 16 && operation != kCompareExchange)) {
    d.fail("atomic operation is not possible or not emulated for this type");
  }
  if (!has_result && (operation == kExchange || operation == kCompareExchange)) d.fail("red has no such operation");

  const std::size_t at = has_result ? 1 : 0;
  d.expect_operands(at + (operation == kCompareExchange ? 3 : 2));
  Instruction i;
  i.dst = has_result ? d.destination(0, type) : Decoder::unread_slot();
  const Access access = decode_access(d, at, i, space, type.bytes());
  i.b = d.source(at + 1, type);
  if (operation == kCompareExchange) i.c = d.source(at + 2, type);
  const Handler handler = handler_for(access, operation, type);
  if (handler == nullptr) d.fail("atomic operation on this state space is not possible");
  d.emit(handler, i);
}

}  // namespace

const OpcodeTable& atomic_opcodes() {
  static const OpcodeTable table = {{"atom", [](Decoder& d) { decode_atomic(d, true); }},
                                    {"red", [](Decoder& d) { decode_atomic(d, false); }}};
  return table;
}

}  // namespace strom::ptx
