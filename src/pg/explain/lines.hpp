// EXPLAIN's lines that several rooms write. Used by the kinds of table, by foreign scans and by src/pg/node. May throw.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::explain {

/// "[kept: 3, read: 4]"; in other formats than text a property for each, whose name begins with `property`. With a unit
/// they are bytes.
void explain_counts(ExplainState* es, const std::string& label, const std::string& property, const char* unit,
                    std::initializer_list<std::pair<std::string, int64_t>> counts);

/// What was cached by earlier queries, what was not, and what this one has put into the cache; nothing where nothing
/// was.
void explain_cached(ExplainState* es, const std::string& what, int64_t cached, const std::string& otherwise,
                    int64_t others, int64_t filled);

/// `Stats-Hint: (a < 1), (b = 2)  [loaded: n, skipped: m]`: conditions that statistics are asked about, and how many
/// record batches they left and ruled out (`loaded` < 0: not known). Nothing without conditions. May throw.
void explain_statistics(const std::vector<std::string>& conditions, int64_t loaded, int64_t skipped, ExplainState* es);

/// "512B", "3.4MB": three digits are shown, units of 1024.
std::string format_bytes(int64_t bytes);

}  // namespace strom::pg::explain
