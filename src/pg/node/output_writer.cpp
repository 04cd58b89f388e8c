#include "pg/node/output_writer.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/node/partial_state.hpp"

namespace strom::pg::node {

using engine::op::ResultBatch;
using engine::op::ResultColumn;

void OutputWriter::put_column(TupleTableSlot* slot, size_t i, const ResultColumn& column, int64_t row) const {
  const OutputSpec& output = plan_.outputs[i];
  slot->tts_isnull[i] = column.flags != nullptr && (column.flags[row] & 1) != 0;
  if (slot->tts_isnull[i] || codec::load_datum(output.type.type, column.values, row, &slot->tts_values[i])) return;
  const bool invalid = sources_.may_have_invalid_text() && !codec::is_valid_text(output.type.type, column.values, row);
  if (invalid)  // text is all zeros after its file was truncated
    boundary::entry([this] { sources_.check_files(true); });
  slot->tts_values[i] =
      codec::datum_from_register(output.type.type, output.type.scale, output.length, column.values, row, invalid);
}

void OutputWriter::put_row(TupleTableSlot* slot, const ResultBatch& batch, int64_t row) const {
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const OutputSpec& output = plan_.outputs[i];
    const auto index = static_cast<size_t>(output.index);
    if (output.kind == OutputKind::kAggregate)
      slot->tts_values[i] = partial_state(output.partial, batch.aggregates[index], row, &slot->tts_isnull[i]);
    else if (output.kind == OutputKind::kColumn)
      put_column(slot, i, batch.columns[index], row);
  }
}

void OutputWriter::put_group(TupleTableSlot* slot, const ResultBatch& batch, int64_t row, const bool* averages) const {
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const OutputSpec& output = plan_.outputs[i];
    const auto index = static_cast<size_t>(output.index);
    if (output.kind == OutputKind::kAggregate)
      slot->tts_values[i] =
          final_value(output.partial, averages[i], batch.aggregates[index], row, &slot->tts_isnull[i]);
    else if (output.kind == OutputKind::kColumn)
      put_column(slot, i, batch.columns[index], row);
  }
}

void OutputWriter::put_empty_group(TupleTableSlot* slot) const {
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const OutputSpec& output = plan_.outputs[i];
    slot->tts_isnull[i] = true;
    if (output.kind == OutputKind::kAggregate)
      slot->tts_values[i] = partial_state_of_row(output.partial, Datum{0}, Datum{0}, true, false, &slot->tts_isnull[i]);
  }
}

void OutputWriter::apply_grouping_set(TupleTableSlot* slot, size_t set) const {
  const std::vector<int>& values = plan_.grouping_sets[set].values;
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    if (plan_.outputs[i].kind == OutputKind::kGrouping) {
      slot->tts_values[i] = Int32GetDatum(values[i]);
      slot->tts_isnull[i] = false;
    } else if (values[i] != 0) {
      slot->tts_isnull[i] = true;
    }
  }
}

void OutputWriter::clear_others(TupleTableSlot* slot) const {
  for (int i = static_cast<int>(plan_.outputs.size()); i < slot->tts_tupleDescriptor->natts; ++i)
    slot->tts_isnull[i] = true;
}

bool OutputWriter::has_final_groups() const {
  for (const OutputSpec& output : plan_.outputs)
    if (output.kind == OutputKind::kAggregate ? !has_final_value(output.partial)
                                              : !registry::is_equal_by_bits(output.type.type))
      return false;
  return true;
}

}  // namespace strom::pg::node
