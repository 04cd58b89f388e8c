// What tests of devices open. Called by the tests of unit/device, unit/engine and unit/service.
#pragma once

#include <cstdlib>
#include <string>

namespace strom::device::test {

/// Value of an environment variable, or what the build has put in its place.
inline std::string from_environment(const char* name, const char* built) {
  const char* wanted = std::getenv(name);
  return wanted != nullptr ? wanted : built;
}

#ifdef STROM_EMULATED_MODULE_PATH
/// The device module: the emulated one, or that of STROM_TEST_DEVICE_MODULE, which `./strom gpu-check` sets.
inline std::string module_path() { return from_environment("STROM_TEST_DEVICE_MODULE", STROM_EMULATED_MODULE_PATH); }
inline bool is_emulated() { return module_path() == STROM_EMULATED_MODULE_PATH; }
#endif

}  // namespace strom::device::test
