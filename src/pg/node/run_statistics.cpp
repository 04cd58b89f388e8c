#include "pg/node/run_statistics.hpp"

#include <algorithm>

namespace strom::pg::node {

using engine::exec::Stats;

void add_statistics(Stats* sum, const Stats& more) {
  if (sum->stages.size() < more.stages.size()) sum->stages.resize(more.stages.size());
  if (sum->milliseconds.size() < more.milliseconds.size()) sum->milliseconds.resize(more.milliseconds.size());
  for (size_t i = 0; i < more.milliseconds.size(); ++i) sum->milliseconds[i] += more.milliseconds[i];
  for (size_t i = 0; i < more.stages.size(); ++i) {
    if (sum->stages[i].size() < more.stages[i].size()) sum->stages[i].resize(more.stages[i].size());
    for (size_t j = 0; j < more.stages[i].size(); ++j) {
      sum->stages[i][j].name = more.stages[i][j].name;
      sum->stages[i][j].rows_in += more.stages[i][j].rows_in;
      sum->stages[i][j].rows_out += more.stages[i][j].rows_out;
    }
  }
  sum->chunks += more.chunks;
  sum->chunks_loaded += more.chunks_loaded;
  sum->chunks_skipped += more.chunks_skipped;
  sum->rows += more.rows;
  sum->bytes += more.bytes;
  sum->fallback_rows += more.fallback_rows;
  sum->device_rows += more.device_rows;
  if (more.rows_by_device.size() > sum->rows_by_device.size()) sum->rows_by_device.resize(more.rows_by_device.size());
  for (size_t i = 0; i < more.rows_by_device.size(); ++i) sum->rows_by_device[i] += more.rows_by_device[i];
  sum->device_bytes += more.device_bytes;
  sum->device_joins += more.device_joins;
  sum->device_file_bytes += more.device_file_bytes;
  sum->partial_flushes += more.partial_flushes;
  sum->peak_memory = std::max(sum->peak_memory, more.peak_memory);
  sum->threads = std::max(sum->threads, more.threads);
  sum->passes = std::max(sum->passes, more.passes);
}

}  // namespace strom::pg::node
