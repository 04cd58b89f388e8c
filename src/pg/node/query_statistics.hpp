// The work of engine nodes for each query, in shared memory: pgstrom.stat_queries. Requires the extension in
// shared_preload_libraries. A restart loses it. May ereport.
#pragma once

#include <cstdint>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

/// Requests the shared memory; called once by _PG_init.
void request_query_statistics();

/// The work of one or more executions of a node.
struct NodeWork {
  double milliseconds = 0;
  int64_t rows_read = 0, chunks_read = 0, chunks_skipped = 0, fallback_rows = 0, device_rows = 0, peak_memory = 0;
};

/// Adds `work` to the entry of the query that `estate` runs. Does nothing if there is no shared memory.
void add_query_work(const EState* estate, const NodeWork& work);

constexpr int kQueryTextBytes = 1024;

struct QueryWork {
  Oid user, database;
  uint64_t query_id;
  int64_t executions;  // of nodes; 0: an unused entry
  NodeWork work;       // sums; peak_memory is a maximum
  double least_ms, most_ms;
  TimestampTz last;
  int encoding;                // of the text
  char text[kQueryTextBytes];  // may be cut off; has $n for constants where they are known
};

/// False when the extension is not preloaded. The functions below must not be called then.
bool has_query_statistics();
struct QueryWorks {
  QueryWork* entries;  // in the caller's memory context
  int count;
  TimestampTz reset;
};
void copy_query_works(QueryWorks* works);
void reset_query_works();

}  // namespace strom::pg::node
