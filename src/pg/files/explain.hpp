// EXPLAIN's lines about an Arrow source. Used by the plain foreign scan and by the engine's.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/files/source.hpp"

namespace strom::pg::files {

/// Writes `referenced: a, b` and a line `fileN: PATH (read: S, size: S)` for each file. Formats other than text have
/// the properties fileN, fileN-read and fileN-size with numbers of bytes. If there are six files or more, only the
/// first and last two are printed, unless pg_strom.explain_developer_mode is on. pg_strom.regression_test_mode leaves
/// folders and sizes out. May throw.
void explain_source(const Source& source, ExplainState* es);

}  // namespace strom::pg::files
