// EXPLAIN's lines about an Arrow source. Used by the plain foreign scan and by the engine's nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/files/source.hpp"

namespace strom::pg::files {

/// `referenced: a, b` and one `fileN: PATH (read: S, size: S)` for each file; other formats than text have the
/// properties fileN, fileN-read and fileN-size with numbers of bytes. From six files on only the first and last two are
/// printed, unless pg_strom.explain_developer_mode is on. pg_strom.regression_test_mode leaves folders and sizes out.
/// May throw.
void explain_source(const Source& source, ExplainState* es);

/// `Stats-Hint: (a < 1), (b = 2)  [loaded: n, skipped: m]`: conditions that statistics are asked about, and how many
/// record batches they left and ruled out (`loaded` < 0: not known). Nothing without conditions. May throw.
void explain_statistics(const std::vector<std::string>& conditions, int64_t loaded, int64_t skipped, ExplainState* es);

/// "512B", "3.4MB": three digits are shown, units of 1024.
std::string format_bytes(int64_t bytes);

}  // namespace strom::pg::files
