// What the visibility map guarantees about pages that are read without their locks, and for how long. Used by
// CachedTable and DirectPages. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::table {

/// False for tables whose changes may leave no trace in the WAL, because the LSNs of the map's pages are then
/// meaningless.
bool leaves_traces(Relation relation);
/// True when the snapshot sees all that is all-visible, and its reads need not be recorded (for serializability).
bool sees_all_visible(Snapshot snapshot);

/// The first block of [begin, end) that is not all-visible, or `end`. It does not look further than the blocks of one
/// page of the map. Unless the result is `begin`, *map_page is that page, pinned. It may be another page or none before
/// the call. *version is its LSN at a time when all blocks up to the result were all-visible. As long as the LSN is
/// unchanged and a block's bit is set, no tuple of the block has changed: a change clears the bit, and setting the bit
/// again changes the LSN.
BlockNumber visible_until(Relation relation, BlockNumber begin, BlockNumber end, Buffer* map_page, XLogRecPtr* version);

}  // namespace strom::pg::table
