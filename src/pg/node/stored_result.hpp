// Whether the statement that is being started stores its rows in a PostgreSQL table. Used by src/pg/node.
#pragma once

namespace strom::pg::node {

/// Chains the executor's hook. Called once.
void watch_stored_results();

/// Called while a plan's nodes are made. True if values are stored unchanged, so that compressed ones have to stay
/// compressed.
bool result_is_stored();

}  // namespace strom::pg::node
