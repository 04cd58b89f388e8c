// Program to bytes and back, for the private list of a PostgreSQL plan and for devices in other processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::plan {

/// Version of the format, and of the meaning of the program's enumerators.
inline constexpr uint32_t kProgramVersion = 7;

/// Versioned, little endian, position independent.
std::string serialize(const Program& program);

/// Decodes and verifies (plan/verify.hpp); kInternal with the byte offset when the bytes are not a program.
Result<Program> deserialize(std::string_view bytes);

}  // namespace strom::engine::plan
