// The tables of a program's joins: builds them, takes cached ones from devices, divides those that are too large, and
// looks up rows that PostgreSQL evaluates. Used by execution.cpp, run_maker.cpp and run_sequence.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/device/cached_join.hpp"
#include "engine/exec/execution.hpp"
#include "engine/op/join/inner_partitions.hpp"
#include "engine/op/join/join_table.hpp"

namespace strom::engine::exec {

class PipelineRun;
class RunMaker;

/// Notified of the rows of a build pipeline while its table is made.
class BuildListener {
 public:
  virtual ~BuildListener() = default;
  virtual void begin_build(const PipelineRun& run, uint32_t pipeline) = 0;
  virtual void end_build() = 0;
  /// True when fallback rows of the inner side of `join` could get into a result.
  virtual Result<bool> do_fallback_rows_count(uint32_t join, const InterruptCheck& interrupt) = 0;
  virtual bool takes_fallback_rows() const = 0;
  /// Called once for each table, when all of its rows but the fallback rows are there.
  virtual void take_fallback_rows(uint32_t pipeline, const std::vector<op::FallbackRow>& rows) = 0;
  virtual void add_run(const PipelineRun& run, uint32_t pipeline) = 0;
};

class InnerSides {
 public:
  /// All arguments outlive this object.
  InnerSides(const plan::Program& program, const std::vector<const op::ChunkSource*>& sources, const Options& options);

  /// The join of build pipeline `index`; the number of joins if it has none.
  uint32_t join_of(uint32_t index) const;

  // ---- making tables ----

  /// Makes the table of the current part of the inner side that build pipeline `index` reads.
  Status build(uint32_t index, const RunMaker& runs, BuildListener& listener, const InterruptCheck& interrupt);
  /// Makes a table without rows.
  Status leave_empty(uint32_t join, BuildListener& listener);

  // ---- contents of the tables ----

  bool is_made(uint32_t join) const { return join < tables_.size() && tables_[join] != nullptr; }
  op::JoinBuild& table(uint32_t join) const { return *tables_[join]; }
  int64_t memory() const;
  /// The fraction of probing rows that find a match, estimated from how much of the inner side its own filter left
  /// over.
  double match_fraction(uint32_t join) const;
  /// Shares ownership of texts that the next pass may drop.
  void share_texts(op::TextStore* texts) const;
  /// Tables found on devices, and tables put there.
  op::DeviceJoins device_joins() const { return device_joins_; }

  // ---- fallback rows: see Execution ----

  void lookup(uint32_t join, const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const;
  plan::Constant payload(uint32_t join, uint32_t ordinal, int64_t row) const;
  bool is_in_part(uint32_t join, const std::vector<plan::Constant>& keys) const;
  int64_t add_row(uint32_t join, const std::vector<plan::Constant>& keys, const std::vector<plan::Constant>& payload);

  // ---- parts ----

  bool is_divided(uint32_t join) const { return inner_[join].parts.size() > 1; }
  /// True when a row of the outer side can match rows of one part only, which its keys decide.
  bool is_divided_by_key(uint32_t join) const;
  bool has_further_part(uint32_t join) const { return inner_[join].at + 1 < inner_[join].parts.size(); }
  bool has_further_parts() const;
  /// Goes on to the next combination of parts. Returns the build pipelines whose tables have to be made again.
  std::vector<uint32_t> next_parts();

 private:
  const std::vector<uint32_t>& main_joins() const { return program_.pipelines.back().joins; }
  bool is_main_join(uint32_t join) const;
  bool is_spatial(uint32_t join) const;
  size_t most_parts(uint32_t join) const;
  std::vector<plan::Constant> trimmed_keys(uint32_t join, std::vector<plan::Constant> keys) const;
  std::unique_ptr<op::JoinBuild> new_table(uint32_t join) const;
  columnar::RowsOrigin origin_of(uint32_t join) const;
  std::shared_ptr<device::CachedJoin> cacheable(uint32_t join, const std::vector<device::Device*>& devices) const;
  Result<bool> take_cached(uint32_t join, const std::shared_ptr<device::CachedJoin>& cached,
                           const std::vector<device::Device*>& devices, BuildListener& listener,
                           const InterruptCheck& interrupt);
  Result<bool> make_table(uint32_t index, const RunMaker& runs, BuildListener& listener,
                          const InterruptCheck& interrupt);

  const plan::Program& program_;
  const std::vector<const op::ChunkSource*>& sources_;
  const Options& options_;
  std::vector<std::unique_ptr<op::JoinBuild>> tables_;  // by join, like all members below
  std::vector<op::InnerPartitions> inner_;
  std::vector<int64_t> rows_scanned_;
  op::DeviceJoins device_joins_;
};

}  // namespace strom::engine::exec
