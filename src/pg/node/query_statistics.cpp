#include "pg/node/query_statistics.hpp"

#include <algorithm>

#include "pg/boundary/boundary.hpp"

#include "pg/compat/query_id.hpp"
#include "pg/node/query_text.hpp"

extern "C" {
#include "storage/shmem.h"
}

namespace strom::pg::node {

namespace {

constexpr int kMostQueries = 1000;  // beyond this, the least recently run ones are dropped
constexpr const char kTranche[] = "pg_strom_queries";

struct SharedWorks {
  LWLock* lock;
  TimestampTz reset;
  QueryWork entries[kMostQueries];
};

SharedWorks* shared = nullptr;
shmem_request_hook_type next_request_hook = nullptr;
shmem_startup_hook_type next_startup_hook = nullptr;

void on_request() {
  if (next_request_hook != nullptr) next_request_hook();
  RequestAddinShmemSpace(sizeof(SharedWorks));
  RequestNamedLWLockTranche(kTranche, 1);
}

void on_startup() {
  if (next_startup_hook != nullptr) next_startup_hook();
  bool found = false;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  shared = static_cast<SharedWorks*>(ShmemInitStruct("pg_strom queries", sizeof(SharedWorks), &found));
  if (!found) {
    MemSet(shared, 0, sizeof(SharedWorks));
    shared->lock = &GetNamedLWLockTranche(kTranche)->lock;
    shared->reset = GetCurrentTimestamp();
  }
  LWLockRelease(AddinShmemInitLock);
}

// Statements without an identifier are distinguished by a hash of their text.
uint64_t query_id(const EState* estate, const char* text) {
  if (estate->es_plannedstmt != nullptr && estate->es_plannedstmt->queryId != 0)
    return static_cast<uint64_t>(estate->es_plannedstmt->queryId);
  return DatumGetUInt64(
      hash_any_extended(reinterpret_cast<const unsigned char*>(text), static_cast<int>(strlen(text)), 0));
}

struct StatementText {
  const char* begin;
  int length;
};

// The text with $n for constants. The original text, if it has no constants or was not parsed in this session lately.
StatementText text_of(const EState* estate, const char* source, uint64_t id) {
  if (const char* noted = noted_text(id)) return {noted, static_cast<int>(strlen(noted))};
  int offset = -1, length = 0;
  if (estate->es_plannedstmt != nullptr) {
    offset = estate->es_plannedstmt->stmt_location;
    length = estate->es_plannedstmt->stmt_len;
  }
  const char* begin = CleanQuerytext(source, &offset, &length);
  return {begin, length};
}

// The query's entry, or one that it can take over.
QueryWork* entry_of(Oid user, Oid database, uint64_t id) {
  QueryWork* oldest = &shared->entries[0];
  for (QueryWork& entry : shared->entries) {
    if (entry.executions > 0 && entry.query_id == id && entry.user == user && entry.database == database) return &entry;
    if (entry.executions == 0 ? oldest->executions > 0 : oldest->executions > 0 && entry.last < oldest->last)
      oldest = &entry;
  }
  MemSet(oldest, 0, sizeof(*oldest));
  oldest->user = user;
  oldest->database = database;
  oldest->query_id = id;
  return oldest;
}

}  // namespace

void request_query_statistics() {
  if (!process_shared_preload_libraries_in_progress) return;
  EnableQueryId();
  note_query_texts();
  next_request_hook = shmem_request_hook;
  shmem_request_hook = on_request;
  next_startup_hook = shmem_startup_hook;
  shmem_startup_hook = on_startup;
}

void add_query_work(const EState* estate, const NodeWork& work) {
  if (shared == nullptr) return;
  const char* source = estate->es_sourceText != nullptr ? estate->es_sourceText : "";
  const uint64_t id = query_id(estate, source);
  const StatementText text = text_of(estate, source, id);
  const int kept =
      text.length < kQueryTextBytes ? text.length : pg_mbcliplen(text.begin, text.length, kQueryTextBytes - 1);
  const TimestampTz now = GetCurrentTimestamp();
  LWLockAcquire(shared->lock, LW_EXCLUSIVE);
  QueryWork* entry = entry_of(GetUserId(), MyDatabaseId, id);
  if (entry->executions == 0) {
    memcpy(entry->text, text.begin, static_cast<size_t>(kept));
    entry->text[kept] = '\0';
    entry->encoding = GetDatabaseEncoding();
  }
  const bool is_first = entry->executions++ == 0;
  entry->least_ms = is_first ? work.milliseconds : std::min(entry->least_ms, work.milliseconds);
  entry->most_ms = std::max(entry->most_ms, work.milliseconds);
  entry->last = now;
  entry->work.milliseconds += work.milliseconds;
  entry->work.rows_read += work.rows_read;
  entry->work.chunks_read += work.chunks_read;
  entry->work.chunks_skipped += work.chunks_skipped;
  entry->work.fallback_rows += work.fallback_rows;
  entry->work.device_rows += work.device_rows;
  entry->work.peak_memory = std::max(entry->work.peak_memory, work.peak_memory);
  LWLockRelease(shared->lock);
}

bool has_query_statistics() { return shared != nullptr; }

void copy_query_works(QueryWorks* works) {
  works->entries = static_cast<QueryWork*>(palloc(sizeof(shared->entries)));
  works->count = 0;
  LWLockAcquire(shared->lock, LW_SHARED);
  works->reset = shared->reset;
  for (const QueryWork& entry : shared->entries)
    if (entry.executions > 0) works->entries[works->count++] = entry;
  LWLockRelease(shared->lock);
}

void reset_query_works() {
  LWLockAcquire(shared->lock, LW_EXCLUSIVE);
  for (QueryWork& entry : shared->entries) entry.executions = 0;
  shared->reset = GetCurrentTimestamp();
  LWLockRelease(shared->lock);
}

}  // namespace strom::pg::node
