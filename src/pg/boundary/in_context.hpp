// Makes a memory context the current one while C++ code runs.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::boundary {

class InContext {
 public:
  explicit InContext(MemoryContext context) : before_(MemoryContextSwitchTo(context)) {}
  ~InContext() { MemoryContextSwitchTo(before_); }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  MemoryContext before_;
};

}  // namespace strom::pg::boundary
