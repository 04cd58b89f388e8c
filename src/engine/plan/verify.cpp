#include "engine/plan/verify.hpp"

#include "base/int128.hpp"
#include "engine/plan/prepared.hpp"
#include "registry/functions.hpp"

namespace strom::engine::plan {
namespace {

using registry::Phys;
using registry::TypeId;

Status bad(const std::string& what) { return Status(ErrorCode::kInternal, "invalid engine program: " + what); }

Status bad_node(NodeId id, const char* what) { return bad("node " + std::to_string(id) + ": " + what); }

int arity(NodeKind kind, uint32_t imm) {
  switch (kind) {
    case NodeKind::kColumn:
    case NodeKind::kPayload:
    case NodeKind::kConst: return 0;
    case NodeKind::kCall: return registry::kFunctions[imm].nargs;
    case NodeKind::kAnd:
    case NodeKind::kOr:
    case NodeKind::kCoalesce:
    case NodeKind::kAssume: return 2;
    case NodeKind::kSelect: return 3;
    default: return 1;
  }
}

bool same_register(TypeId a, TypeId b) { return registry::type_info(a).phys == registry::type_info(b).phys; }

class Verifier {
 public:
  explicit Verifier(const Program& program) : p_(program) {}

  Status run() {
    STROM_TRY(sizes());
    for (const Constant& c : p_.constants) STROM_TRY(constant(c));
    for (NodeId id = 0; id < p_.nodes.size(); ++id) STROM_TRY(node(id));
    if (p_.pipelines.empty()) return bad("no pipeline");
    for (uint32_t i = 0; i < p_.pipelines.size(); ++i) STROM_TRY(pipeline(i));
    return Status::ok();
  }

 private:
  /// Checks the limits that tile code can number.
  Status sizes() const {
    if (p_.nodes.size() > kMostNodes) return bad("too many nodes");
    for (const Join& j : p_.joins)
      if (j.payload.size() + j.inner_keys.size() > kMostOutputs || j.outer_keys.size() > kMostOutputs)
        return bad("too many columns of a join");
    for (const Pipeline& pl : p_.pipelines) {
      if (pl.aggregates.size() > kMostAggregates) return bad("too many aggregates");
      const size_t outputs = pl.outputs.size() + pl.group_keys.size() + pl.top.checked.size() + pl.top.partition.size();
      if (outputs > kMostOutputs) return bad("too many outputs");
    }
    return Status::ok();
  }

  static Status type(const ValueType& t) {
    if (static_cast<int>(t.type) >= registry::kTypeCount) return bad("type out of range");
    if (t.scale < 0 || t.scale > base::kMaxDecimalDigits || (t.scale != 0 && t.type != TypeId::kNumeric))
      return bad("scale");
    return Status::ok();
  }

  static Status constant(const Constant& c) {
    STROM_TRY(type(c.type));
    if (c.param >= 0 || c.is_null) return Status::ok();
    if (c.type.phys() != Phys::kStr && c.bytes.size() != static_cast<size_t>(registry::phys_size(c.type.phys())))
      return bad("constant of wrong size");
    return Status::ok();
  }

  Status node(NodeId id) {
    const Node& n = p_.nodes[id];
    if (n.kind > NodeKind::kAssume) return bad_node(id, "kind");
    STROM_TRY(type(n.type));
    if (n.kind == NodeKind::kCall && n.imm >= static_cast<uint32_t>(registry::kFunctionCount))
      return bad_node(id, "function");
    const int count = arity(n.kind, n.imm);
    for (int i = 0; i < 3; ++i) {
      if (i < count ? n.args[i] >= id : n.args[i] != kNoNode) return bad_node(id, "argument");
    }
    return check_types(n, id);
  }

  const ValueType& arg(const Node& n, int i) const { return p_.nodes[n.args[i]].type; }

  bool has_right_arguments(const Node& call) const {
    const auto& info = registry::kFunctions[call.imm];
    bool right = info.result == call.type.type;
    for (int i = 0; i < info.nargs; ++i) {
      right = right && same_register(arg(call, i).type, info.args[i]);
      if (prepared_form(info.id, i) != PreparedForm::kNone)
        right = right && p_.nodes[call.args[i]].kind == NodeKind::kConst;
      if (info.traits & registry::kSameScale) right = right && arg(call, i).scale == arg(call, 0).scale;
    }
    return right;
  }

  Status check_types(const Node& n, NodeId id) const {
    auto require = [id](bool right) { return right ? Status::ok() : bad_node(id, "types"); };
    switch (n.kind) {
      case NodeKind::kConst: return require(n.imm < p_.constants.size() && p_.constants[n.imm].type == n.type);
      case NodeKind::kCall: return require(has_right_arguments(n));
      case NodeKind::kRescale: return require(n.type.type == TypeId::kNumeric && arg(n, 0).type == TypeId::kNumeric);
      case NodeKind::kNumericToInt:
        return require(arg(n, 0).type == TypeId::kNumeric &&
                       (n.type.type == TypeId::kInt2 || n.type.type == TypeId::kInt4 || n.type.type == TypeId::kInt8));
      case NodeKind::kNumericToFloat:
        return require(arg(n, 0).type == TypeId::kNumeric && n.type.type == TypeId::kFloat8);
      case NodeKind::kToDecimal: return require(arg(n, 0).type == TypeId::kNumeric && n.type.type == TypeId::kDecimal);
      case NodeKind::kFixDecimal:
        return require(arg(n, 0).type == TypeId::kDecimal && n.type.type == TypeId::kNumeric &&
                       (n.imm & 0xff) == static_cast<uint32_t>(n.type.scale));
      case NodeKind::kAnd:
      case NodeKind::kOr: return require(is_bool(n.type) && is_bool(arg(n, 0)) && is_bool(arg(n, 1)));
      case NodeKind::kNot: return require(is_bool(n.type) && is_bool(arg(n, 0)));
      case NodeKind::kIsNull:
      case NodeKind::kIsNotNull: return require(is_bool(n.type));
      case NodeKind::kSelect: return require(is_bool(arg(n, 0)) && arg(n, 1) == n.type && arg(n, 2) == n.type);
      case NodeKind::kCoalesce: return require(arg(n, 0) == n.type && arg(n, 1) == n.type);
      case NodeKind::kAssume:
        return require(same_register(n.type.type, arg(n, 0).type) && n.type.scale == arg(n, 0).scale &&
                       is_bool(arg(n, 1)));
      case NodeKind::kColumn:
      case NodeKind::kPayload: return Status::ok();  // checked in the scope of a pipeline
    }
    return bad_node(id, "kind");
  }

  static bool is_bool(const ValueType& t) { return t.type == TypeId::kBool; }

  static bool has_payload_behind(const Join& join) {
    return join.kind != JoinKind::kSemi && join.kind != JoinKind::kAnti;
  }

  /// Checks that every column and payload below `id` exists in the pipeline: payloads of its first `joins` joins, and
  /// of join `tried` if `id` is one of the join's quals.
  Status scope(const Pipeline& pipeline, NodeId id, size_t joins, uint32_t tried = UINT32_MAX) {
    if (id >= p_.nodes.size()) return bad("node out of range");
    Status status = Status::ok();
    visit(p_, id, [&](NodeId, const Node& n) {
      if (status.is_ok() && n.kind == NodeKind::kColumn) status = column_scope(pipeline, n);
      if (status.is_ok() && n.kind == NodeKind::kPayload) status = payload_scope(pipeline, n, joins, tried);
      return status.is_ok();
    });
    return status;
  }

  Status column_scope(const Pipeline& pipeline, const Node& n) const {
    const auto& columns = p_.sources[pipeline.source].columns;
    return n.imm < columns.size() && columns[n.imm] == n.type ? Status::ok() : bad("column out of scope");
  }

  Status payload_scope(const Pipeline& pipeline, const Node& n, size_t joins, uint32_t tried) const {
    for (size_t i = 0; i < joins; ++i) {
      if (pipeline.joins[i] != n.imm >> 16) continue;
      if (pipeline.joins[i] != tried && !has_payload_behind(p_.joins[pipeline.joins[i]])) break;
      const auto& payload = p_.joins[n.imm >> 16].payload;
      const uint32_t ordinal = n.imm & 0xffff;
      return ordinal < payload.size() && p_.nodes[payload[ordinal]].type == n.type ? Status::ok() : bad("payload");
    }
    return bad("payload out of scope");
  }

  Status scope_all(const Pipeline& pipeline, const std::vector<NodeId>& ids, size_t joins) {
    for (NodeId id : ids) STROM_TRY(scope(pipeline, id, joins));
    return Status::ok();
  }

  Status pipeline(uint32_t index) {
    const Pipeline& pl = p_.pipelines[index];
    if (pl.source >= p_.sources.size()) return bad("source out of range");
    for (const ValueType& t : p_.sources[pl.source].columns) STROM_TRY(type(t));
    if ((index + 1 == p_.pipelines.size()) == (pl.sink == SinkKind::kBuild)) return bad("sink");
    STROM_TRY(scope_all(pl, pl.quals, 0));
    for (size_t i = 0; i < pl.joins.size(); ++i) STROM_TRY(join(pl, i, index));
    STROM_TRY(scope_all(pl, pl.join_quals, pl.joins.size()));
    STROM_TRY(scope_all(pl, pl.outputs, pl.joins.size()));
    STROM_TRY(top(pl));
    for (const SortKey& key : pl.order) {
      if (pl.sink != SinkKind::kProject || key.output >= pl.outputs.size()) return bad("order of a projection");
      if (!is_sortable(p_.nodes[pl.outputs[key.output]].type.type)) return bad("order by a type that is not sorted");
    }
    STROM_TRY(scope_all(pl, pl.group_keys, pl.joins.size()));
    if (!pl.grouping_sets.empty() && pl.group_keys.size() > kMostSetKeys) return bad("grouping sets of too many keys");
    for (const Aggregate& agg : pl.aggregates) {
      if (static_cast<size_t>(agg.id) >= std::size(registry::kAggregates)) return bad("aggregate");
      const auto& info = registry::aggregate_info(agg.id);
      if ((info.nargs == 0) != (agg.arg == kNoNode)) return bad("aggregate argument");
      if ((info.nargs == 2) != (agg.second != kNoNode)) return bad("second aggregate argument");
      if (agg.arg != kNoNode) STROM_TRY(scope(pl, agg.arg, pl.joins.size()));
      if (agg.second != kNoNode) STROM_TRY(scope(pl, agg.second, pl.joins.size()));
      if (agg.second != kNoNode && !same_register(p_.nodes[agg.second].type.type, info.arg))
        return bad("second aggregate argument");
      if (agg.filter != kNoNode) STROM_TRY(scope(pl, agg.filter, pl.joins.size()));
      if (agg.filter != kNoNode && !is_bool(p_.nodes[agg.filter].type)) return bad("aggregate filter");
      if (info.nargs == 1 && info.acc != registry::AccKind::kCount &&
          !same_register(p_.nodes[agg.arg].type.type, info.arg))
        return bad("aggregate argument type");
    }
    for (NodeId id : pl.quals)
      if (!is_bool(p_.nodes[id].type)) return bad("qual is not boolean");
    for (NodeId id : pl.join_quals)
      if (!is_bool(p_.nodes[id].type)) return bad("join qual is not boolean");
    return Status::ok();
  }

  Status top(const Pipeline& pl) {
    const TopRows& wanted = pl.top;
    const bool has_parts = wanted.key != kNoNode || !wanted.checked.empty() || !wanted.partition.empty();
    if (wanted.rows == 0) return has_parts ? bad("order without a number of rows") : Status::ok();
    if (wanted.rows < 0 || pl.sink != SinkKind::kProject || wanted.key == kNoNode) return bad("first rows");
    STROM_TRY(scope(pl, wanted.key, pl.joins.size()));
    STROM_TRY(scope_all(pl, wanted.checked, pl.joins.size()));
    STROM_TRY(scope_all(pl, wanted.partition, pl.joins.size()));
    return registry::orders_as_register(p_.nodes[wanted.key].type.type) ? Status::ok()
                                                                        : bad("order by the bytes of a value");
  }

  Status join(const Pipeline& pl, size_t position, uint32_t pipeline_index) {
    if (pl.joins[position] >= p_.joins.size()) return bad("join out of range");
    const Join& j = p_.joins[pl.joins[position]];
    if (j.build_pipeline >= pipeline_index) return bad("build pipeline does not come first");
    const Pipeline& build = p_.pipelines[j.build_pipeline];
    const bool spatial = j.spatial != SpatialMatch::kNone;
    if (!spatial && j.outer_keys.size() != j.inner_keys.size()) return bad("join keys");
    if (j.kind > JoinKind::kRightAnti) return bad("join kind");
    STROM_TRY(scope_all(pl, j.outer_keys, position));
    STROM_TRY(scope_all(build, j.inner_keys, build.joins.size()));
    STROM_TRY(scope_all(build, j.payload, build.joins.size()));
    if (spatial) STROM_TRY(spatial_join(j));
    for (size_t i = 0; !spatial && i < j.outer_keys.size(); ++i) {
      const ValueType& a = p_.nodes[j.outer_keys[i]].type;
      const ValueType& b = p_.nodes[j.inner_keys[i]].type;
      if (a.phys() != b.phys() || a.scale != b.scale) return bad("join key types");
    }
    for (NodeId id : j.quals) {
      STROM_TRY(scope(pl, id, position + 1, pl.joins[position]));
      if (!is_bool(p_.nodes[id].type) || can_raise(p_, id)) return bad("qual of a join");
    }
    return Status::ok();
  }

  Status spatial_join(const Join& j) const {
    using registry::Phys;
    const auto phys = [this](NodeId id) { return p_.nodes[id].type.phys(); };
    if (j.spatial > SpatialMatch::kOverlaps || ends_probing(j.kind)) return bad("spatial join");
    if (has_tree(j.spatial)) return tree_join(j);
    if (j.inner_keys.size() != 1 || phys(j.inner_keys[0]) != Phys::kStr) return bad("polygon of a spatial join");
    const bool point = j.outer_keys.size() == 1 && phys(j.outer_keys[0]) == Phys::kStr;
    const bool coordinates =
        j.outer_keys.size() == 2 && phys(j.outer_keys[0]) == Phys::kF64 && phys(j.outer_keys[1]) == Phys::kF64;
    return point || coordinates ? Status::ok() : bad("point of a spatial join");
  }

  /// Checks that each side has a geometry or two coordinates, and for kNear that one side also has a distance.
  Status tree_join(const Join& j) const {
    using registry::Phys;
    int distances = 0;
    for (const std::vector<NodeId>* keys : {&j.outer_keys, &j.inner_keys}) {
      if (keys->empty()) return bad("keys of a spatial join");
      const bool by_coordinates = p_.nodes[keys->front()].type.phys() == Phys::kF64;
      const size_t place = by_coordinates ? 2 : 1;
      if (keys->size() < place || keys->size() > place + 1) return bad("keys of a spatial join");
      distances += keys->size() > place;
      for (size_t i = 0; i < keys->size(); ++i)
        if (p_.nodes[(*keys)[i]].type.phys() != (by_coordinates || i > 0 ? Phys::kF64 : Phys::kStr))
          return bad("key types of a spatial join");
    }
    return distances == (j.spatial == SpatialMatch::kNear) ? Status::ok() : bad("distance of a spatial join");
  }

  const Program& p_;
};

}  // namespace

Status verify(const Program& program) { return Verifier(program).run(); }

}  // namespace strom::engine::plan
