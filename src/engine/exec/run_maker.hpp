// Makes the runs of a program's pipelines: assembles their code, given the join tables, and chooses where they run.
// Used by execution.cpp, inner_sides.cpp and run_sequence.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exec/inner_sides.hpp"
#include "engine/exec/needed_sides.hpp"
#include "engine/exec/pipeline_run.hpp"

namespace strom::engine::exec {

class RunMaker {
 public:
  /// All arguments outlive this object.
  RunMaker(const plan::Program& program, const std::vector<const op::ChunkSource*>& sources, const Options& options,
           const InnerSides& sides, const NeededSides& needed)
      : program_(program), sources_(sources), options_(options), sides_(sides), needed_(needed) {}

  /// Makes a run of pipeline `index`. `build`: the table that a build pipeline fills. `in_order`: groups see the rows
  /// in the source's order.
  Result<std::unique_ptr<PipelineRun>> make(uint32_t index, op::JoinBuild* build, bool in_order = false) const;
  /// Makes a run of the last pipeline of `program`, another form of the program, over the build rows of its first join.
  Result<std::unique_ptr<PipelineRun>> make_over_build_rows(const plan::Program& program, const op::ChunkSource& rows,
                                                            bool in_order) const;
  /// Makes a run of the last pipeline of `program` that looks for its first row.
  Result<std::unique_ptr<PipelineRun>> make_for_first_row(const plan::Program& program) const;

  /// The devices that run tiles over the source; empty: the CPU runs them.
  std::vector<device::Device*> devices_for(const op::ChunkSource& source) const;

 private:
  /// The purpose of a run of the last pipeline.
  enum class Kind : uint8_t { kResults, kBuildRows, kFirstRow };

  uint32_t main_pipeline() const { return static_cast<uint32_t>(program_.pipelines.size() - 1); }
  Result<std::unique_ptr<PipelineRun>> make(const plan::Program& program, uint32_t index, op::JoinBuild* build,
                                            const op::ChunkSource& source, Kind kind, bool in_order) const;
  std::vector<op::ColumnKeys> wanted_keys(const plan::Program& program, uint32_t index,
                                          const op::ChunkSource& source) const;

  const plan::Program& program_;
  const std::vector<const op::ChunkSource*>& sources_;
  const Options& options_;
  const InnerSides& sides_;
  const NeededSides& needed_;
};

}  // namespace strom::engine::exec
