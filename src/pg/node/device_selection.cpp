#include "pg/node/device_selection.hpp"

#include <algorithm>

#include "pg/guc/guc.hpp"
#include "pg/node/node.hpp"

namespace strom::pg::node {

// Inner sides that are much smaller than the outermost table run on the CPU.
void DeviceSelection::set_devices(engine::exec::Options* options) {
  const bool is_told = guc::pg_strom::device() == guc::DeviceChoice::kGpu;
  if (!is_told && !is_gpu_plan(plan_.custom_scan)) {
    devices_.clear();
    return;
  }
  const size_t last = sources_.probing();
  const int64_t rows = sources_.rows(last)->total_rows();
  const int64_t morsels = (rows + options->device_morsel_rows - 1) / options->device_morsel_rows;
  // Counts of rows are indexed by device. So further executions of the node use the same devices.
  const auto is_alive = [](const auto& device) { return device->is_alive(); };
  if (devices_.empty() || !std::all_of(devices_.begin(), devices_.end(), is_alive)) {
    const auto most = static_cast<size_t>(std::clamp<int64_t>(morsels, 1, std::max(1, options->threads)));
    gpu::GpuChoice choice = gpu::choose_gpus(sources_.input(last).storages(), most);
    devices_ = std::move(choice.devices);
    near_devices_ = std::move(choice.near);
  }
  for (const auto& device : devices_) {
    options->more_devices.push_back(device.get());
    options->device_numbers.push_back(device->number());
  }
  options->near_devices = near_devices_;
  if (devices_.empty()) return;
  options->device = options->more_devices.front();
  options->more_devices.erase(options->more_devices.begin());
  options->device_rows = is_told ? 0 : rows / 2;
}

void DeviceSelection::set(engine::exec::Options* options) {
  set_devices(options);
  // If the outermost table is smaller than pg_strom.gpudirect_threshold, the session reads it.
  const int64_t threshold = int64_t{guc::pg_strom::gpudirect_threshold} * 1024;
  options->device_reads_files =
      guc::pg_strom::gpudirect_enabled && !sources_.input(sources_.probing()).is_smaller_than(threshold);
}

}  // namespace strom::pg::node
