#include "engine/op/pipeline/worker.hpp"

#include <cstring>

namespace strom::engine::op {

ConstantValue::ConstantValue(const plan::Constant& constant)
    : size(static_cast<size_t>(registry::phys_size(constant.type.phys()))),
      flag(constant.unheld    ? block::kErrorFlag
           : constant.is_null ? block::kNullFlag
                              : 0) {
  if (flag != 0) return;
  const registry::StrView text{constant.bytes.data(), static_cast<int64_t>(constant.bytes.size())};
  if (constant.type.phys() == registry::Phys::kStr)
    std::memcpy(bytes, &text, sizeof text);
  else
    std::memcpy(bytes, constant.bytes.data(), size);
}

ConstantValue::ConstantValue(registry::StrView view) : size(sizeof view), flag(0) {
  std::memcpy(bytes, &view, sizeof view);
}

std::vector<FallbackRow> rows_of(const block::FallbackBuffer& fallback, uint32_t pipeline, int64_t chunk, int64_t begin,
                                 uint32_t joins) {
  std::vector<FallbackRow> rows;
  for (int32_t i = 0; i < fallback.count; ++i) {
    FallbackRow row{pipeline, chunk, begin + fallback.rows[i], {}};
    for (uint32_t j = 0; j < joins; ++j) {
      const uint32_t inner = fallback.join_rows[static_cast<size_t>(i) * joins + j];
      row.inner_rows.push_back(inner == block::kNoRow ? -1 : static_cast<int64_t>(inner));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace strom::engine::op
