// Rows of a join's build table that go on by themselves, as a pipeline of their own, which runs when the probing one
// has ended: those without a match of right, full and right anti joins, those with one of right semi joins. Used by
// exec/execution.cpp only.
#pragma once

#include "engine/op/scan/chunk_source.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::op {

/// `program` with a last pipeline that begins with the build rows of the join at `position`: it has that join and those
/// behind it; columns of the source and payloads of joins before are nulls.
plan::Program build_rows_program(const plan::Program& program, size_t position);

/// The rows of a build table as a source, without columns.
class BuildRows : public ChunkSource {
 public:
  explicit BuildRows(int64_t rows) : rows_(rows) {}
  int64_t chunk_count() const override { return rows_ > 0 ? 1 : 0; }
  int64_t total_rows() const override { return rows_; }
  Result<columnar::BatchView> chunk(int64_t) const override { return columnar::BatchView{rows_, {}, {}}; }

 private:
  const int64_t rows_;
};

}  // namespace strom::engine::op
