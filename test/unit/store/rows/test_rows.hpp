#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include "store/rows/rows.hpp"

namespace strom::store::rows {

/// Rows in memory of the test's own.
struct TestRows {
  explicit TestRows(uint64_t max_rows) {
    shape.columns.push_back({"k", "integer", Form::kFixed, 4, 23, -1});
    shape.max_rows = max_rows;
    layout = layout_of(shape, 4096);
    memory.reset(static_cast<uint8_t*>(std::aligned_alloc(4096, layout.bytes)));
    std::memset(memory.get(), 0, layout.bytes);
    rows = std::make_unique<Rows>(shape, layout, memory.get(), &state);
  }

  struct Free {
    void operator()(uint8_t* bytes) const { std::free(bytes); }
  };
  Shape shape;
  Layout layout;
  std::unique_ptr<uint8_t, Free> memory;
  RowsState state{};
  std::unique_ptr<Rows> rows;
};

}  // namespace strom::store::rows
