#include "engine/inst/copies_cpu.hpp"

#include "engine/op/copies/kernel.hpp"

namespace strom::engine::inst {

void run_copies_cpu(const block::BlockCopy* copies, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) op::run_copy(platform::Cpu{}, copies[i]);
}

}  // namespace strom::engine::inst
