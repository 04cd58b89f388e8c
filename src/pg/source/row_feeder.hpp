// The feeder of a source that feeds itself. The engine gets sources as const; it changes them only through their
// feeder. So this object holds a non-const reference to the source. Used by HeapRows and AppendRows.
#pragma once

#include "engine/exec/execution.hpp"

namespace strom::pg::source {

template <class Rows>
class RowFeeder final : public engine::op::ChunkFeeder {
 public:
  explicit RowFeeder(Rows& rows) : rows_(rows) {}

  bool feed() override { return rows_.feed(); }
  bool is_waiting() const override { return rows_.is_waiting(); }
  void let_devices_read(bool allowed) override { rows_.let_devices_read(allowed); }
  int64_t limit(int threads) override { return rows_.limit(threads); }
  void rewind() override { rows_.close(); }
  void release(int64_t chunk, bool has_fallback) override { rows_.release(chunk, has_fallback); }

 private:
  Rows& rows_;
};

}  // namespace strom::pg::source
