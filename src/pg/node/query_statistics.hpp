// What engine nodes have done, for each query, in shared memory: pgstrom.stat_queries. Only where the extension is in
// shared_preload_libraries; nothing is kept over a restart. May ereport.
#pragma once

#include <cstdint>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

/// Asks for the memory; called once by _PG_init.
void request_query_statistics();

/// Of one execution of a node, or of many.
struct NodeWork {
  double milliseconds = 0;
  int64_t rows_read = 0, chunks_read = 0, chunks_skipped = 0, fallback_rows = 0, device_rows = 0, peak_memory = 0;
};

/// Adds `work` to what is known of the query that `estate` runs. Nothing without the memory.
void add_query_work(const EState* estate, const NodeWork& work);

constexpr int kQueryTextBytes = 1024;

struct QueryWork {
  Oid user, database;
  uint64_t query_id;
  int64_t executions;  // of nodes; 0: an unused entry
  NodeWork work;       // sums, but for peak_memory
  double least_ms, most_ms;
  TimestampTz last;
  int encoding;                // of the text
  char text[kQueryTextBytes];  // with $n for its constants where they are known, cut
};

/// False when the extension is not preloaded; then the functions below are not to be called.
bool has_query_statistics();
struct QueryWorks {
  QueryWork* entries;  // the caller's, in its memory context
  int count;
  TimestampTz reset;
};
void copy_query_works(QueryWorks* works);
void reset_query_works();

}  // namespace strom::pg::node
