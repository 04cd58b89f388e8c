// The remaining stack. The limit's header differs between versions.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "pg/boundary/postgres.hpp"

#if PG_VERSION_NUM < 180000
extern "C" {
#include "tcop/tcopprot.h"
}
#endif

namespace strom::pg::compat {

/// Bytes that remain until check_stack_depth() raises an error.
inline int64_t stack_left() {
  const auto base = set_stack_base();
  restore_stack_base(base);
  const char here = 0;
  return static_cast<int64_t>(max_stack_depth) * 1024 - std::abs(base - &here);
}

}  // namespace strom::pg::compat
