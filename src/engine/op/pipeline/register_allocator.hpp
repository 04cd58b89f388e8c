// Assigns physical registers to the virtual registers of a pipeline's tile code: linear scan over each segment. Used by
// assemble.cpp.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/op/pipeline/pipeline_writer.hpp"

namespace strom::engine::op {

class RegisterAllocator {
 public:
  explicit RegisterAllocator(WrittenPipeline* written) : written_(*written), out_(written->out) {}

  /// Writes the instructions and lists of `out`, and the registers of its segments and aggregates. `joins`: in the
  /// order of the plan. False when there are more registers, or more list entries, than can be numbered.
  bool run(const std::vector<uint32_t>& joins);

 private:
  block::ListRef add_list(const std::vector<int>& registers);
  block::ListRef add_instruction_list(const std::vector<int>& registers);
  uint16_t add_near_list(const std::vector<int>& registers);
  void join_lists();
  uint16_t physical(int reg) const;
  std::vector<int> end_uses(size_t segment) const;
  std::unordered_map<int, size_t> last_uses(size_t segment) const;
  void allocate(size_t segment);
  block::TileInstr instruction(const VirtualInstr& v, const WrittenSegment& segment, size_t number,
                               const std::set<int>& live, const std::unordered_map<int, size_t>& last_use);
  uint16_t take(std::map<registry::Phys, std::vector<uint16_t>>* pool, registry::Phys phys);
  block::ListRef planner_order(const std::vector<int>& by_position, const std::vector<uint32_t>& joins);
  registry::Phys phys(int reg) const { return written_.phys[static_cast<size_t>(reg)]; }

  WrittenPipeline& written_;
  Assembly& out_;
  std::unordered_map<int, uint16_t> assigned_;
  std::map<registry::Phys, std::vector<uint16_t>> free_;
  std::vector<uint16_t> near_lists_;
  std::vector<size_t> list_users_;  // instructions that refer to a list by `imm`
  bool too_large_ = false;
};

}  // namespace strom::engine::op
