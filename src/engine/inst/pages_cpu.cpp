#include "engine/inst/pages_cpu.hpp"

#include "engine/op/pages/kernel.hpp"

namespace strom::engine::inst {

void run_pages_cpu(const block::PageTask& task, uint32_t count) {
  op::PageScratch scratch;
  for (uint32_t page = 0; page < count; ++page) op::run_page(platform::Cpu{}, task, page, scratch);
}

}  // namespace strom::engine::inst
