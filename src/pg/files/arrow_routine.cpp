#include "pg/files/arrow_routine.hpp"

namespace strom::pg::files {

namespace {
BeginForeignScan_function begin_scan = nullptr;
}

void set_arrow_routine(const FdwRoutine& routine) { begin_scan = routine.BeginForeignScan; }

bool is_arrow_table(const RelOptInfo* rel) {
  return rel->fdwroutine != nullptr && rel->fdwroutine->BeginForeignScan == begin_scan;
}

}  // namespace strom::pg::files
