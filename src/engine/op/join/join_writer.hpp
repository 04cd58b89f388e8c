// Joins of a pipeline as tile code: in which order they are probed, what goes on behind each, and where their payloads
// are. How a table is probed is its index's to write (join_index.hpp). Used by op/pipeline/assemble.cpp and the writers
// of sinks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/op/join/join_table.hpp"
#include "engine/op/pipeline/pipeline_writer.hpp"

namespace strom::engine::op {

/// Most selective first, as far as expressions allow that depend on earlier joins' payload; joins that multiply rows
/// last. Joins whose build rows do not go on by themselves decide about each row alone, so that those that do not
/// depend on each other commute.
std::vector<JoinInfo> probing_order(const plan::Program& program, uint32_t pipeline, std::vector<JoinInfo> joins);

class JoinWriter final : public PayloadWriter {
 public:
  /// Of the joins that `tiles` has been given. Before any register is made.
  explicit JoinWriter(PipelineWriter* tiles);

  PipelineWriter& tiles() { return tiles_; }
  size_t position_of(uint32_t join) const;

  // ---- probes, in this order ----

  /// A test of the first join, or the whole probe of it, comes before the filters.
  bool keys_precede_quals() const;
  /// The probe of the join at a position decides by the key alone.
  bool is_lookup(size_t position) const;
  void emit_key_filter();
  void emit_probe(size_t position);
  /// Of a pipeline over the rows of its first join's table.
  void emit_build_rows();
  /// Drops rows of other partitions.
  void emit_partition(const std::vector<plan::NodeId>& keys, Partition partition);

  // ---- payloads ----

  int payload(const plan::Node& node) override;
  /// Payloads that are grouped by have codes.
  bool is_coded(size_t position) const { return !may_miss(position) && info(position).build->is_coded(); }
  uint32_t code_count(size_t position) const { return info(position).build->code_count(); }
  /// Register with the group code of a probed join.
  int group_code(size_t position);

  // ---- keys ----

  /// Register of a key; char(n) keys compare without their padding.
  int join_key(plan::NodeId id);
  int outer_key(size_t position, size_t key);
  std::vector<int> outer_keys(size_t position);
  /// Of an index with JoinIndex::more_phys(): fixed register, what it needs for a row's further candidates.
  int more_register(size_t position) const { return more_register_[position]; }

 private:
  struct LookedUp {
    size_t segment;
    int reg;
  };
  const plan::Pipeline& pipeline() const { return tiles_.pipeline(); }
  const JoinInfo& info(size_t position) const { return tiles_.out().joins[position]; }
  const plan::Join& join_at(size_t position) const { return tiles_.program().joins[info(position).join]; }
  const block::JoinTable& table(size_t position) const { return info(position).build->table(); }
  const JoinIndex& index(size_t position) const { return info(position).build->index(); }
  /// The payload may be null because there is no build row.
  bool may_miss(size_t position) const { return plan::may_miss(join_at(position).kind); }
  std::string join_name(size_t position) const { return "join " + std::to_string(info(position).join + 1); }
  int build_rows(size_t position);
  int emit_no_candidate(size_t position, int rows);
  std::vector<int> qual_columns(size_t position);
  void emit_lookup(size_t position, const std::string& name);
  void emit_existence(size_t position, const std::string& name);
  void emit_match(size_t position, const std::string& name);

  PipelineWriter& tiles_;
  std::map<size_t, LookedUp> looked_up_;  // per join position: build rows that a segment has looked up
  std::vector<int> matched_register_;     // per join position: of a left join that tries build rows, else -1
  std::vector<int> more_register_;        // per join position, -1 for none
};

}  // namespace strom::engine::op
