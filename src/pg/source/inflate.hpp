// Texts that PostgreSQL has compressed within their tuple (pglz, lz4), for engine threads. Used by src/pg/node.
#pragma once

#include "engine/block/tile.hpp"

namespace strom::pg::source {

/// Decompresses the part of a compressed varlena behind its length, in a page that may be replaced meanwhile. It calls
/// only functions of PostgreSQL that never ereport. Made once in a session, on the main thread.
const engine::block::Inflater* inflater();

}  // namespace strom::pg::source
