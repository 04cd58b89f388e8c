// A shared object that says it is a device module of a version to come.
#include "../../../src/device/module.hpp"

extern "C" __attribute__((visibility("default"))) const strom::device::ModuleTable* strom_device_module() {
  static const strom::device::ModuleTable table = [] {
    strom::device::ModuleTable made = {};
    made.version = strom::device::kModuleVersion + 1;
    made.size = sizeof made;
    return made;
  }();
  return &table;
}
