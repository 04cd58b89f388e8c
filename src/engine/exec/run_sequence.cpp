#include "engine/exec/run_sequence.hpp"

namespace strom::engine::exec {

Status RunSequence::begin() {
  STROM_ASSIGN(run_, runs_.make(main_pipeline(), nullptr));
  return Status::ok();
}

Result<std::shared_ptr<const op::ResultBatch>> RunSequence::next(const InterruptCheck& interrupt) {
  for (;;) {
    interrupt();
    STROM_TRY(run_->error());
    if (auto batch = run_->pop_result()) return with_texts(std::move(batch));
    if (finished_) {
      STROM_ASSIGN(const bool more, next_run(interrupt));
      if (!more) return std::shared_ptr<const op::ResultBatch>();
    }
    STROM_ASSIGN(const bool worked, run_->step(interrupt));
    if (worked) continue;
    if (!run_->wait_a_moment()) continue;
    STROM_TRY(run_->error());
    STROM_ASSIGN(const bool has_groups, run_->finish_groups());
    if (has_groups)
      finished_ = true;
    else
      STROM_TRY(run_in_order());
  }
}

std::vector<op::FallbackRow> RunSequence::take_fallback_rows() {
  std::vector<op::FallbackRow> rows = run_ ? run_->take_fallback_rows() : std::vector<op::FallbackRow>();
  if (is_over_outer_side()) return rows;
  for (op::FallbackRow& row : rows) {
    row.build_join = static_cast<int32_t>(build_rows_at_);
    row.inner_rows.insert(row.inner_rows.begin(), build_rows_at_, -1);
  }
  return rows;
}

bool RunSequence::has_all_groups() const {
  const bool is_first = is_over_outer_side() ? passes_ == 0 : passes_ == 1 && build_rows_at_ == last_end();
  const bool is_last = next_build_rows() == main_joins().size() && !sides_.has_further_parts();
  return finished_ && is_first && is_last && !run_->has_partial_groups() && run_->fallback_count() == 0;
}

void RunSequence::stop() {
  if (run_) run_->stop();
}

// Keeps texts alive: views of a result may point to texts of tables that the next pass drops.
std::shared_ptr<const op::ResultBatch> RunSequence::with_texts(std::shared_ptr<const op::ResultBatch> batch) const {
  struct Held {
    std::shared_ptr<const op::ResultBatch> batch;
    op::TextStore texts;
  };
  auto held = std::make_shared<Held>();
  sides_.share_texts(&held->texts);
  if (held->texts.blocks().empty()) return batch;
  held->batch = std::move(batch);
  return {held, held->batch.get()};
}

// Makes the run that follows one that has ended: over the build rows of the next join whose rows go on by themselves,
// or the next pass over the outer side. False when nothing follows.
Result<bool> RunSequence::next_run(const InterruptCheck& interrupt) {
  const size_t place = next_build_rows();
  if (place == main_joins().size() && !sides_.has_further_parts()) return false;
  STROM_TRY(listener_.take_pass_end(take_fallback_rows()));
  listener_.end_run(*run_, is_over_outer_side());
  if (is_over_outer_side()) ++passes_;
  run_.reset();
  build_rows_program_.reset();
  finished_ = false;
  STROM_TRY(place == main_joins().size() ? next_pass(interrupt) : start_build_rows(place));
  return true;
}

Status RunSequence::next_pass(const InterruptCheck& interrupt) {
  build_rows_begin_ = 0;
  for (const uint32_t pipeline : sides_.next_parts()) STROM_TRY(listener_.make_table_again(pipeline, interrupt));
  return begin();
}

// Place of the last join that no probing row gets past. Build rows of earlier joins go nowhere. -1: there is no such
// join.
size_t RunSequence::last_end() const {
  size_t place = main_joins().size();
  while (place > 0 && !plan::ends_probing(program_.joins[main_joins()[place - 1]].kind)) --place;
  return place - 1;
}

// Place of the next join whose build rows go on by themselves and are known now, because all parts of the joins before
// it have been joined with it.
size_t RunSequence::next_build_rows() const {
  for (size_t place = 0; place < main_joins().size(); ++place) {
    const uint32_t join = main_joins()[place];
    const bool goes_on = plan::marks_matches(program_.joins[join].kind) && sides_.table(join).rows() > 0;
    if (place >= build_rows_begin_ && goes_on) return place;
    if (sides_.has_further_part(join)) break;
  }
  return main_joins().size();
}

Status RunSequence::start_build_rows(size_t place) {
  op::JoinBuild& build = sides_.table(main_joins()[place]);
  const plan::Join& join = program_.joins[main_joins()[place]];
  if (plan::ends_probing(join.kind) && join.quals.empty()) build.mark_same_keys();
  build_rows_at_ = place;
  build_rows_begin_ = place + 1;
  build_rows_program_ = std::make_unique<plan::Program>(op::build_rows_program(program_, place));
  build_rows_ = std::make_unique<op::BuildRows>(build.rows());
  STROM_ASSIGN(run_, runs_.make_over_build_rows(*build_rows_program_, *build_rows_, false));
  return Status::ok();
}

// Repeats the run that has ended, which has given no results yet.
Status RunSequence::run_in_order() {
  run_.reset();
  auto run = is_over_outer_side() ? runs_.make(main_pipeline(), nullptr, true)
                                  : runs_.make_over_build_rows(*build_rows_program_, *build_rows_, true);
  STROM_ASSIGN(run_, std::move(run));
  return Status::ok();
}

}  // namespace strom::engine::exec
