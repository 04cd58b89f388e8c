// What the visibility map promises of pages that are read without their locks, and how long. Used by CachedTable and
// DirectPages. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::table {

/// False for tables whose changes need not leave a trace in the WAL, so that the LSNs of the map's pages say nothing.
bool leaves_traces(Relation relation);
/// True when the snapshot sees whatever is all-visible, and nobody has to be told what it reads.
bool sees_all_visible(Snapshot snapshot);

/// The first block of [begin, end) that is not all-visible, or `end`; no further than the map's page of `begin` goes.
/// Unless it is `begin`, that page is pinned in *map_page, which may be another one before, or none, and *version is
/// its LSN at a time when all these blocks were all-visible: as long as it is, and a block's bit is set, no tuple of
/// the block has changed. A change clears the bit, and what sets it again sets the LSN.
BlockNumber visible_until(Relation relation, BlockNumber begin, BlockNumber end, Buffer* map_page, XLogRecPtr* version);

}  // namespace strom::pg::table
