#include "pg/node/machine_choice.hpp"

#include <algorithm>

#include "pg/guc/guc.hpp"
#include "pg/node/node.hpp"

namespace strom::pg::node {

// Inner sides that are much smaller than the outermost table are for the CPU.
void MachineChoice::set_machines(engine::exec::Options* options) {
  const bool is_told = guc::pg_strom::device() == guc::DeviceChoice::kGpu;
  if (!is_told && !is_gpu_plan(plan_.custom_scan)) {
    machines_.clear();
    return;
  }
  const size_t last = sources_.probing();
  const int64_t rows = sources_.rows(last)->total_rows();
  const int64_t morsels = (rows + options->device_morsel_rows - 1) / options->device_morsel_rows;
  // Counts of rows are by place: another execution of the node keeps the machines.
  const auto is_alive = [](const auto& machine) { return machine->is_alive(); };
  if (machines_.empty() || !std::all_of(machines_.begin(), machines_.end(), is_alive)) {
    const auto most = static_cast<size_t>(std::clamp<int64_t>(morsels, 1, std::max(1, options->threads)));
    gpu::GpuChoice choice = gpu::gpu_machines(sources_.input(last).storages(), most);
    machines_ = std::move(choice.machines);
    near_machines_ = std::move(choice.near);
  }
  for (const auto& machine : machines_) {
    options->more_machines.push_back(machine.get());
    options->machine_numbers.push_back(machine->number());
  }
  options->near_machines = near_machines_;
  if (machines_.empty()) return;
  options->machine = options->more_machines.front();
  options->more_machines.erase(options->more_machines.begin());
  options->device_rows = is_told ? 0 : rows / 2;
}

void MachineChoice::set(engine::exec::Options* options) {
  set_machines(options);
  // Below pg_strom.gpudirect_threshold the session reads the outermost table.
  const int64_t threshold = int64_t{guc::pg_strom::gpudirect_threshold} * 1024;
  options->device_reads_files =
      guc::pg_strom::gpudirect_enabled && !sources_.input(sources_.probing()).is_smaller_than(threshold);
}

}  // namespace strom::pg::node
