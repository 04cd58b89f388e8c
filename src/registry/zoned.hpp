// Functions that depend on the session's time zone. Generated from zoned.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace strom::registry {

enum ZoneTrait : uint32_t {
  kAnyZone = 1,
  kMakesMoment = 2,
  kZonedAlways = 4,
};

struct ZonedFunction {
  const char* pg_name;     // pg_proc.proname, in pg_catalog
  const char* local_name;  // of the row of functions.def that computes it of local times
  int arguments;           // their number; 0: any
  uint32_t traits;
};

/// The row for a function with so many arguments, or nullptr.
const ZonedFunction* find_zoned(std::string_view pg_name, size_t arguments);

}  // namespace strom::registry
