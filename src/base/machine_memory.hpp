// How much memory there is for this process and its like: the machine's, or less where a cgroup limits it (systemd's
// MemoryMax, containers). Used by the column cache's default and by pgstrom.doctor().
#pragma once

#include <cstdint>
#include <string>

namespace strom::base {

struct MachineMemory {
  uint64_t total = 0;       // bytes; 0: the system does not tell
  uint64_t available = 0;   // of these, without swapping: free, or easily given back
  bool is_limited = false;  // by a cgroup
};

/// What /proc and /sys say, below the folder `root`. Reads a few small files each time.
MachineMemory read_machine_memory(const std::string& root = "");

/// What may be taken where nobody has said how much, in bytes: an eighth of all.
uint64_t usual_part(const MachineMemory& memory);
/// Whether `size` more bytes leave another such part to others, so that the machine does not come to swap. True when
/// the system does not tell.
bool leaves_part(const MachineMemory& memory, uint64_t size);

}  // namespace strom::base
