#include "pg/table/heap/map_version.hpp"

#include <algorithm>

#include "pg/compat/heap.hpp"

namespace strom::pg::table {

bool leaves_traces(Relation relation) {
  return RelationNeedsWAL(relation) && !compat::is_file_new(relation) &&
         RelationGetRelid(relation) >= FirstNormalObjectId && !RecoveryInProgress();
}

// Serializable transactions detect conflicts by reading the page itself.
bool sees_all_visible(Snapshot snapshot) {
  return IsMVCCSnapshot(snapshot) && !snapshot->takenDuringRecovery && compat::snapshots_never_age() &&
         !IsolationIsSerializable();
}

BlockNumber visible_until(Relation relation, BlockNumber begin, BlockNumber end, Buffer* map_page,
                          XLogRecPtr* version) {
  if ((visibilitymap_get_status(relation, begin, map_page) & VISIBILITYMAP_ALL_VISIBLE) == 0) return begin;
  end = std::min(end, begin / compat::kBlocksInMapPage * compat::kBlocksInMapPage + compat::kBlocksInMapPage);
  LockBuffer(*map_page, BUFFER_LOCK_SHARE);
  const Page map = BufferGetPage(*map_page);
  *version = PageGetLSN(map);
  BlockNumber block = begin;
  while (block < end && compat::is_marked_visible(map, block)) ++block;
  LockBuffer(*map_page, BUFFER_LOCK_UNLOCK);
  return *version == InvalidXLogRecPtr ? begin : block;
}

}  // namespace strom::pg::table
