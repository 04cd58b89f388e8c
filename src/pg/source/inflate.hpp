// Texts that PostgreSQL has compressed within their tuple (pglz, lz4), for engine threads. Used by src/pg/node.
#pragma once

#include "engine/block/tile.hpp"

namespace strom::pg::source {

/// Takes what follows the length of a compressed varlena, in a page that may be replaced meanwhile. Calls of PostgreSQL
/// only what does not ereport. Once for the session, on the main thread.
const engine::block::Inflater* inflater();

}  // namespace strom::pg::source
