// Joins of a pipeline as tile code: the order in which they are probed, the rows that leave each of them, and where
// their payloads are. The table's index writes the probe itself (join_index.hpp). Used by op/pipeline/assemble.cpp and
// the writers of sinks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/op/join/join_table.hpp"
#include "engine/op/pipeline/pipeline_writer.hpp"

namespace strom::engine::op {

/// Orders joins by selectivity, most selective first, as far as expressions that depend on earlier joins' payload
/// allow. Joins that multiply rows come last. A join whose build rows do not go on by themselves decides about each row
/// alone, so such joins commute unless one depends on the other.
std::vector<JoinInfo> probing_order(const plan::Program& program, uint32_t pipeline, std::vector<JoinInfo> joins);

class JoinWriter final : public PayloadWriter {
 public:
  /// Writes the joins that `tiles` has. Made before any register.
  explicit JoinWriter(PipelineWriter* tiles);

  PipelineWriter& tiles() { return tiles_; }
  size_t position_of(uint32_t join) const;

  // ---- probes, called in this order ----

  /// True when a test of the first join, or the whole probe, comes before the filters.
  bool keys_precede_quals() const;
  /// True when the probe of the join at a position decides by the key alone.
  bool is_lookup(size_t position) const;
  void emit_key_filter();
  void emit_probe(size_t position);
  /// For a pipeline over the rows of its first join's table.
  void emit_build_rows();
  /// Drops rows of other partitions.
  void emit_partition(const std::vector<plan::NodeId>& keys, Partition partition);

  // ---- payloads ----

  int payload(const plan::Node& node) override;
  /// True when grouped payloads of the join have codes.
  bool is_coded(size_t position) const { return !may_miss(position) && info(position).build->is_coded(); }
  uint32_t code_count(size_t position) const { return info(position).build->code_count(); }
  /// Register with the group code of a probed join.
  int group_code(size_t position);

  // ---- keys ----

  /// Register of a key. char(n) keys are compared without padding.
  int join_key(plan::NodeId id);
  int outer_key(size_t position, size_t key);
  std::vector<int> outer_keys(size_t position);
  /// The fixed register of an index with JoinIndex::more_phys(): what the index needs for a row's further candidates.
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
  /// True when the payload may be null because there is no build row.
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
  std::vector<int> matched_register_;     // per join position, for left joins that try build rows, else -1
  std::vector<int> more_register_;        // per join position, -1 for none
};

}  // namespace strom::engine::op
