// Rows of a join's build table that go on by themselves. They are the source of a further pipeline, which runs after
// the probing one: the rows without a match in right, full and right anti joins, and those with a match in right semi
// joins. Used by exec/run_sequence.cpp only.
#pragma once

#include "engine/op/scan/chunk_source.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::op {

/// `program` with a last pipeline whose source is the build rows of the join at `position`. It has that join and the
/// later ones. Columns of the original source and payloads of earlier joins are nulls.
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
