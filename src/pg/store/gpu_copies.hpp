// When the copies of store tables' columns in the memory of GPUs are brought up to date while no query waits for them:
// by the options gpu_update_interval and gpu_update_threshold, as long as queries use copies. The store's worker starts
// a process for each database, pg/worker/store_renewal.cpp. A query brings by itself what is still missing.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Notes that a query uses copies of the table's columns. Any thread.
void note_gpu_use(const Table* table);

/// True: it is time to bring the table's copies up to date, and this has been noted. For the store's worker.
bool begins_renewal(Table* table);

/// True: begins_renewal() has been true, and end_renewal() has not been called for it.
bool has_renewal(const Table* table);

/// Notes that the copies have all redo before `position`, and returns the position of the call before.
uint64_t end_renewal(const Table* table, uint64_t position);

/// True while a process for a database runs. For the store's worker, as the next one.
bool is_renewing(Oid database);

/// Starts the process for a database, where none runs. May ereport.
void start_renewal_worker(Oid database);

}  // namespace strom::pg::store
