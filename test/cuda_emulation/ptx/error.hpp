// The one exception of the PTX interpreter. Thrown when a module is loaded (syntax, an op-code or modifier that is not
// emulated) and when a launch fails (memory, barriers, traps); the text names kernel, line and instruction.
#pragma once

#include <stdexcept>
#include <string>

namespace strom::ptx {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace strom::ptx
