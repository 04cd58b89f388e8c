// The name under which the finished table of a join is cached: what was made of which rows. Used by
// exec/inner_sides.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/op/join/join_table.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::op {

/// What a build pipeline makes of its source's rows, without saying which rows these are.
struct BuildText {
  std::string text;               // equal for all pipelines of any program that make the same; empty: there is none
  std::vector<uint32_t> columns;  // columns of the source that it reads, in the text's order
};

/// `program` has its parameters filled in. The text is empty when the pipeline probes other tables, or some value is
/// unheld.
BuildText build_text(const plan::Program& program, uint32_t join, const JoinNeeds& needs, bool single_byte);

}  // namespace strom::engine::op
