#include "pg/node/fallback_rows.hpp"

#include <string>

#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::node {

using engine::exec::Execution;
using engine::op::FallbackRow;

FallbackEvaluator& FallbackRows::evaluator() {
  if (evaluator_ == nullptr) evaluator_ = std::make_unique<FallbackEvaluator>(state_, plan_);
  if (is_bound_) return *evaluator_;
  std::vector<source::RowSource*> sources;
  sources.reserve(sources_.size());
  for (size_t i = 0; i < sources_.size(); ++i) sources.push_back(sources_.rows(i));
  evaluator_->bind(std::move(sources));
  is_bound_ = true;
  return *evaluator_;
}

void FallbackRows::note(size_t count) {
  using Choice = guc::FallbackChoice;
  if (count == 0) return;
  count_ += static_cast<int64_t>(count);
  const Choice choice = guc::pg_strom::cpu_fallback();
  if (choice == Choice::kOff)
    throw boundary::StatusError(
        Status(ErrorCode::kUnsupported, "engine cannot evaluate some rows")
            .with_detail("There are at least " + std::to_string(count) +
                         ", by an overflow, a division by zero or a value out of the engine's range.")
            .with_hint("Set pg_strom.cpu_fallback to on to let PostgreSQL evaluate them."));
  if (choice != Choice::kNotice || is_told_) return;
  is_told_ = true;
  evaluator().count_reasons(&reasons_);
}

void FallbackRows::tell() {
  if (!is_told_) return;
  is_told_ = false;
  const std::string why = reasons_.text();
  boundary::guard([count = count_, detail = why.c_str()] {
    ereport(NOTICE, (errmsg_plural("PostgreSQL evaluated %lld row that the engine cannot evaluate",
                                   "PostgreSQL evaluated %lld rows that the engine cannot evaluate", count,
                                   static_cast<long long>(count)),
                     errdetail("%s", detail)));
  });
}

void FallbackRows::decide_all(const std::vector<FallbackRow>& rows, Execution& execution) {
  note(rows.size());
  for (const FallbackRow& row : rows) evaluator().decide(row, execution);
}

void FallbackRows::decide(const std::vector<FallbackRow>& rows, Execution& execution) {
  source::RowSource* probing = sources_.rows(sources_.probing());
  probing->begin_fallback();
  decide_all(rows, execution);
  probing->end_fallback();
}

void FallbackRows::take_from(Execution& execution) {
  source::RowSource* probing = sources_.rows(sources_.probing());
  probing->begin_fallback();  // before rows are taken from the engine
  decide_all(execution.take_fallback_rows(), execution);
  probing->end_fallback();
}

void FallbackRows::decide_build(uint32_t pipeline, const std::vector<FallbackRow>& rows, Execution& execution) {
  note(rows.size());
  if (rows.empty() && !is_bound_) return;
  source::RowSource* building = sources_.rows(pipeline);
  building->begin_fallback();
  for (uint32_t join = 0; join < plan_.program.joins.size(); ++join) {
    if (plan_.program.joins[join].build_pipeline != pipeline) continue;
    evaluator().begin_build(join);
    for (const FallbackRow& row : rows) evaluator().decide_build(row, join, execution);
  }
  building->end_fallback();
}

void FallbackRows::fill(TupleTableSlot* slot) const {
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    slot->tts_values[i] = evaluator_->values()[i];
    slot->tts_isnull[i] = evaluator_->nulls()[i];
  }
}

void FallbackRows::restart() {
  if (evaluator_ != nullptr) evaluator_->bind({});
  is_bound_ = false;
}

}  // namespace strom::pg::node
