// EXPLAIN's lines with several counts. Used by the sources and by src/pg/node. May throw.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::source {

/// "[kept: 3, read: 4]"; in other formats than text a property for each, whose name begins with `property`. With a unit
/// they are bytes.
void explain_counts(ExplainState* es, const std::string& label, const std::string& property, const char* unit,
                    std::initializer_list<std::pair<std::string, int64_t>> counts);

/// What was cached by earlier queries, and what was not; nothing where nothing was.
void explain_cached(ExplainState* es, const std::string& what, int64_t cached, const std::string& otherwise,
                    int64_t others);

}  // namespace strom::pg::source
