// The program: what a query becomes. It is logical, flat, typed and position-independent. The PostgreSQL planner builds
// it once (plan/builder.hpp). It travels serialised in the plan (plan/serialize.hpp), is verified before it runs
// (plan/verify.hpp) and printed by EXPLAIN VERBOSE (plan/print.hpp). At start-up, when the join tables and the cheap
// conjuncts are known, op/pipeline/assemble.cpp turns it into tile code.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "registry/aggregates.hpp"
#include "registry/types.hpp"

namespace strom::engine::plan {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

/// Static type of an expression. `scale` is for kNumeric only: digits after the point of the fixed-point value. It is
/// also the display scale that PostgreSQL would give the result. If the display scale depends on the row, the type is
/// kDecimal.
struct ValueType {
  registry::TypeId type = registry::TypeId::kBool;
  int16_t scale = 0;
  bool operator==(const ValueType&) const = default;
  registry::Phys phys() const { return registry::type_info(type).phys; }
};

enum class NodeKind : uint8_t {
  kColumn,          // imm = column ordinal in the pipeline's source
  kPayload,         // imm = join << 16 | ordinal of the join's payload
  kConst,           // imm = index into Program::constants
  kCall,            // imm = registry::FunctionId; args
  kRescale,         // args[0] numeric, brought to this node's scale; rounds half away from zero when digits are dropped
  kNumericToInt,    // args[0] numeric, rounded half away from zero; out of range makes a fallback row
  kNumericToFloat,  // args[0] numeric, to float8; inexact results make fallback rows
  kAnd,             // args[0], args[1]: SQL three-valued logic
  kOr,
  kNot,
  kIsNull,  // args[0] of any type
  kIsNotNull,
  kSelect,      // args[0] bool: true -> args[1], false or null -> args[2]. CASE is a chain of these
  kCoalesce,    // args[0] unless null, else args[1]
  kToDecimal,   // args[0] numeric, with a scale in each value; those that do not fit make fallback rows
  kFixDecimal,  // args[0] decimal, brought to this node's scale; imm = scale | bits of engine/expr/row_decimal.hpp
  kAssume,  // args[0] as this node's type, of the same register, where the boolean args[1] is true; otherwise the row
            // is a fallback row
};

/// One expression of a program in single-assignment form. Arguments precede their user in Program::nodes.
struct Node {
  NodeKind kind = NodeKind::kConst;
  ValueType type;
  uint32_t imm = 0;
  NodeId args[3] = {kNoNode, kNoNode, kNoNode};
};

/// A literal, or a value that is known only when execution starts (parameter or folded STABLE expression).
struct Constant {
  ValueType type;
  bool is_null = false;
  int32_t param = -1;      // >= 0: index into the values given to Execution::create; `bytes` is then empty
  std::string bytes;       // register value (phys_size bytes), or the text itself
  bool unheld = false;     // of a parameter or a build row's payload: a value that the engine does not hold; rows that
                           // need it are fallback rows
  bool may_raise = false;  // of a parameter: it is unheld where computing its value raises an error
};

struct Source {
  std::vector<ValueType> columns;  // in the order in which ChunkSource::chunk returns them
};

/// What a join makes of a probing row.
enum class JoinKind : uint8_t {
  kInner,      // the row with each of its matches
  kLeft,       // the same; without a match, the row with nulls for the payload
  kSemi,       // the row once, if it has a match
  kAnti,       // the row once, if it has no match
  kRight,      // as kInner, and each build row without a match, with nulls for all else
  kFull,       // as kLeft and kRight
  kRightSemi,  // nothing; each build row with a match goes on once, with nulls for all else
  kRightAnti,  // nothing; each build row without a match goes on
};

/// True when no probing row goes on.
constexpr bool ends_probing(JoinKind kind) { return kind == JoinKind::kRightSemi || kind == JoinKind::kRightAnti; }

/// True when build rows without a match go on.
constexpr bool keeps_unmatched(JoinKind kind) {
  return kind == JoinKind::kRight || kind == JoinKind::kFull || kind == JoinKind::kRightAnti;
}

/// True when the join's result is a set of matching pairs (and unmatched rows): the build side of a spatial join may
/// then be divided into any parts.
constexpr bool joins_pairs(JoinKind kind) { return kind == JoinKind::kInner || kind == JoinKind::kRight; }

/// True when build rows go on by themselves after all rows have probed, depending on whether they have a match.
constexpr bool marks_matches(JoinKind kind) { return keeps_unmatched(kind) || kind == JoinKind::kRightSemi; }

/// True when the payload may be null because the row has no match.
constexpr bool may_miss(JoinKind kind) { return kind == JoinKind::kLeft || kind == JoinKind::kFull; }

/// Where a probing row's point lies relative to the polygon of a build row that it matches.
enum class SpatialMatch : uint8_t {
  kNone,  // keys are compared for equality
  kInside,
  kInsideOrOn,
  kOn,
  // For points and boxes instead:
  kNear,     // at most a distance away
  kOverlaps  // the boxes of floats share a point
};
/// Joins of this kind have a tree, not cells.
constexpr bool has_tree(SpatialMatch match) { return match == SpatialMatch::kNear || match == SpatialMatch::kOverlaps; }

/// A join seen from the probing side. Keys of both sides have pairwise equal physical kinds; without keys every row of
/// the build side is a candidate. A candidate is a match when all quals are true for it.
struct Join {
  uint32_t build_pipeline = 0;
  std::vector<NodeId> outer_keys;  // expressions of the probing pipeline (columns or payloads of earlier joins)
  std::vector<NodeId> inner_keys;  // expressions of the build pipeline
  std::vector<NodeId> payload;     // expressions of the build pipeline that the probing side can refer to; in semi and
                                   // anti joins, only the quals can refer to them
  JoinKind kind = JoinKind::kInner;
  std::vector<NodeId> quals;  // conjuncts over the probing row and the payload; must not raise
  // Not kNone: the inner key is a polygon, the outer keys are a point or its coordinates x and y, in system `srid`.
  // Candidates are the rows whose polygons the point matches. Not for right semi and anti joins. With has_tree(): the
  // keys of each side are a geometry, or the coordinates of a point. kNear: one side has the distance as its last key.
  // A row whose geometry is not a point is a fallback row.
  SpatialMatch spatial = SpatialMatch::kNone;
  int32_t srid = 0;
};

struct Aggregate {
  registry::AggregateId id = registry::AggregateId::kCountStar;
  NodeId arg = kNoNode;
  NodeId filter = kNoNode;  // FILTER (WHERE ...), else kNoNode
  NodeId second = kNoNode;  // argument
};

/// The first `rows` rows of a projection in the order of `key`. The engine may give more; whoever sorts them decides
/// about equal keys. Text keys are ordered by bytes.
struct TopRows {
  int64_t rows = 0;  // 0: all rows are needed
  NodeId key = kNoNode;
  bool descending = false, nulls_first = false;
  std::vector<NodeId> checked;  // rows with an error in one of these are fallback rows, whatever their place
  std::vector<NodeId> partition =
      {};                 // not empty: the first rows of each set of rows with equal values of these are wanted
  bool distinct = false;  // with `partition`: rows with one of the first `rows` keys, not the first `rows` rows
};

/// Types whose values can be sorted. Decimals cannot: their scales are in the values.
constexpr bool is_sortable(registry::TypeId type) {
  return registry::orders_as_register(type) && type != registry::TypeId::kDecimal;
}

/// Limits of one program. The registers of tile code and the lengths of its lists have 16 bits: a pipeline has at most
/// a register for each node, and a few for each aggregate and output. The planner leaves larger queries to PostgreSQL,
/// and verify() rejects them.
inline constexpr size_t kMostNodes = 20 << 10;
inline constexpr size_t kMostAggregates = 1 << 11;
inline constexpr size_t kMostOutputs = 1 << 12;  // of a sink: columns, keys, payload of a join

/// A column that each batch of a projection is sorted by; see op/sort/sorted_rows.hpp. Texts are ordered by bytes.
struct SortKey {
  uint32_t output = 0;
  bool descending = false, nulls_first = false;
};

/// Most group keys of a pipeline with grouping sets: each is a bit of a word.
inline constexpr size_t kMostSetKeys = 64;

enum class SinkKind : uint8_t { kBuild, kProject, kAggregate };

/// source -> quals -> joins (each with quals of its own that need its payload) -> sink. Unmatched build rows of a right
/// or full join go to the later joins; a right semi or anti join is the last one. join_quals are evaluated after all
/// joins, so joins before such a join contribute none.
struct Pipeline {
  uint32_t source = 0;
  std::vector<NodeId> quals;       // conjuncts over columns of the source
  std::vector<uint32_t> joins;     // indexes into Program::joins, in the planner's order
  std::vector<NodeId> join_quals;  // conjuncts that refer to payloads, evaluated after the joins
  SinkKind sink = SinkKind::kProject;
  std::vector<NodeId> outputs;          // kProject: columns of the result
  TopRows top;                          // kProject
  std::vector<SortKey> order;           // kProject; empty: batches are in the order of the rows
  std::vector<NodeId> group_keys;       // kAggregate; empty = one group
  std::vector<uint64_t> grouping_sets;  // kAggregate: for each set, bit k = group key k is in it; empty: one, of all
  std::vector<Aggregate> aggregates;    // kAggregate
};

/// Pipelines in execution order: a join's build pipeline precedes every pipeline that probes it; the last one is
/// the query's. Node scope: expressions of a pipeline refer to columns of its source and payloads of its joins.
struct Program {
  std::vector<Constant> constants;
  std::vector<Node> nodes;
  std::vector<Source> sources;
  std::vector<Join> joins;
  std::vector<Pipeline> pipelines;
};

/// A join key that is a column of the last pipeline's source, even if it is widened to another integer type.
struct KeyColumn {
  uint32_t join, key, column;
};

/// The key columns of the last pipeline whose join a row of the source has to pass, so that rows without a match are
/// not needed.
std::vector<KeyColumn> deciding_key_columns(const Program& program);

/// True when no rows match in `join`, because one of its conditions is constant false or null, parameters filled in.
/// False where a key can be an error, which PostgreSQL would find before it evaluates the conditions.
bool matches_nothing(const Program& program, const Join& join);

/// True when the value of a parameter may be Constant::unheld.
bool can_be_unheld(const Constant& constant);

/// Calls f(id, node) for the expression and everything below it, once for each node. If f returns a bool, false leaves
/// out the node's arguments. Expressions share parts, and are as deep as the query's text allows. The time is in
/// proportion to the nodes, and the stack does not grow with the depth.
template <class F>
void visit(const Program& program, NodeId id, F&& f) {
  std::vector<bool> seen(size_t{id} + 1);
  std::vector<NodeId> open{id};
  seen[id] = true;
  while (!open.empty()) {
    const NodeId next = open.back();
    open.pop_back();
    const Node& node = program.nodes[next];
    if constexpr (std::is_void_v<std::invoke_result_t<F&, NodeId, const Node&>>)
      f(next, node);
    else if (!f(next, node))
      continue;
    for (int i = 2; i >= 0; --i) {
      const NodeId arg = node.args[i];
      if (arg == kNoNode || seen[arg]) continue;
      seen[arg] = true;
      open.push_back(arg);
    }
  }
}

/// True when evaluating expression `id` can fail for some rows (overflow, division by zero, ...).
bool can_raise(const Program& program, NodeId id);

/// True when the text of expression `id` stays in place as long as the execution lasts: literals, payloads of joins,
/// and columns of a source with stable text. Sinks must copy any other text.
bool has_stable_text(const Program& program, NodeId id, bool stable_source);

}  // namespace strom::engine::plan
