#include "pg/table/heap/block_ranges.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/compat/bitmap.hpp"

namespace strom::pg::table {

using boundary::guard;

std::vector<BlockRange> block_ranges(PlanState* bitmap) {
  std::vector<BlockRange> ranges;
  TIDBitmap* found = guard([=] {
    Node* result = MultiExecProcNode(bitmap);
    if (result == nullptr || !IsA(result, TIDBitmap)) elog(ERROR, "unrecognized result from subplan");
    return reinterpret_cast<TIDBitmap*>(result);
  });
  compat::BitmapBlocks blocks = guard([=] { return compat::begin_blocks(found); });
  // The bitmap returns blocks in ascending order. After an error it stays in the executor's memory.
  for (;;) {
    const BlockNumber block = guard([&blocks] { return compat::next_block(&blocks); });
    if (block == InvalidBlockNumber) break;
    if (!ranges.empty() && ranges.back().end == block)
      ++ranges.back().end;
    else
      ranges.push_back({block, block + 1});
  }
  guard([&] {
    compat::end_blocks(&blocks);
    tbm_free(found);
  });
  return ranges;
}

}  // namespace strom::pg::table
