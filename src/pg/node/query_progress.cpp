// Reports of a QueryRun: its progress while it runs, and its work when it has ended.
#include "pg/node/query_run.hpp"

namespace strom::pg::node {

// Called before rows are collected, because other nodes may take long to produce them.
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
  if (const source::RowSource* rows = sources_.input(pipeline).rows()) {
    source::RowSource::Extent extent{now.chunks_done, now.chunks};
    rows->tell_extent(&extent);
    state.chunks_done = extent.chunks_done;
    state.chunks = extent.chunks;
    state.bytes_done = extent.bytes_done;
    state.bytes = extent.bytes;
  }
  progress_.tell(state);
}

NodeWork QueryRun::work() const {
  NodeWork work;
  for (const double milliseconds : past_stats_.milliseconds) work.milliseconds += milliseconds;
  work.rows_read = past_stats_.rows;
  work.chunks_read = past_stats_.chunks_loaded;
  work.chunks_skipped = past_stats_.chunks_skipped + sources_.skipped_batches();
  work.fallback_rows = fallback_.count();
  work.device_rows = past_stats_.device_rows;
  work.peak_memory = past_stats_.peak_memory;
  return work;
}

}  // namespace strom::pg::node
