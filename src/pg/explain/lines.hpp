// EXPLAIN's lines that several folders write: kinds of tables, foreign scans, and src/pg/node. May throw.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::explain {

/// Writes counts, such as "[cached: 3, read: 4]". Formats other than text get a property for each count, whose name
/// begins with `property`. With a `unit` the counts are bytes.
void explain_counts(ExplainState* es, const std::string& label, const std::string& property, const char* unit,
                    std::initializer_list<std::pair<std::string, int64_t>> counts);

/// Writes how much was cached by earlier queries, how much was not, and how much this query has added to the cache.
/// Writes nothing if all are 0.
void explain_cached(ExplainState* es, const std::string& what, int64_t cached, const std::string& otherwise,
                    int64_t others, int64_t filled);

/// Writes `Stats-Hint: (a < 1), (b = 2)  [loaded: n, skipped: m]`: the conditions that statistics can decide, and how
/// many record batches they kept and ruled out (`loaded` < 0: unknown). Writes nothing without conditions. May throw.
void explain_statistics(const std::vector<std::string>& conditions, int64_t loaded, int64_t skipped, ExplainState* es);

/// "512B", "3.4MB": up to three digits, in units of 1024.
std::string format_bytes(int64_t bytes);

}  // namespace strom::pg::explain
