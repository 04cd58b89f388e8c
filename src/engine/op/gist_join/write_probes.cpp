#include "engine/op/gist_join/write_probes.hpp"

namespace strom::engine::op {

using block::TileOp;
using registry::Phys;

int write_first_probe(JoinWriter* writer, size_t position, int rows) {
  const std::vector<int> keys = writer->outer_keys(position);
  PipelineWriter& tiles = writer->tiles();
  VirtualInstr& find = tiles.emit(TileOp::kFindCandidate, rows, -1, writer->more_register(position), -1,
                                  static_cast<uint32_t>(position));
  find.list = keys;
  find.near_list = true;
  const int mask = tiles.new_register(Phys::kBool);
  tiles.emit(TileOp::kRowFound, mask, rows);
  return mask;
}

int write_next_probe(JoinWriter* writer, size_t position, int rows) {
  const std::vector<int> keys = writer->outer_keys(position);
  PipelineWriter& tiles = writer->tiles();
  const int following = tiles.new_register(Phys::kI32);
  VirtualInstr& next = tiles.emit(TileOp::kNextCandidate, following, rows, writer->more_register(position), -1,
                                  static_cast<uint32_t>(position));
  next.list = keys;
  next.near_list = true;
  return following;
}

}  // namespace strom::engine::op
