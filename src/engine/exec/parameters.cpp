#include "engine/exec/parameters.hpp"

namespace strom::engine::exec {

using plan::Program;

Result<Program> with_parameters(const Program& program, const std::vector<plan::Constant>& params) {
  Program resolved = program;
  for (plan::Constant& constant : resolved.constants) {
    if (constant.param < 0) continue;
    if (static_cast<size_t>(constant.param) >= params.size()) return Status(ErrorCode::kInternal, "missing parameter");
    const plan::Constant& value = params[static_cast<size_t>(constant.param)];
    if (!(value.type == constant.type)) return Status(ErrorCode::kInternal, "parameter of another type");
    constant.is_null = value.is_null;
    constant.bytes = value.bytes;
    constant.unheld = value.unheld;
    constant.param = -1;
  }
  return resolved;
}

std::vector<int32_t> parameter_numbers(const Program& program) {
  std::vector<int32_t> numbers;
  numbers.reserve(program.constants.size());
  for (const plan::Constant& constant : program.constants) numbers.push_back(constant.param);
  return numbers;
}

}  // namespace strom::engine::exec
