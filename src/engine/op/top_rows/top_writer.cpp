#include "engine/op/top_rows/top_writer.hpp"

namespace strom::engine::op {

using block::TileOp;
using registry::Phys;

void write_top_filter(PipelineWriter* writer) {
  const plan::TopRows& top = writer->pipeline().top;
  const bool of_all = top.partition.empty();
  const int key = of_all ? write_order_key(writer) : -1;
  std::vector<int> checked;
  if (of_all) checked.push_back(key);
  for (plan::NodeId id : top.checked) checked.push_back(writer->value(id));
  if (!checked.empty()) writer->emit_gate(checked);
  if (!of_all) return;
  const int mask = writer->new_register(Phys::kBool);
  writer->emit(TileOp::kWithinTop, mask, key);
  writer->end_filter(mask, {mask}, "top rows");
}

int write_order_key(PipelineWriter* writer) {
  const plan::TopRows& top = writer->pipeline().top;
  const bool aligned = writer->node(top.key).type.type == registry::TypeId::kDecimal;
  const int value = aligned ? writer->aligned_decimal(top.key) : writer->value(top.key);
  const int key = writer->new_register(Phys::kI64);
  writer->emit(TileOp::kOrderKey, key, value, -1, -1,
               (top.descending ? block::kOrderDescending : 0) | (top.nulls_first ? block::kOrderNullsFirst : 0) |
                   (aligned ? block::kOrderUpper : 0));
  return key;
}

}  // namespace strom::engine::op
