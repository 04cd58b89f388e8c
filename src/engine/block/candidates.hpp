// The end of a tile's search for candidates, shared by joins by cells and joins by trees. Single source.
#pragma once

#include "engine/block/registers.hpp"

namespace strom::engine::block {

/// Makes the registers of kFindCandidate current: the rows found, with flags if a thread has seen an error, and whether
/// there are more candidates.
template <class P>
STROM_KERNEL void own_candidates(const P& p, TileState& s, const TileInstr& instr, unsigned errors) {
  const bool flagged = p.any(errors != 0);
  p.leader([&] {
    own(s, instr.dst, flagged);
    own(s, instr.b, false);
  });
  p.sync();
}

}  // namespace strom::engine::block
