// Texts of statements with $1, $2, … in place of their constants, as pg_stat_statements writes them, for
// pgstrom.stat_queries. The parser knows where constants are, so a session notes the text when a statement is parsed.
// May ereport.
#pragma once

#include <cstdint>

namespace strom::pg::node {

/// From now on this process notes texts; called once.
void note_query_texts();

/// The text of the statement with this identifier; nullptr when it has no constants, or was not parsed here lately.
const char* noted_text(uint64_t query_id);

}  // namespace strom::pg::node
