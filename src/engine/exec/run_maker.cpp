#include "engine/exec/run_maker.hpp"

#include <algorithm>

#include "engine/plan/errors.hpp"
#include "registry/aggregates.hpp"

namespace strom::engine::exec {

namespace {

constexpr int64_t kFirstMorselRows = 8 * 1024;  // for runs that look for one row

/// PostgreSQL rounds a sum of float4 after each step. Threads of a device cannot add in that order.
bool sums_in_order(const plan::Pipeline& pipeline) {
  return std::any_of(pipeline.aggregates.begin(), pipeline.aggregates.end(), [](const plan::Aggregate& aggregate) {
    return registry::is_coarse_sum(registry::aggregate_info(aggregate.id).acc);
  });
}

}  // namespace

Result<std::unique_ptr<PipelineRun>> RunMaker::make(uint32_t index, op::JoinBuild* build, bool in_order) const {
  const op::ChunkSource& source = *sources_[program_.pipelines[index].source];
  if (op::ChunkFeeder* feeder = source.feeder()) feeder->rewind();
  return make(program_, index, build, source, Kind::kResults, in_order);
}

Result<std::unique_ptr<PipelineRun>> RunMaker::make_over_build_rows(const plan::Program& program,
                                                                    const op::ChunkSource& rows, bool in_order) const {
  return make(program, main_pipeline(), nullptr, rows, Kind::kBuildRows, in_order);
}

Result<std::unique_ptr<PipelineRun>> RunMaker::make_for_first_row(const plan::Program& program) const {
  const op::ChunkSource& source = *sources_[program_.pipelines.back().source];
  if (op::ChunkFeeder* feeder = source.feeder()) feeder->rewind();
  return make(program, main_pipeline(), nullptr, source, Kind::kFirstRow, false);
}

Result<std::unique_ptr<PipelineRun>> RunMaker::make(const plan::Program& program, uint32_t index, op::JoinBuild* build,
                                                    const op::ChunkSource& source, Kind kind_of_run,
                                                    bool in_order) const {
  const plan::Pipeline& pipeline = program.pipelines[index];
  std::vector<op::JoinInfo> joins;
  bool nothing_matches = index == main_pipeline() && kind_of_run == Kind::kResults && !needed_.is_outer_needed();
  for (uint32_t join : pipeline.joins) {
    joins.push_back({join, &sides_.table(join), sides_.match_fraction(join)});
    const plan::JoinKind kind = program.joins[join].kind;
    const bool is_passed = kind_of_run == Kind::kBuildRows && join == pipeline.joins.front();
    const bool needs_match = !is_passed && !plan::may_miss(kind) && kind != plan::JoinKind::kAnti;
    const bool is_empty = sides_.table(join).rows() == 0 || plan::matches_nothing(program, program.joins[join]);
    nothing_matches = nothing_matches || (needs_match && is_empty);
  }
  const op::Partition partition = build != nullptr ? build->partition() : op::Partition{};
  const bool on_cpu = sums_in_order(pipeline) || kind_of_run == Kind::kFirstRow;
  const std::vector<device::Device*> devices = on_cpu ? std::vector<device::Device*>() : devices_for(source);
  const op::SourceTraits traits{options_.single_byte_encoding, source.stable_text(), source.converts_late(),
                                !devices.empty()};
  STROM_ASSIGN(op::Assembly assembly,
               assemble(program, index, joins, partition, traits, kind_of_run == Kind::kBuildRows));
  Options options = options_;
  if (kind_of_run == Kind::kFirstRow) options.morsel_rows = std::min(options.morsel_rows, kFirstMorselRows);
  return std::make_unique<PipelineRun>(program, index, std::move(assembly), source, options, devices, build,
                                       nothing_matches, wanted_keys(program, index, source), in_order);
}

std::vector<device::Device*> RunMaker::devices_for(const op::ChunkSource& source) const {
  if (options_.device == nullptr || source.total_rows() < options_.device_rows) return {};
  std::vector<device::Device*> devices = options_.more_devices;
  devices.insert(devices.begin(), options_.device);
  return devices;
}

// Keys that the joins of the last pipeline look for in columns of which the source has statistics.
std::vector<op::ColumnKeys> RunMaker::wanted_keys(const plan::Program& program, uint32_t index,
                                                  const op::ChunkSource& source) const {
  std::vector<op::ColumnKeys> wanted;
  if (index != main_pipeline() || &program != &program_ || source.feeder() != nullptr) return wanted;
  // Errors count also for rows without a match.
  for (const plan::NodeId qual : program.pipelines[index].quals)
    if (plan::can_be_an_error(program, qual)) return wanted;
  for (const plan::KeyColumn& key : plan::deciding_key_columns(program)) {
    if (!source.has_bounds(key.column)) continue;
    if (auto range = sides_.table(key.join).key_range(key.key)) wanted.push_back({key.column, std::move(*range)});
  }
  return wanted;
}

}  // namespace strom::engine::exec
