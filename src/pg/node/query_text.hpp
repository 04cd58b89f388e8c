// Texts of statements with $1, $2, … instead of their constants, in the form of pg_stat_statements, for
// pgstrom.stat_queries. Only the parser knows the places of constants, so a session records the text when a statement
// is parsed. May ereport.
#pragma once

#include <cstdint>

namespace strom::pg::node {

/// Makes this process record texts from now on; called once.
void note_query_texts();

/// The text of the statement with this identifier. nullptr when it has no constants, or was not parsed here lately.
const char* noted_text(uint64_t query_id);

}  // namespace strom::pg::node
