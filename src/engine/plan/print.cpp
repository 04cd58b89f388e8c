#include "engine/plan/print.hpp"

#include <cstdio>
#include <cstring>

#include "base/hex.hpp"
#include "base/int128.hpp"
#include "registry/functions.hpp"

namespace strom::engine::plan {
namespace {

using registry::Phys;

std::string print_decimal(__int128 value, int scale) {
  const bool negative = value < 0;
  unsigned __int128 rest = negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10))), rest /= 10;
  while (rest != 0);
  if (scale > 0) {
    if (digits.size() <= static_cast<size_t>(scale)) digits.insert(0, scale + 1 - digits.size(), '0');
    digits.insert(digits.size() - scale, 1, '.');
  }
  return negative ? "-" + digits : digits;
}

template <class T>
T value_of(const std::string& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string print_bytes(const std::string& bytes) {
  constexpr size_t kMostShown = 32;
  if (bytes.size() > kMostShown) return std::to_string(bytes.size()) + " bytes";
  std::string text = "'\\x";
  base::append_hex(&text, bytes.data(), bytes.size());
  return text + "'";
}

std::string print_constant(const Constant& c) {
  if (c.param >= 0) return "param " + std::to_string(c.param);
  if (c.is_null) return "NULL";
  char text[64];
  switch (c.type.phys()) {
    case Phys::kBool: return value_of<uint8_t>(c.bytes) ? "true" : "false";
    case Phys::kI32: return std::to_string(value_of<int32_t>(c.bytes));
    case Phys::kI64: return std::to_string(value_of<int64_t>(c.bytes));
    case Phys::kI128: {
      const auto value = value_of<__int128>(c.bytes);
      if (c.type.type == registry::TypeId::kDecimal)
        return print_decimal(base::decimal_unscaled(value), base::decimal_scale(value));
      return print_decimal(value, c.type.scale);
    }
    case Phys::kF32: std::snprintf(text, sizeof text, "%.9g", value_of<float>(c.bytes)); return text;
    case Phys::kF64: std::snprintf(text, sizeof text, "%.17g", value_of<double>(c.bytes)); return text;
    case Phys::kStr: return registry::is_text(c.type.type) ? "'" + c.bytes + "'" : print_bytes(c.bytes);
  }
  return "?";
}

const char* kind_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::kRescale: return "Rescale";
    case NodeKind::kNumericToInt: return "NumericToInt";
    case NodeKind::kNumericToFloat: return "NumericToFloat";
    case NodeKind::kToDecimal: return "ToDecimal";
    case NodeKind::kFixDecimal: return "FixDecimal";
    case NodeKind::kAnd: return "And";
    case NodeKind::kOr: return "Or";
    case NodeKind::kNot: return "Not";
    case NodeKind::kIsNull: return "IsNull";
    case NodeKind::kIsNotNull: return "IsNotNull";
    case NodeKind::kSelect: return "Select";
    case NodeKind::kCoalesce: return "Coalesce";
    case NodeKind::kAssume: return "Assume";
    default: return "";
  }
}

const char* join_kind_name(JoinKind kind) {
  switch (kind) {
    case JoinKind::kInner: return "";
    case JoinKind::kLeft: return "left ";
    case JoinKind::kSemi: return "semi ";
    case JoinKind::kAnti: return "anti ";
    case JoinKind::kRight: return "right ";
    case JoinKind::kFull: return "full ";
    case JoinKind::kRightSemi: return "right semi ";
    case JoinKind::kRightAnti: return "right anti ";
  }
  return "";
}

const char* match_name(SpatialMatch match) {
  switch (match) {
    case SpatialMatch::kNone: return "=";
    case SpatialMatch::kInside: return "inside";
    case SpatialMatch::kInsideOrOn: return "inside or on";
    case SpatialMatch::kOn: return "on";
    case SpatialMatch::kNear: return "near";
    case SpatialMatch::kOverlaps: return "overlaps";
  }
  return "";
}

}  // namespace

namespace {

/// What is still to be printed: a node, or the text between nodes.
struct Pending {
  NodeId node = kNoNode;
  std::string text;
};

/// Returns the node's name and what precedes its arguments. Pushes the arguments and the closing text to `pending`, the
/// last first.
std::string print_head(const Program& program, const Node& n, std::vector<Pending>* pending) {
  std::string text;
  switch (n.kind) {
    case NodeKind::kColumn: return "column " + std::to_string(n.imm);
    case NodeKind::kPayload:
      return "join " + std::to_string((n.imm >> 16) + 1) + " column " + std::to_string(n.imm & 0xffff);
    case NodeKind::kConst: return print_constant(program.constants[n.imm]);
    case NodeKind::kCall: text = registry::kFunctions[n.imm].name + 1; break;
    default: text = kind_name(n.kind);
  }
  const bool has_scale = n.kind == NodeKind::kRescale || n.kind == NodeKind::kFixDecimal;
  pending->push_back({kNoNode, (has_scale ? ", " + std::to_string(n.type.scale) : "") + ")"});
  for (int i = 2; i >= 0; --i) {
    if (n.args[i] == kNoNode) continue;
    pending->push_back({n.args[i], {}});
    if (i > 0) pending->push_back({kNoNode, ", "});
  }
  return text + "(";
}

}  // namespace

std::string print_node(const Program& program, NodeId id) {
  constexpr size_t kMostText = 1 << 16;  // shared nodes are printed at each use, which can be very often
  std::string text;
  std::vector<Pending> pending{{id, {}}};
  while (!pending.empty()) {
    if (text.size() > kMostText) return text + "...";
    const Pending next = std::move(pending.back());
    pending.pop_back();
    text += next.node == kNoNode ? next.text : print_head(program, program.nodes[next.node], &pending);
  }
  return text;
}

std::string print_nodes(const Program& program, const std::vector<NodeId>& ids) {
  std::string text;
  for (NodeId id : ids) text.append(text.empty() ? "" : ", ").append(print_node(program, id));
  return text;
}

std::string print_sets(const std::vector<uint64_t>& sets) {
  std::string text;
  for (uint64_t set : sets) {
    std::string keys;
    for (uint64_t k = 0; k < kMostSetKeys; ++k)
      if (set >> k & 1) keys.append(keys.empty() ? "" : ", ").append(std::to_string(k));
    text.append(text.empty() ? "(" : ", (").append(keys).append(")");
  }
  return text;
}

std::string print_top(const Program& program, const TopRows& top) {
  return std::to_string(top.rows) + " by " + print_node(program, top.key) + (top.descending ? " descending" : "") +
         (top.nulls_first ? ", nulls first" : "") + (top.distinct ? ", different ones" : "") +
         (top.partition.empty() ? "" : ", of each " + print_nodes(program, top.partition));
}

std::string print_order(const std::vector<SortKey>& order) {
  std::string text;
  for (const SortKey& key : order)
    text += (text.empty() ? "output " : ", output ") + std::to_string(key.output) +
            (key.descending ? " descending" : "") + (key.nulls_first ? ", nulls first" : "");
  return text;
}

std::string print_program(const Program& program) {
  std::string text;
  auto line = [&](const std::string& label, const std::string& body) {
    if (!body.empty()) text.append("  ").append(label).append(": ").append(body).append("\n");
  };
  for (size_t i = 0; i < program.pipelines.size(); ++i) {
    const Pipeline& p = program.pipelines[i];
    text += "pipeline " + std::to_string(i) + " over source " + std::to_string(p.source) + "\n";
    line("quals", print_nodes(program, p.quals));
    for (uint32_t j : p.joins) {
      const Join& join = program.joins[j];
      line(std::string(join_kind_name(join.kind)) + "join " + std::to_string(j + 1),
           "{" + print_nodes(program, join.outer_keys) + "} " + match_name(join.spatial) + " {" +
               print_nodes(program, join.inner_keys) + "} of pipeline " + std::to_string(join.build_pipeline) +
               (join.quals.empty() ? "" : " where " + print_nodes(program, join.quals)));
    }
    line("join quals", print_nodes(program, p.join_quals));
    line("outputs", print_nodes(program, p.outputs));
    line("order", print_order(p.order));
    if (p.top.rows > 0) line("top rows", print_top(program, p.top));
    line("group keys", print_nodes(program, p.group_keys));
    line("grouping sets", print_sets(p.grouping_sets));
    for (const Aggregate& a : p.aggregates)
      line("aggregate", std::string(registry::aggregate_info(a.id).name + 1) + "(" +
                            (a.arg == kNoNode ? "*" : print_node(program, a.arg)) +
                            (a.second == kNoNode ? "" : ", " + print_node(program, a.second)) + ")" +
                            (a.filter == kNoNode ? "" : " filter " + print_node(program, a.filter)));
  }
  return text;
}

}  // namespace strom::engine::plan
