// The progress of running queries for other sessions: pgstrom.stat_progress. A backend's entry in PostgreSQL's table of
// backends has numbers for the progress of its command. Queries do not use them, and COPY uses only the first ones, so
// the last ones are free. Nothing needs to be preloaded, and nothing remains of a backend that is gone.
#pragma once

#include <chrono>
#include <cstdint>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

enum class ProgressPhase : uint8_t { kCollecting, kBuilding, kScanning };
/// A text for people, such as "building join table".
const char* phase_name(ProgressPhase phase);

/// The progress of one engine node. Unknown totals are 0.
struct ProgressState {
  ProgressPhase phase = ProgressPhase::kCollecting;
  int step = 1, steps = 1;  // tables that are read one after another
  Oid table = InvalidOid;
  int64_t chunks_done = 0, chunks = 0;  // record batches of files, or pages of tables
  int64_t rows = 0;
  int64_t bytes_done = 0, bytes = 0;

  bool operator==(const ProgressState&) const = default;
};

/// The progress that other sessions see. Times are TimestampTz.
struct ToldProgress {
  ProgressState state;
  int64_t started = 0, step_started = 0;
};

/// Decodes `numbers`, which are PgBackendStatus::st_progress_param. False when the backend `pid` reports no query.
bool read_progress(int pid, const int64* numbers, ToldProgress* told);

/// Reports the progress of one node from its start to its end. If reporting nodes are nested, the innermost one is
/// visible. Main thread; calls no PostgreSQL function that can raise an error.
class ProgressReport {
 public:
  ProgressReport() = default;
  ~ProgressReport() { end(); }
  ProgressReport(const ProgressReport&) = delete;
  ProgressReport& operator=(const ProgressReport&) = delete;

  /// The node starts. Short runs are never reported.
  void start();
  /// True if it is time for the next report.
  bool is_due();
  void tell(const ProgressState& state);
  void end();

 private:
  void write() const;

  ProgressReport* outer_ = nullptr;
  bool is_running_ = false;
  ToldProgress told_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace strom::pg::node
