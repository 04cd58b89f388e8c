// Exports in a GPU's memory. The GPU service copies a file's bytes there; other processes open them by handles of CUDA.
// Used by sqlfn/export.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "service/sockets.hpp"

namespace strom::pg::exports {

struct DeviceCopy {
  uint32_t device = 0;        // its number
  std::string description;    // a JSON object, see docs/format/exports.md
  service::Descriptor lease;  // the memory lives as long as any process holds this
};

inline constexpr int32_t kAnyDevice = -1;

/// Whether exports go to a GPU by default: the GPU service answers, and pg_strom.device is not cpu.
bool exports_go_to_gpu();

/// Copies the first `bytes` bytes of a file to the memory of GPU `device`. nullopt if `device` is kAnyDevice and no
/// service answers any more. May throw: 22023 when there is no such GPU, 58000 when the service is lost, 53400 when the
/// GPU has no memory left.
std::optional<DeviceCopy> copy_to_device(int file, int64_t bytes, int32_t device);

}  // namespace strom::pg::exports
