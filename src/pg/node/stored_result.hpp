// Whether the rows of the statement that is being started go into a table of PostgreSQL's. Used by src/pg/node.
#pragma once

namespace strom::pg::node {

/// Chains the hook. Called once.
void watch_stored_results();

/// While the nodes of a plan are made: values are stored as they come, so that compressed ones have to stay so.
bool result_is_stored();

}  // namespace strom::pg::node
