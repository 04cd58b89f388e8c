// The methods are called in another order than by PostgreSQL: first for all blocks. This is correct for BERNOULLI and
// SYSTEM, the only methods that the planner accepts: they decide by block, item and seed alone.
#include "pg/table/heap/table_sample.hpp"

#include "pg/boundary/boundary.hpp"

namespace strom::pg::table {

using boundary::guard;

namespace {

// May ereport.
Datum not_null(ExprState* expression, ExprContext* context, int error, const char* message) {
  bool is_null;
  const Datum value = ExecEvalExprSwitchContext(expression, context, &is_null);
  if (is_null) ereport(ERROR, (errcode(error), errmsg("%s", message)));
  return value;
}

}  // namespace

TableSample::TableSample(SampleScanState* scan) : scan_(scan), params_(static_cast<size_t>(list_length(scan->args))) {
  guard([this] {
    ExprContext* context = scan_->ss.ps.ps_ExprContext;
    for (size_t i = 0; i < params_.size(); ++i)
      params_[i] = not_null(static_cast<ExprState*>(list_nth(scan_->args, static_cast<int>(i))), context,
                            ERRCODE_INVALID_TABLESAMPLE_ARGUMENT, "TABLESAMPLE parameter cannot be null");
    seed_ = scan_->seed;
    if (scan_->repeatable == nullptr) return;
    const Datum value = not_null(scan_->repeatable, context, ERRCODE_INVALID_TABLESAMPLE_REPEAT,
                                 "TABLESAMPLE REPEATABLE parameter cannot be null");
    seed_ = DatumGetUInt32(DirectFunctionCall1(hashfloat8, value));
  });
}

std::vector<BlockRange> TableSample::blocks(BlockNumber count) {
  guard([this] { scan_->tsmroutine->BeginSampleScan(scan_, params_.data(), static_cast<int>(params_.size()), seed_); });
  if (scan_->tsmroutine->NextSampleBlock == nullptr) return {{0, count}};
  std::vector<BlockRange> chosen;
  for (;;) {
    const BlockNumber block = guard([=, this] {
      CHECK_FOR_INTERRUPTS();
      return scan_->tsmroutine->NextSampleBlock(scan_, count);
    });
    if (block == InvalidBlockNumber) return chosen;
    chosen.push_back({block, block + 1});
  }
}

OffsetNumber TableSample::next_item(BlockNumber block, OffsetNumber last) const {
  return scan_->tsmroutine->NextSampleTuple(scan_, block, last);
}

}  // namespace strom::pg::table
