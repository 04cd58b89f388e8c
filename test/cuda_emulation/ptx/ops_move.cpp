// mov with its vectors, addresses and special registers; conversion of addresses between state spaces.
// A generic address is an address of this process; shared memory is a window of it.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

#include "cuda_emulation/ptx/decoder.hpp"

namespace strom::ptx {

namespace {

const Instruction* move(const Instruction* i, std::uint64_t* r, Thread&) {
  r[i->dst] = r[i->a];
  return i + 1;
}

const Instruction* move_parameter_address(const Instruction* i, std::uint64_t* r, Thread& t) {
  r[i->dst] = reinterpret_cast<std::uint64_t>(t.block->launch->parameters) + static_cast<std::uint64_t>(i->immediate);
  return i + 1;
}

const Instruction* move_local_address(const Instruction* i, std::uint64_t* r, Thread& t) {
  r[i->dst] = reinterpret_cast<std::uint64_t>(t.local) + static_cast<std::uint64_t>(i->immediate);
  return i + 1;
}

// ---- vectors: two or four parts of `T`

template <class T, int kParts>
const Instruction* unpack(const Instruction* i, std::uint64_t* r, Thread&) {
  const std::uint64_t value = r[i->a];
  const std::uint32_t slots[4] = {i->dst, i->b, i->c, i->d};
  for (int n = 0; n < kParts; n++) r[slots[n]] = static_cast<T>(value >> (n * 8 * static_cast<int>(sizeof(T))));
  return i + 1;
}

template <class T, int kParts>
const Instruction* pack(const Instruction* i, std::uint64_t* r, Thread&) {
  const std::uint32_t slots[4] = {i->a, i->b, i->c, i->d};
  std::uint64_t value = 0;
  for (int n = 0; n < kParts; n++) {
    value |= static_cast<std::uint64_t>(get<T>(r[slots[n]])) << (n * 8 * static_cast<int>(sizeof(T)));
  }
  r[i->dst] = value;
  return i + 1;
}

void decode_vector(Decoder& d, Type type, bool unpacks) {
  const std::vector<Operand>& parts = d.operand(unpacks ? 0 : 1).parts;
  const unsigned part_bits = parts.empty() ? 0 : type.bits / static_cast<unsigned>(parts.size());
  const bool halves = parts.size() == 2 && (part_bits == 16 || part_bits == 32 || part_bits == 8);
  if (!halves && !(parts.size() == 4 && part_bits == 16)) d.fail("this vector is not emulated");
  const Type part{'b', static_cast<std::uint8_t>(part_bits)};
  Instruction i;
  std::array<std::uint32_t*, 4> places = {&i.dst, &i.b, &i.c, &i.d};
  if (!unpacks) places[0] = &i.a;
  // A byte lives in a 16-bit register.
  const auto width = part_bits == 8 ? Decoder::Width::kAtLeast : Decoder::Width::kSame;
  for (std::size_t n = 0; n < parts.size(); n++) {
    *places[n] = unpacks ? d.destination(parts[n], part, width) : d.source(parts[n], part, width);
  }
  if (unpacks) {
    i.a = d.source(1, type);
    d.emit(part_bits == 32  ? &unpack<std::uint32_t, 2>
           : part_bits == 8 ? &unpack<std::uint8_t, 2>
                            : (halves ? &unpack<std::uint16_t, 2> : &unpack<std::uint16_t, 4>),
           i);
  } else {
    i.dst = d.destination(0, type);
    d.emit(part_bits == 32  ? &pack<std::uint32_t, 2>
           : part_bits == 8 ? &pack<std::uint8_t, 2>
                            : (halves ? &pack<std::uint16_t, 2> : &pack<std::uint16_t, 4>),
           i);
  }
}

// ---- special registers

enum class Special : std::int64_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLane,
  kWarp,
  kWarps,
  kMaskEq,
  kMaskLt,
  kMaskLe,
  kMaskGt,
  kMaskGe,
  kMultiprocessor,
  kClock,
  kDynamicShared,
  kTotalShared,
};

struct SpecialName {
  std::string_view name;
  Special special;
  std::uint8_t bits;
};

constexpr std::array kSpecialNames = {
    SpecialName{"%tid.x", Special::kTidX, 32},
    SpecialName{"%tid.y", Special::kTidY, 32},
    SpecialName{"%tid.z", Special::kTidZ, 32},
    SpecialName{"%ntid.x", Special::kNtidX, 32},
    SpecialName{"%ntid.y", Special::kNtidY, 32},
    SpecialName{"%ntid.z", Special::kNtidZ, 32},
    SpecialName{"%ctaid.x", Special::kCtaidX, 32},
    SpecialName{"%ctaid.y", Special::kCtaidY, 32},
    SpecialName{"%ctaid.z", Special::kCtaidZ, 32},
    SpecialName{"%nctaid.x", Special::kNctaidX, 32},
    SpecialName{"%nctaid.y", Special::kNctaidY, 32},
    SpecialName{"%nctaid.z", Special::kNctaidZ, 32},
    SpecialName{"%laneid", Special::kLane, 32},
    SpecialName{"%warpid", Special::kWarp, 32},
    SpecialName{"%nwarpid", Special::kWarps, 32},
    SpecialName{"%lanemask_eq", Special::kMaskEq, 32},
    SpecialName{"%lanemask_lt", Special::kMaskLt, 32},
    SpecialName{"%lanemask_le", Special::kMaskLe, 32},
    SpecialName{"%lanemask_gt", Special::kMaskGt, 32},
    SpecialName{"%lanemask_ge", Special::kMaskGe, 32},
    SpecialName{"%smid", Special::kMultiprocessor, 32},
    SpecialName{"%clock", Special::kClock, 32},
    SpecialName{"%clock64", Special::kClock, 64},
    SpecialName{"%globaltimer", Special::kClock, 64},
    SpecialName{"%dynamic_smem_size", Special::kDynamicShared, 32},
    SpecialName{"%total_smem_size", Special::kTotalShared, 32},
};

std::uint64_t read_special(Special special, const Thread& t) {
  const LaunchState& launch = *t.block->launch;
  const std::uint32_t own = 1u << t.lane();
  switch (special) {
    case Special::kTidX: return t.id.x;
    case Special::kTidY: return t.id.y;
    case Special::kTidZ: return t.id.z;
    case Special::kNtidX: return launch.block.x;
    case Special::kNtidY: return launch.block.y;
    case Special::kNtidZ: return launch.block.z;
    case Special::kCtaidX: return t.block->id.x;
    case Special::kCtaidY: return t.block->id.y;
    case Special::kCtaidZ: return t.block->id.z;
    case Special::kNctaidX: return launch.grid.x;
    case Special::kNctaidY: return launch.grid.y;
    case Special::kNctaidZ: return launch.grid.z;
    case Special::kLane: return t.lane();
    case Special::kWarp: return t.index >> 5;
    case Special::kWarps: return (t.block->threads.size() + 31) / 32;
    case Special::kMaskEq: return own;
    case Special::kMaskLt: return own - 1;
    case Special::kMaskLe: return own | (own - 1);
    case Special::kMaskGt: return ~(own | (own - 1));
    case Special::kMaskGe: return ~(own - 1);
    case Special::kMultiprocessor: return 0;
    case Special::kDynamicShared: return launch.dynamic_shared_bytes;
    case Special::kTotalShared: return launch.shared_end - launch.shared_first;
    case Special::kClock: break;
  }
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

const Instruction* move_special(const Instruction* i, std::uint64_t* r, Thread& t) {
  r[i->dst] = read_special(static_cast<Special>(i->immediate), t);
  return i + 1;
}

bool decode_special(Decoder& d, Type type) {
  const auto found = std::find_if(kSpecialNames.begin(), kSpecialNames.end(),
                                  [&](const SpecialName& row) { return row.name == d.operand(1).name; });
  if (found == kSpecialNames.end() || d.find(d.operand(1).name) != nullptr) return false;
  if (type.bits != found->bits) d.fail("special register of another width");
  Instruction i;
  i.dst = d.destination(0, type);
  i.immediate = static_cast<std::int64_t>(found->special);
  d.emit(move_special, i);
  return true;
}

bool decode_address(Decoder& d, Type type) {
  const Operand& operand = d.operand(1);
  const Symbol* symbol = d.find(operand.name);
  if (symbol == nullptr || type.is_float() || type.bits < 32) return false;
  if (symbol->kind != Symbol::Kind::kKernelParameter && symbol->kind != Symbol::Kind::kLocal) return false;
  if (type.bits != 64) d.fail("an address needs 64 bits");
  Instruction i;
  i.dst = d.destination(0, type);
  i.immediate = static_cast<std::int64_t>(symbol->value) + operand.offset;
  d.emit(symbol->kind == Symbol::Kind::kLocal ? &move_local_address : &move_parameter_address, i);
  return true;
}

void decode_mov(Decoder& d) {
  const Type type = d.take_last_type("busfp", {1, 16, 32, 64});
  d.expect_operands(2);
  if (d.operand(0).kind == Operand::Kind::kVector || d.operand(1).kind == Operand::Kind::kVector) {
    return decode_vector(d, type, d.operand(0).kind == Operand::Kind::kVector);
  }
  if (d.operand(1).kind == Operand::Kind::kName && (decode_special(d, type) || decode_address(d, type))) return;
  Instruction i;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  d.emit(move, i);
}

// ---- state spaces

const Instruction* shared_to_generic(const Instruction* i, std::uint64_t* r, Thread& t) {
  r[i->dst] = reinterpret_cast<std::uint64_t>(t.block->shared) + r[i->a];
  return i + 1;
}

const Instruction* generic_to_shared(const Instruction* i, std::uint64_t* r, Thread& t) {
  r[i->dst] = r[i->a] - reinterpret_cast<std::uint64_t>(t.block->shared);
  return i + 1;
}

void decode_cvta(Decoder& d) {
  const bool to_space = d.accept("to");
  const int space = d.choose({"global", "const", "local", "param", "shared", "shared::cta"});
  const Type type = d.take_last_type("u", {64});
  d.expect_operands(2);
  Instruction i;
  if (space < 4 && d.operand(1).kind == Operand::Kind::kName && decode_address(d, type)) return;
  i.dst = d.destination(0, type);
  i.a = d.source(1, type);
  d.emit(space < 4 ? &move : to_space ? &generic_to_shared : &shared_to_generic, i);
}

bool is_shared_address(const Thread& t, std::uint64_t address) {
  return address - reinterpret_cast<std::uint64_t>(t.block->shared) < kSharedWindowBytes;
}

const Instruction* is_in_shared(const Instruction* i, std::uint64_t* r, Thread& t) {
  r[i->dst] = is_shared_address(t, r[i->a]);
  return i + 1;
}

const Instruction* is_in_local(const Instruction* i, std::uint64_t* r, Thread& t) {
  r[i->dst] = t.owns_local(r[i->a], 1);
  return i + 1;
}

const Instruction* is_in_global(const Instruction* i, std::uint64_t* r, Thread& t) {
  r[i->dst] = !is_shared_address(t, r[i->a]) && !t.owns_local(r[i->a], 1);
  return i + 1;
}

void decode_isspacep(Decoder& d) {
  const int space = d.choose({"shared", "shared::cta", "local", "global"});
  d.end_modifiers();
  d.expect_operands(2);
  Instruction i;
  i.dst = d.destination(0, kPredicate);
  i.a = d.source(1, kB64);
  d.emit(space < 2 ? &is_in_shared : space == 2 ? &is_in_local : &is_in_global, i);
}

}  // namespace

const OpcodeTable& move_opcodes() {
  static const OpcodeTable table = {{"mov", decode_mov}, {"cvta", decode_cvta}, {"isspacep", decode_isspacep}};
  return table;
}

}  // namespace strom::ptx
