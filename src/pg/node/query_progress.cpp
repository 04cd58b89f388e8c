// What a QueryRun tells of itself: its progress while it runs, and its work when it has ended.
#include "pg/node/query_run.hpp"

namespace strom::pg::node {

// Other nodes may take long to give their rows.
void QueryRun::tell_collecting(size_t pipeline) {
  ProgressState state;
  state.phase = ProgressPhase::kCollecting;
  state.step = static_cast<int>(pipeline) + 1;
  state.steps = static_cast<int>(sources_.size());
  progress_.tell(state);
}

void QueryRun::tell_progress() {
  if (!progress_.is_due()) return;
  const engine::exec::Progress now = execution_->progress();
  const size_t pipeline = now.pipeline, last = sources_.size() - 1;
  ProgressState state;
  state.phase = pipeline < last ? ProgressPhase::kBuilding : ProgressPhase::kScanning;
  state.step = static_cast<int>(pipeline) + 1;
  state.steps = static_cast<int>(last) + 1;
  if (const Index relid = plan_.pipelines[pipeline].relid; relid != 0)
    state.table = exec_rt_fetch(relid, state_->ss.ps.state)->relid;
  state.rows = now.rows;
  state.chunks_done = now.chunks_done;
  state.chunks = now.chunks;
  if (const source::HeapRows* heap = sources_.input(pipeline).heap_rows()) {
    state.chunks_done = heap->blocks_done();
    state.chunks = heap->blocks();
    state.bytes_done = state.chunks_done * BLCKSZ;
    state.bytes = state.chunks * BLCKSZ;
  } else if (const source::ArrowRows* files = sources_.input(pipeline).arrow_rows();
             files != nullptr && now.chunks > 0) {
    state.bytes = files->source().file_bytes();
    state.bytes_done = static_cast<int64_t>(static_cast<double>(state.bytes) * static_cast<double>(now.chunks_done) /
                                            static_cast<double>(now.chunks));
  }
  progress_.tell(state);
}

NodeWork QueryRun::work() const {
  NodeWork work;
  for (const double milliseconds : past_stats_.milliseconds) work.milliseconds += milliseconds;
  work.rows_read = past_stats_.rows;
  work.chunks_read = past_stats_.chunks_loaded;
  work.chunks_skipped = past_stats_.chunks_skipped + sources_.skipped_batches();
  work.rows_rechecked = fallback_.count();
  work.device_rows = past_stats_.device_rows;
  work.peak_memory = past_stats_.peak_memory;
  return work;
}

}  // namespace strom::pg::node
