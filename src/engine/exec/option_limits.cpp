#include "engine/exec/option_limits.hpp"

#include <algorithm>
#include <cstdlib>

#include "engine/inst/tile_cpu.hpp"

namespace strom::engine::exec {

namespace {

constexpr int64_t kMostMorselRows = 128 * 1024, kMostDeviceMorselRows = 64 << 20;

int64_t rows_of_environment(const char* variable, int64_t most) {
  const char* wanted = std::getenv(variable);
  return wanted == nullptr ? most : std::clamp<int64_t>(std::atoll(wanted), 1, most);
}

}  // namespace

int64_t default_morsel_rows() {
  static const int64_t rows = rows_of_environment("STROM_MORSEL_ROWS", kMostMorselRows);
  return rows;
}

int64_t default_device_morsel_rows() {
  constexpr int64_t kMostDeviceRows = 4 << 20;
  static const int64_t rows = rows_of_environment("STROM_DEVICE_MORSEL_ROWS", kMostDeviceRows);
  return rows;
}

Options within_limits(Options options) {
  options.threads = std::max(1, options.threads);
  options.lanes = std::max(options.threads, options.lanes);
  options.single_group_threads = std::max(options.threads, options.single_group_threads);
  options.single_group_lanes = std::max({options.single_group_threads, options.lanes, options.single_group_lanes});
  options.morsel_rows = std::clamp<int64_t>(options.morsel_rows, 1, kMostMorselRows);
  options.device_morsel_rows = std::clamp<int64_t>(options.device_morsel_rows, 1, kMostDeviceMorselRows);
  if (options.run == nullptr) options.run = inst::run_morsel_for(options.isa);
  return options;
}

}  // namespace strom::engine::exec
