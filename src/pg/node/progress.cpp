#include "pg/node/progress.hpp"

#include "pg/compat/backend_status.hpp"

namespace strom::pg::node {

namespace {

constexpr std::chrono::milliseconds kInterval{50};

/// Positions among the PGSTAT_NUM_PROGRESS_PARAM progress numbers.
enum ProgressIndex : int {
  kMark = 10,
  kSteps,
  kTable,
  kChunksDone,
  kChunks,
  kRows,
  kBytesDone,
  kBytes,
  kStarted,
  kStepStarted
};
constexpr int kPlaces = 10;
static_assert(kMark + kPlaces <= PGSTAT_NUM_PROGRESS_PARAM);

constexpr int64_t kMagic = 0x7374726F6DLL << 24;

int64_t mark_of(int pid) { return kMagic ^ pid; }

ProgressReport* innermost = nullptr;

// False during other commands, such as CREATE INDEX, which use more of the numbers.
bool may_write() {
  if (MyBEEntry == nullptr) return false;
  const ProgressCommandType command = MyBEEntry->st_progress_command;
  return command == PROGRESS_COMMAND_INVALID || command == PROGRESS_COMMAND_COPY;
}

void clear() {
  if (may_write()) pgstat_progress_update_param(kMark, 0);
}

}  // namespace

const char* phase_name(ProgressPhase phase) {
  switch (phase) {
    case ProgressPhase::kCollecting: return "collecting rows of other nodes";
    case ProgressPhase::kBuilding: return "building join table";
    case ProgressPhase::kScanning: return "scanning";
  }
  return "?";
}

bool read_progress(int pid, const int64* numbers, ToldProgress* told) {
  if (pid == 0 || numbers[kMark] != mark_of(pid)) return false;
  ProgressState& state = told->state;
  state.phase = static_cast<ProgressPhase>(numbers[kSteps] & 0xFF);
  state.step = static_cast<int>(numbers[kSteps] >> 8 & 0xFFFF);
  state.steps = static_cast<int>(numbers[kSteps] >> 24 & 0xFFFF);
  state.table = static_cast<Oid>(numbers[kTable]);
  state.chunks_done = numbers[kChunksDone];
  state.chunks = numbers[kChunks];
  state.rows = numbers[kRows];
  state.bytes_done = numbers[kBytesDone];
  state.bytes = numbers[kBytes];
  told->started = numbers[kStarted];
  told->step_started = numbers[kStepStarted];
  return true;
}

void ProgressReport::start() { next_ = std::chrono::steady_clock::now() + kInterval; }

bool ProgressReport::is_due() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  next_ = now + kInterval;
  return true;
}

void ProgressReport::tell(const ProgressState& state) {
  if (is_running_ && state == told_.state) return;
  const bool is_step = !is_running_ || state.step != told_.state.step || state.phase != told_.state.phase;
  if (!is_running_) {
    is_running_ = true;
    told_.started = GetCurrentTimestamp();
    outer_ = innermost;
    innermost = this;
  }
  if (is_step) told_.step_started = GetCurrentTimestamp();
  told_.state = state;
  if (innermost == this) write();
}

void ProgressReport::write() const {
  if (!may_write()) return;
  const ProgressState& state = told_.state;
  int places[kPlaces];
  for (int i = 0; i < kPlaces; ++i) places[i] = kMark + i;
  const int64 values[kPlaces] = {mark_of(MyProcPid),
                                 static_cast<int64>(state.phase) | int64{state.step} << 8 | int64{state.steps} << 24,
                                 static_cast<int64>(state.table),
                                 state.chunks_done,
                                 state.chunks,
                                 state.rows,
                                 state.bytes_done,
                                 state.bytes,
                                 told_.started,
                                 told_.step_started};
  pgstat_progress_update_multi_param(kPlaces, places, values);
}

void ProgressReport::end() {
  if (!is_running_) return;
  is_running_ = false;
  for (ProgressReport** link = &innermost; *link != nullptr; link = &(*link)->outer_) {
    if (*link != this) continue;
    *link = outer_;
    break;
  }
  if (innermost != nullptr)
    innermost->write();
  else
    clear();
}

}  // namespace strom::pg::node
