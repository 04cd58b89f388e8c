// The one place that knows all kinds of joins.
#include "engine/op/gist_join/spatial_index.hpp"
#include "engine/op/hash_join/direct_index.hpp"
#include "engine/op/hash_join/hash_index.hpp"
#include "engine/op/hash_join/list_index.hpp"
#include "engine/op/join/join_index.hpp"
#include "engine/op/join/join_limit.hpp"
#include "engine/op/tree_join/tree_index.hpp"

namespace strom::engine::op {

using block::JoinTable;
using block::JoinTableKind;

int64_t index_row_memory(plan::SpatialMatch spatial, int64_t key_bytes) {
  // Polygons of many points have stripes, too (geo/prepare_polygon.hpp).
  constexpr int64_t kHashTable = 40, kOfPolygon = 512, kManyBytes = 8192;
  const int64_t of_byte = key_bytes > kManyBytes ? 4 : 2;
  if (plan::has_tree(spatial)) return geo::tree_index_memory(1) - geo::tree_index_memory(0);
  return spatial == plan::SpatialMatch::kNone ? kHashTable : kOfPolygon + of_byte * key_bytes;
}

std::unique_ptr<JoinIndex> choose_join_index(const JoinRows& rows, const JoinNeeds& needs, int64_t memory,
                                             int64_t memory_limit) {
  if (rows.keys.empty()) return std::make_unique<ListIndex>(rows, needs);
  if (plan::has_tree(needs.spatial)) return std::make_unique<TreeIndex>(rows, needs);
  if (needs.spatial != plan::SpatialMatch::kNone) return std::make_unique<SpatialIndex>(rows, needs);
  auto hash = std::make_unique<HashIndex>(rows, needs);
  if (const auto entries = dense_entries(rows)) {
    auto direct = std::make_unique<DirectIndex>(rows, needs, *entries);
    const int64_t wanted = direct->wanted_memory();
    if (memory + wanted <= memory_limit || wanted <= hash->wanted_memory()) return direct;
  }
  return hash;
}

std::unique_ptr<JoinIndex> join_index_of(const JoinTable& built, const JoinRows& rows, const JoinNeeds& needs) {
  switch (built.kind) {
    case JoinTableKind::kDirect:
      return std::make_unique<DirectIndex>(rows, needs, KeyEntries{built.direct.min, built.direct.range});
    case JoinTableKind::kHash: return std::make_unique<HashIndex>(rows, needs);
    case JoinTableKind::kSpatial: {
      auto spatial = std::make_unique<SpatialIndex>(rows, needs);
      spatial->adopt(built.spatial.cells);
      return spatial;
    }
    case JoinTableKind::kTree: {
      auto tree = std::make_unique<TreeIndex>(rows, needs);
      tree->adopt(built.tree.image);
      return tree;
    }
    case JoinTableKind::kList: break;
  }
  return std::make_unique<ListIndex>(rows, needs);
}

std::vector<TableArray> arrays_of(const JoinTable& table) {
  std::vector<TableArray> arrays;
  switch (table.kind) {
    case JoinTableKind::kDirect: DirectIndex::add_arrays(table, &arrays); break;
    case JoinTableKind::kHash: HashIndex::add_arrays(table, &arrays); break;
    case JoinTableKind::kSpatial: SpatialIndex::add_arrays(table, &arrays); break;
    case JoinTableKind::kTree: TreeIndex::add_arrays(table, &arrays); break;
    case JoinTableKind::kList: break;
  }
  arrays.push_back({offsetof(JoinTable, next), uint64_t{table.row_count} * sizeof(uint32_t)});
  arrays.push_back({offsetof(JoinTable, codes), uint64_t{table.row_count} * sizeof(uint32_t)});
  return arrays;
}

}  // namespace strom::engine::op
