// Constants of a program whose values are known only when it runs. Used by execution.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::exec {

/// The program with parameters filled in. kInternal when one is missing or of another type.
Result<plan::Program> with_parameters(const plan::Program& program, const std::vector<plan::Constant>& params);

/// For each constant the number of its parameter, -1 for other constants.
std::vector<int32_t> parameter_numbers(const plan::Program& program);

}  // namespace strom::engine::exec
