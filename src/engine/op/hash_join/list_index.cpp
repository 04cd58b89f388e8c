#include "engine/op/hash_join/list_index.hpp"

#include "engine/op/join/join_writer.hpp"

namespace strom::engine::op {

using block::TileOp;

Status ListIndex::build(const std::vector<uint32_t>&, int, block::JoinTable* table) {
  table->kind = block::JoinTableKind::kList;
  table->unique = rows_.count <= 1 || needs_.any_match;
  if (table->unique) return Status::ok();
  next_.resize(static_cast<size_t>(rows_.count));
  for (uint32_t row = 0; row < next_.size(); ++row) next_[row] = row + 1;
  next_.back() = block::kNoRow;
  table->next = next_.data();
  return Status::ok();
}

void ListIndex::find(const std::vector<HostColumn>&, std::vector<int64_t>* found) const {
  for (int64_t row = 0; row < rows_.count; ++row) found->push_back(row);
}

int ListIndex::write_candidates(JoinWriter* writer, size_t position, int rows) const {
  PipelineWriter& tiles = writer->tiles();
  const int mask = tiles.new_register(registry::Phys::kBool);
  tiles.emit(TileOp::kFirstRow, rows, -1, -1, -1, static_cast<uint32_t>(position));
  tiles.emit(TileOp::kRowFound, mask, rows);
  return mask;
}

}  // namespace strom::engine::op
