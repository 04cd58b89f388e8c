// Turns one pipeline of a program into tile code, once its join tables are built: orders conjuncts and joins by
// selectivity, chooses probes by the kind of table, loads columns as late as possible, allocates registers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "engine/block/tile.hpp"
#include "engine/op/join/join_table.hpp"
#include "engine/op/prepared/prepared_constant.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::op {

/// A join as the assembler sees it.
struct JoinInfo {
  uint32_t join;  // index into Program::joins
  const JoinBuild* build;
  double match_fraction;  // estimate of probing rows that find a match
};

/// Where a group key's value is found when groups are emitted.
struct GroupKeySource {
  bool coded = false;
  uint32_t join_position = 0;  // coded: in Assembly::join_infos
  uint32_t payload = 0;        // coded: payload ordinal
  uint32_t stride = 1;         // coded and Grouping::kDirect: slot / stride % count is the code
  uint32_t key_column = 0;     // Grouping::kHashed: key column of the group table that holds the code or value
};

/// Tile code with the memory that its pointers refer to, and what the host must know about it.
struct Assembly {
  block::TileCode code{};
  std::vector<block::TileInstr> instrs;
  std::vector<block::Segment> segments;
  std::vector<uint16_t> lists;
  std::vector<block::AggregateCode> aggregates;
  std::vector<block::OwnArrays> own_arrays;
  std::vector<uint8_t> register_phys;
  std::vector<ConstantUse> constants;       // register i < size() holds constants[i]
  std::vector<registry::Phys> output_phys;  // kOutput
  std::vector<registry::Phys> key_phys;     // hashed groups
  std::vector<bool> copied_outputs;         // kOutput: the text must be copied before its source goes on
  std::vector<bool> copied_keys;            // hashed groups: the same for keys
  std::vector<bool> copied_aggregates;      // the same for min and max
  std::vector<GroupKeySource> group_keys;
  std::vector<JoinInfo> joins;  // in probing order
  std::vector<std::string> segment_names;
  uint32_t direct_groups = 0;   // groups that are not hashed
  bool ordered_groups = false;  // hashed: equal keys may differ in their bytes, and the first one is the group's key
};

/// About a pipeline's source.
struct SourceTraits {
  bool single_byte;  // Options::single_byte_encoding
  bool stable;       // ChunkSource::stable_text()
  bool late;         // ChunkSource::converts_late()
  bool on_device;    // tiles run on a device, where no text stays
};

/// `joins` in the order of the pipeline. A pipeline with a build sink outputs keys and payload of its join, and only
/// rows of `partition`. `of_build_rows`: the source has the rows of the first join's table, and the pipeline takes
/// those that go on by themselves (op/join/build_rows.hpp). Errors: kInternal when the code needs more registers than
/// can be numbered, which no verified program does.
Result<Assembly> assemble(const plan::Program& program, uint32_t pipeline, const std::vector<JoinInfo>& joins,
                          Partition partition, SourceTraits source, bool of_build_rows);

/// True when some aggregate of the pipeline depends on the order of the rows by more than the last digits.
bool depends_on_order(const Assembly& assembly);

/// What the pipeline probing `join` needs from its table; known before it is built.
JoinNeeds join_needs(const plan::Program& program, uint32_t join);

}  // namespace strom::engine::op
