#include "targets.hpp"

#include "engine/exec/execution.hpp"
#include "engine/inst/tile_cpu.hpp"
#ifdef STROM_EMULATED_MODULE_PATH
#include "../device/test_module.hpp"
#include "pooled_device.hpp"
#include "service/local_device.hpp"
#endif

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace strom::engine::test {
namespace {

[[maybe_unused]] constexpr char kCudaDevice[] = "CUDA device";

std::vector<Target> find_targets() {
  std::vector<Target> found;
  for (platform::Isa isa : {platform::Isa::kBaseline, platform::Isa::kV2, platform::Isa::kV3, platform::Isa::kV4})
    if (isa <= platform::best_isa()) found.push_back({platform::isa_name(isa), inst::run_morsel_for(isa), false});
#ifndef __SANITIZE_THREAD__  // which does not know fibers
  found.push_back({"CUDA as SIMT", run_morsel_simt, true, nullptr, true});
#endif
  static const std::unique_ptr<engine::device::Device> apart =
      host_device(inst::run_morsel_for(platform::best_isa()), 3, size_t{1} << 31);
  found.push_back({"memory of its own", inst::run_morsel_for(platform::best_isa()), false, apart.get()});
#ifdef STROM_EMULATED_MODULE_PATH
  static const std::unique_ptr<strom::device::Device> device =
      strom::device::Device::open(strom::device::Module::open(strom::device::test::module_path()).value(), 0).value();
  const bool is_cuda = std::string_view(device->facts().architecture).starts_with("sm_");
  static const std::unique_ptr<service::LocalDevice> cuda =
      is_cuda ? std::make_unique<PooledDevice>(device.get()) : std::make_unique<service::LocalDevice>(device.get());
  found.push_back({kCudaDevice, inst::run_morsel_for(platform::best_isa()), !is_cuda, cuda.get(), true});
  if (is_cuda) {  // all else was tested elsewhere
    const auto others = [](const Target& target) { return target.name != kCudaDevice; };
    found.erase(std::remove_if(found.begin(), found.end(), others), found.end());
  }
#endif
  return found;
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> found = find_targets();
  return found;
}

const Target& cpu_target() {
  static const Target baseline{"baseline", inst::run_morsel_for(platform::Isa::kBaseline), false};
  return baseline;
}

}  // namespace strom::engine::test
