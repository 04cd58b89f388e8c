#include "pg/node/source_set.hpp"

#include "pg/boundary/boundary.hpp"

namespace strom::pg::node {

namespace {
constexpr std::chrono::milliseconds kFileCheckInterval{100};
}

SourceSet::SourceSet(CustomScanState* state, const PlanSpec& plan) : plan_(plan), subplans_(state, plan) {
  for (size_t i = 0; i < plan.pipelines.size(); ++i) inputs_.emplace_back(state, plan, i);
}

void SourceSet::begin_run(size_t pipeline) {
  files_checked_ = std::chrono::steady_clock::now();
  if (is_collected(pipeline)) {
    subplans_.prepare(pipeline);
    return;
  }
  inputs_[pipeline].begin_run();
  may_have_invalid_text_ = may_have_invalid_text_ || inputs_[pipeline].may_have_invalid_text();
}

source::RowSource* SourceSet::rows(size_t pipeline) const {
  return is_collected(pipeline) ? static_cast<source::RowSource*>(subplans_.rows(pipeline)) : inputs_[pipeline].rows();
}

void SourceSet::check_files(bool now) {
  const auto time = std::chrono::steady_clock::now();
  if (!now && time - files_checked_ < kFileCheckInterval) return;
  files_checked_ = time;
  for (const PipelineInput& input : inputs_)
    if (input.rows() != nullptr) boundary::throw_if_failed(input.rows()->unchanged());
}

int64_t SourceSet::skipped_batches() const {
  int64_t skipped = 0;
  for (const PipelineInput& input : inputs_) skipped += input.batch_counts().skipped;
  return skipped;
}

void SourceSet::close() {
  for (const PipelineInput& input : inputs_)
    if (input.rows() != nullptr) input.rows()->close();
}

void SourceSet::restart(const std::vector<bool>& keep_children) {
  subplans_.restart(keep_children);
  for (PipelineInput& input : inputs_) input.restart(keep_children);
}

}  // namespace strom::pg::node
