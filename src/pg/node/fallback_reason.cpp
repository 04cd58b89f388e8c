// See fallback_reason.hpp.
#include "pg/node/fallback_reason.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"

namespace strom::pg::node {

namespace {

FallbackReason reason_of(const engine::plan::ValueType& type, Datum value) {
  const registry::Phys phys = type.phys();
  const bool is_pointer = phys == registry::Phys::kStr || type.type == registry::TypeId::kNumeric ||
                          type.type == registry::TypeId::kDecimal;
  if (!is_pointer) return FallbackReason::kExpression;
  if (VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value))) return FallbackReason::kOutOfLine;
  if (phys == registry::Phys::kStr) return FallbackReason::kExpression;
  std::string bytes;
  const bool is_held = codec::register_bytes(type.type, type.scale, value, &bytes) == codec::Encoded::kDone;
  return is_held ? FallbackReason::kExpression : FallbackReason::kUnheld;
}

}  // namespace

void FallbackReasons::add(const std::vector<engine::plan::ValueType>& columns, const Datum* values, const bool* nulls) {
  FallbackReason reason = FallbackReason::kExpression;
  for (size_t i = 0; i < columns.size(); ++i)
    if (!nulls[i] && reason == FallbackReason::kExpression) reason = reason_of(columns[i], values[i]);
  ++counts_[static_cast<size_t>(reason)];
}

std::string FallbackReasons::text() const {
  constexpr const char* kWhy[] = {
      "by an expression that overflows, divides by zero, or that the engine cannot compute exactly",
      "by a value that the engine cannot hold", "by a value that is stored out of line"};
  std::string text;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    text += (text.empty() ? "" : "; ") + std::to_string(counts_[i]) + " " + kWhy[i];
  }
  return text + ".";
}

}  // namespace strom::pg::node
