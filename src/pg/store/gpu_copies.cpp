#include "pg/store/gpu_copies.hpp"

#include <map>

#include "pg/boundary/background_worker.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::store {

namespace {

/// After so many intervals without a query that used copies nothing is brought any more.
constexpr uint64_t kIntervalsWithoutUse = 8;

template <class T>
T get(const T& value) {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}
template <class T>
void set(T* value, T to) {
  __atomic_store_n(value, to, __ATOMIC_RELAXED);
}

/// By database.
std::map<Oid, boundary::StartedWorker>& workers() {
  static auto* started = new std::map<Oid, boundary::StartedWorker>();
  return *started;
}

}  // namespace

void note_gpu_use(const Table* table) {
  GpuCopies* copies = &table->shared->gpu;
  const Options& options = table->options;
  constexpr uint64_t kPercent = 100;
  set(&copies->interval, static_cast<uint64_t>(options.gpu_update_interval) * USECS_PER_SEC);
  set(&copies->threshold, options.redo_log_limit / kPercent * static_cast<uint64_t>(options.gpu_update_threshold));
  set(&copies->used_at, GetCurrentTimestamp());
}

bool begins_renewal(Table* table) {
  GpuCopies* copies = &table->shared->gpu;
  const int64_t used_at = get(copies->used_at);
  if (used_at == 0) return false;
  const uint64_t appended = __atomic_load_n(&table->shared->log.appended, __ATOMIC_ACQUIRE);
  const uint64_t interval = get(copies->interval);
  const TimestampTz now = GetCurrentTimestamp();
  if (appended == get(copies->begun) || now - used_at > static_cast<int64_t>(kIntervalsWithoutUse * interval))
    return false;
  // The first query has just brought everything.
  if (get(copies->begun_at) == 0) {
    set(&copies->begun, appended);
    set(&copies->begun_at, now);
    return false;
  }
  const bool is_time = now - get(copies->begun_at) >= static_cast<int64_t>(interval);
  if (!is_time && appended - get(copies->begun) < get(copies->threshold)) return false;
  set(&copies->begun, appended);
  set(&copies->begun_at, now);
  return true;
}

bool has_renewal(const Table* table) { return get(table->shared->gpu.begun) > get(table->shared->gpu.done); }

uint64_t end_renewal(const Table* table, uint64_t position) {
  return __atomic_exchange_n(&table->shared->gpu.done, position, __ATOMIC_RELAXED);
}

bool is_renewing(Oid database) { return workers()[database].is_running(); }

void start_renewal_worker(Oid database) {
  workers()[database].start(boundary::worker_of("strom_store_renewal_worker_main", "pg_strom copies of store tables",
                                                ObjectIdGetDatum(database)));
}

}  // namespace strom::pg::store
