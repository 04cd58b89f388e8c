#include "engine/op/join/join_name.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "columnar/origin.hpp"
#include "engine/op/join/join_image.hpp"
#include "engine/plan/serialize.hpp"
#include "registry/functions.hpp"

namespace strom::engine::op {

using columnar::append_name;
using plan::Node;
using plan::NodeId;
using plan::NodeKind;

namespace {

/// Writes expressions so that equal ones have equal bytes, whatever else their programs have. An item that can have
/// several lengths has its length or count before it, so that no two lists of items have the same bytes.
class Writer {
 public:
  explicit Writer(const plan::Program& program, const plan::Source& source) : program_(program), source_(source) {}

  template <class... T>
  void numbers(const T&... values) {
    append_name(&result_.text, values...);
  }
  void list(const std::vector<NodeId>& ids) {
    numbers(static_cast<uint32_t>(ids.size()));
    for (const NodeId id : ids) expression(id);
  }
  /// False when some part has no text.
  bool is_whole() const { return is_whole_; }
  BuildText take() { return is_whole_ ? std::move(result_) : BuildText(); }

 private:
  void text(const std::string& bytes) {
    numbers(static_cast<uint32_t>(bytes.size()));
    result_.text += bytes;
  }
  void type(const plan::ValueType& type) { numbers(static_cast<uint16_t>(type.type), type.scale); }

  /// An expression that was written before is written as its number.
  void expression(NodeId id) {
    constexpr uint8_t kAgain = 0xff;
    std::vector<NodeId> open{id};
    while (!open.empty()) {
      const NodeId next = open.back();
      open.pop_back();
      const auto [found, is_new] = written_.try_emplace(next, static_cast<uint32_t>(written_.size()));
      if (!is_new) {
        numbers(kAgain, found->second);
        continue;
      }
      const Node& node = program_.nodes[next];
      head(node);
      const auto end = std::find(std::begin(node.args), std::end(node.args), plan::kNoNode);
      numbers(static_cast<uint8_t>(end - node.args));
      open.insert(open.end(), std::make_reverse_iterator(end), std::rend(node.args));
    }
  }

  /// Everything but the arguments.
  void head(const Node& node) {
    numbers(static_cast<uint8_t>(node.kind));
    type(node.type);
    switch (node.kind) {
      case NodeKind::kColumn: column(node.imm); break;
      case NodeKind::kConst: constant(program_.constants[node.imm]); break;
      case NodeKind::kCall: text(registry::function_info(static_cast<registry::FunctionId>(node.imm)).name); break;
      case NodeKind::kPayload: is_whole_ = false; break;
      default: numbers(node.imm);
    }
  }

  void column(uint32_t ordinal) {
    std::vector<uint32_t>& columns = result_.columns;
    const auto found = std::find(columns.begin(), columns.end(), ordinal);
    numbers(static_cast<uint32_t>(found - columns.begin()));
    if (found != columns.end()) return;
    columns.push_back(ordinal);
    type(source_.columns[ordinal]);
  }

  void constant(const plan::Constant& constant) {
    is_whole_ = is_whole_ && !constant.unheld && constant.param < 0;
    type(constant.type);
    numbers(static_cast<uint8_t>(constant.is_null));
    text(constant.bytes);
  }

  const plan::Program& program_;
  const plan::Source& source_;
  BuildText result_;
  std::map<NodeId, uint32_t> written_;
  bool is_whole_ = true;
};

}  // namespace

BuildText build_text(const plan::Program& program, uint32_t join, const JoinNeeds& needs, bool single_byte) {
  const plan::Join& self = program.joins[join];
  const plan::Pipeline& pipeline = program.pipelines[self.build_pipeline];
  if (!pipeline.joins.empty()) return {};
  Writer writer(program, program.sources[pipeline.source]);
  writer.numbers(kJoinImageVersion, plan::kProgramVersion, single_byte);
  // Marks belong to the query, so the name does not depend on them.
  writer.numbers(needs.any_match, needs.rows, static_cast<uint32_t>(needs.group_columns.size()));
  for (const uint32_t column : needs.group_columns) writer.numbers(column);
  writer.numbers(static_cast<uint8_t>(self.spatial), self.srid);
  writer.list(pipeline.quals);
  writer.list(pipeline.join_quals);
  writer.list(self.inner_keys);
  writer.list(self.payload);
  return writer.take();
}

}  // namespace strom::engine::op
