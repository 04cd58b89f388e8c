// Tile code of separately compiled probes (kFindCandidate, kNextCandidate): their keys are the registers of a list.
// Both functions return what JoinIndex specifies. Used by the indexes of op/gist_join and op/tree_join.
#pragma once

#include "engine/op/join/join_writer.hpp"

namespace strom::engine::op {

int write_first_probe(JoinWriter* writer, size_t position, int rows);
int write_next_probe(JoinWriter* writer, size_t position, int rows);

}  // namespace strom::engine::op
