// Output: the sink that hands rows to the host. Single source.
#pragma once

#include "engine/block/registers.hpp"

namespace strom::engine::op {

using namespace block;

/// End of a kOutput segment: appends the output registers to the buffer.
template <class P>
STROM_INLINE void output_rows(const P& p, TileState& s, uint32_t segment) {
  OutputBuffer& out = *s.output;
  const uint16_t* list = s.code->lists + s.code->outputs;
  const int base = out.count;
  for (int k = 1; k <= list[0]; ++k) {
    const TableColumn& column = out.columns[k - 1];
    copy_values(p, column.phys, at(column.data, column.phys, base), s.regs[list[k]].data, s.count);
    const uint8_t* flags = s.regs[list[k]].flags;
    const bool seen = out.has_flags[k - 1] != 0;
    if (flags != nullptr) {
      if (!seen) p.for_each(base, [&](int i) { column.flags[i] = 0; });
      p.for_each(s.count, [&](int i) { column.flags[base + i] = flags[i]; });
    } else if (seen) {
      p.for_each(s.count, [&](int i) { column.flags[base + i] = 0; });
    }
    p.sync();
    p.leader([&] {
      if (flags != nullptr) out.has_flags[k - 1] = 1;
    });
  }
  p.leader([&] {
    out.count = base + s.count;
    s.segment_rows_out[segment] += s.count;
  });
  p.sync();
}

}  // namespace strom::engine::op
