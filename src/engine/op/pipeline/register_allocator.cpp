#include "engine/op/pipeline/register_allocator.hpp"

#include <algorithm>

namespace strom::engine::op {

using block::kNoRegister;
using block::ListRef;
using block::Segment;
using block::TileInstr;
using block::TileOp;
using registry::Phys;

namespace {

/// The registers that are not -1.
std::vector<int> present(const std::vector<int>& registers) {
  std::vector<int> found;
  std::copy_if(registers.begin(), registers.end(), std::back_inserter(found), [](int reg) { return reg >= 0; });
  return found;
}

}  // namespace

// ---- lists ----

ListRef RegisterAllocator::add_list(const std::vector<int>& registers) {
  const ListRef ref = static_cast<ListRef>(out_.lists.size());
  too_large_ = too_large_ || registers.size() >= kNoRegister;
  out_.lists.push_back(static_cast<uint16_t>(registers.size()));
  for (int reg : registers) out_.lists.push_back(physical(reg));
  return ref;
}

/// For `imm` of the next instruction.
ListRef RegisterAllocator::add_instruction_list(const std::vector<int>& registers) {
  list_users_.push_back(out_.instrs.size());
  return add_list(registers);
}

/// For a field of 16 bits.
uint16_t RegisterAllocator::add_near_list(const std::vector<int>& registers) {
  const size_t at = near_lists_.size();
  too_large_ = too_large_ || at > UINT16_MAX;
  near_lists_.push_back(static_cast<uint16_t>(registers.size()));
  for (int reg : registers) near_lists_.push_back(physical(reg));
  return static_cast<uint16_t>(at);
}

/// Puts the lists that 16 bits refer to before all others.
void RegisterAllocator::join_lists() {
  const auto moved = static_cast<ListRef>(near_lists_.size());
  out_.lists.insert(out_.lists.begin(), near_lists_.begin(), near_lists_.end());
  for (const size_t instr : list_users_) out_.instrs[instr].imm += moved;
  for (Segment& segment : out_.segments) {
    segment.errors += moved;
    segment.carried += moved;
    segment.join_rows += moved;
  }
  out_.code.outputs += moved;
  out_.code.group_keys += moved;
}

/// Build-row registers in the joins' order in the plan, not in the probing order.
ListRef RegisterAllocator::planner_order(const std::vector<int>& by_position, const std::vector<uint32_t>& joins) {
  std::vector<int> ordered;
  for (const uint32_t join : joins) {
    const auto position =
        std::find_if(out_.joins.begin(), out_.joins.end(), [join](const JoinInfo& info) { return info.join == join; });
    ordered.push_back(by_position[static_cast<size_t>(position - out_.joins.begin())]);
  }
  return add_list(ordered);
}

// ---- registers ----

uint16_t RegisterAllocator::physical(int reg) const {
  if (reg < 0) return kNoRegister;
  if (reg < written_.fixed) return static_cast<uint16_t>(reg);
  return assigned_.at(reg);
}

std::vector<int> RegisterAllocator::end_uses(size_t segment) const {
  std::vector<int> used = written_.segments[segment].errors;
  used.push_back(written_.segments[segment].mask);
  used.push_back(written_.segments[segment].following);
  if (segment + 1 < written_.segments.size()) return used;
  const SinkRegisters& sink = written_.sink;
  for (const auto* registers : {&sink.outputs, &sink.arguments, &sink.seconds})
    used.insert(used.end(), registers->begin(), registers->end());
  return used;
}

/// For each register, the last instruction of the segment that uses it; the segment's end for registers that are used
/// later.
std::unordered_map<int, size_t> RegisterAllocator::last_uses(size_t segment) const {
  const std::vector<VirtualInstr>& code = written_.segments[segment].code;
  std::unordered_map<int, size_t> last_use;
  for (size_t i = 0; i < code.size(); ++i) {
    for (int reg : {code[i].a, code[i].b, code[i].c}) last_use[reg] = i;
    for (int reg : code[i].list) last_use[reg] = i;
    if (code[i].dst >= 0) last_use.try_emplace(code[i].dst, i);
  }
  for (int reg : end_uses(segment)) last_use[reg] = code.size();
  return last_use;
}

/// Pools are per physical kind, and a result never shares its operands' register.
void RegisterAllocator::allocate(size_t segment) {
  const std::vector<VirtualInstr>& code = written_.segments[segment].code;
  const std::unordered_map<int, size_t> last_use = last_uses(segment);
  std::map<Phys, std::vector<uint16_t>> pool = free_;
  std::set<int> live;
  out_.segments[segment].begin = static_cast<uint32_t>(out_.instrs.size());
  for (size_t i = 0; i < code.size(); ++i) {
    const VirtualInstr& v = code[i];
    if (v.dst >= written_.fixed) {
      assigned_[v.dst] = take(&pool, phys(v.dst));
      live.insert(v.dst);
    }
    out_.instrs.push_back(instruction(v, written_.segments[segment], i, live, last_use));
    std::set<int> ended{v.dst, v.a, v.b, v.c};
    ended.insert(v.list.begin(), v.list.end());
    for (const int reg : ended)
      if (live.count(reg) != 0 && last_use.at(reg) <= i) {
        live.erase(reg);
        pool[phys(reg)].push_back(assigned_[reg]);
      }
  }
  out_.segments[segment].end = static_cast<uint32_t>(out_.instrs.size());
}

/// Instruction `number` of the segment, with its lists.
TileInstr RegisterAllocator::instruction(const VirtualInstr& v, const WrittenSegment& segment, size_t number,
                                         const std::set<int>& live, const std::unordered_map<int, size_t>& last_use) {
  TileInstr instr{
      static_cast<uint16_t>(v.op), v.flags, physical(v.dst), physical(v.a), physical(v.b), physical(v.c), v.imm};
  if (v.op == TileOp::kNumericToInt) {
    instr.c = v.flags;
    instr.flags = 0;
  }
  if (v.op == TileOp::kGate) {
    std::vector<int> alive;
    for (const int reg : live)
      if (last_use.at(reg) > number) alive.push_back(reg);
    for (int reg : present(segment.join_rows)) alive.push_back(reg);
    instr.imm = add_instruction_list(v.list);
    instr.c = add_near_list(alive);
  } else if (v.near_list) {
    instr.c = add_near_list(v.list);
  } else if (!v.list.empty()) {
    instr.imm = add_instruction_list(v.list);
  }
  return instr;
}

uint16_t RegisterAllocator::take(std::map<Phys, std::vector<uint16_t>>* pool, Phys phys) {
  std::vector<uint16_t>& free = (*pool)[phys];
  if (!free.empty()) {
    const uint16_t reg = free.back();
    free.pop_back();
    return reg;
  }
  too_large_ = too_large_ || out_.register_phys.size() >= kNoRegister;
  const uint16_t reg = static_cast<uint16_t>(out_.register_phys.size());
  out_.register_phys.push_back(static_cast<uint8_t>(phys));
  free_[phys].push_back(reg);  // later segments may use it
  return reg;
}

bool RegisterAllocator::run(const std::vector<uint32_t>& joins) {
  too_large_ = written_.fixed >= kNoRegister;
  for (int i = 0; i < written_.fixed; ++i) out_.register_phys.push_back(static_cast<uint8_t>(phys(i)));
  for (size_t i = 0; i < out_.segments.size(); ++i) {
    allocate(i);
    Segment& segment = out_.segments[i];
    const WrittenSegment& written = written_.segments[i];
    segment.mask = physical(written.mask);
    segment.index = physical(written.index);
    segment.matched = physical(written.matched);
    segment.following = physical(written.following);
    segment.errors = add_list(written.errors);
    segment.carried = add_list(present(written.carried));
    segment.join_rows = planner_order(written.join_rows, joins);
  }
  const SinkRegisters& sink = written_.sink;
  out_.code.outputs = add_list(sink.outputs);
  out_.code.group_keys = add_list(sink.keys);
  for (size_t a = 0; a < sink.arguments.size(); ++a) {
    out_.aggregates[a].arg = physical(sink.arguments[a]);
    out_.aggregates[a].second = physical(sink.seconds[a]);
  }
  join_lists();
  return !too_large_;
}

}  // namespace strom::engine::op
