// Identifies the table that files belong to.
#pragma once

#include <cstdint>

namespace strom::store::log {

/// Written into base and redo file, so that files of different tables or states are not mixed up.
struct Identity {
  uint64_t store_id = 0;   // random; the same in both files
  uint64_t system_id = 0;  // of the database cluster
  uint32_t database = 0, relation = 0;
  bool operator==(const Identity&) const = default;
};

}  // namespace strom::store::log
