// The name under which the finished table of a join is cached: what is made of which rows. Used by exec/execution.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/op/join/join_table.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::op {

/// What a build pipeline makes of its source's rows, but not which rows these are.
struct BuildText {
  std::string text;  // the same for all pipelines, of any program, that make the same; empty: there is none
  std::vector<uint32_t> columns;  // of the source that it reads, in the order in which the text has them
};

/// `program` has its parameters filled in. No text: the pipeline probes other tables, or some value is not held.
BuildText build_text(const plan::Program& program, uint32_t join, const JoinNeeds& needs, bool single_byte);

}  // namespace strom::engine::op
