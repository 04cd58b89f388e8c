// A device module of this version whose kernels are of another build.
#include "device/module.hpp"

extern "C" __attribute__((visibility("default"))) const strom::device::ModuleTable* strom_device_module() {
  static const strom::device::ModuleTable table = [] {
    strom::device::ModuleTable made = {};
    made.version = strom::device::kModuleVersion;
    made.size = sizeof made;
    made.fingerprint = []() -> uint64_t { return 1; };
    return made;
  }();
  return &table;
}
