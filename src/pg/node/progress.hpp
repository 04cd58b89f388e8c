// How far a running query is, for other sessions: pgstrom.stat_progress. A backend's entry in PostgreSQL's table of
// backends has numbers for the progress of its command; queries have no such command, and COPY uses the first ones, so
// that the last ones are free. Nothing has to be preloaded for it, and nothing remains of a backend that is gone.
#pragma once

#include <chrono>
#include <cstdint>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

enum class ProgressPhase : uint8_t { kCollecting, kBuilding, kScanning };
/// "building join table"
const char* phase_name(ProgressPhase phase);

/// Where one engine node is. Totals are 0 where they are not known.
struct ProgressState {
  ProgressPhase phase = ProgressPhase::kCollecting;
  int step = 1, steps = 1;  // tables that are read, one after another
  Oid table = InvalidOid;
  int64_t chunks_done = 0, chunks = 0;  // record batches of files, pages of tables
  int64_t rows = 0;
  int64_t bytes_done = 0, bytes = 0;

  bool operator==(const ProgressState&) const = default;
};

/// What other sessions see; times are TimestampTz.
struct ToldProgress {
  ProgressState state;
  int64_t started = 0, step_started = 0;
};

/// False when a backend of process `pid` tells of no query; `numbers`: PgBackendStatus::st_progress_param.
bool read_progress(int pid, const int64* numbers, ToldProgress* told);

/// Of one node, from its start to its end. Of several that run in one another the innermost is told. Main thread; calls
/// nothing of PostgreSQL's that can raise an error.
class ProgressReport {
 public:
  ProgressReport() = default;
  ~ProgressReport() { end(); }
  ProgressReport(const ProgressReport&) = delete;
  ProgressReport& operator=(const ProgressReport&) = delete;

  /// The node starts: what is short is not told.
  void start();
  /// Whether it is time to tell again.
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
