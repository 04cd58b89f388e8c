#include "machines.hpp"

#include "engine/exec/execution.hpp"
#include "engine/exec/isa.hpp"
#ifdef STROM_EMULATED_MODULE_PATH
#include "service/local_machine.hpp"
#endif

namespace strom::engine::test {
namespace {

std::vector<Machine> find_machines() {
  std::vector<Machine> found;
  for (exec::Isa isa : {exec::Isa::kBaseline, exec::Isa::kV2, exec::Isa::kV3, exec::Isa::kV4})
    if (isa <= exec::best_isa()) found.push_back({exec::isa_name(isa), exec::run_morsel_for(isa), false});
#ifndef __SANITIZE_THREAD__  // which does not know fibers
  found.push_back({"CUDA as SIMT", run_morsel_simt, true});
#endif
  static const std::unique_ptr<exec::DeviceMachine> apart =
      host_device(exec::run_morsel_for(exec::best_isa()), 3, size_t{1} << 31);
  found.push_back({"memory of its own", exec::run_morsel_for(exec::best_isa()), false, apart.get()});
#ifdef STROM_EMULATED_MODULE_PATH
  static const std::unique_ptr<device::Device> device =
      device::Device::open(device::Module::open(STROM_EMULATED_MODULE_PATH).value(), 0).value();
  static service::LocalMachine emulated(device.get());
  found.push_back({"emulated CUDA device", exec::run_morsel_for(exec::best_isa()), true, &emulated});
#endif
  return found;
}

}  // namespace

const std::vector<Machine>& machines() {
  static const std::vector<Machine> found = find_machines();
  return found;
}

}  // namespace strom::engine::test
