#include "pg/store/routine.hpp"

namespace strom::pg::store {

namespace {
BeginForeignScan_function begin_scan = nullptr;
}

void set_routine(const FdwRoutine& routine) { begin_scan = routine.BeginForeignScan; }

bool is_store_rel(const RelOptInfo* rel) {
  return rel->fdwroutine != nullptr && rel->fdwroutine->BeginForeignScan == begin_scan;
}

}  // namespace strom::pg::store
