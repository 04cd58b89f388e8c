#include "engine/op/prepared/prepared_constant.hpp"

#include "engine/op/call/regex_match.hpp"

namespace strom::engine::op {

std::unique_ptr<PreparedConstant> prepare(plan::PreparedForm form, const plan::Constant& constant) {
  if (constant.is_null || constant.unheld) return nullptr;
  switch (form) {
    case plan::PreparedForm::kRegex: return prepare_regex(constant.bytes, false);
    case plan::PreparedForm::kRegexAnyCase: return prepare_regex(constant.bytes, true);
    case plan::PreparedForm::kNone: break;
  }
  return nullptr;
}

PreparedConstants::PreparedConstants(const plan::Program& program, const std::vector<ConstantUse>& uses,
                                     int64_t budget) {
  for (const ConstantUse& use : uses) {
    prepared_.push_back(prepare(use.form, program.constants[use.constant]));
    if (prepared_.back() == nullptr) continue;
    const int64_t bytes = prepared_.back()->memory();
    if (memory_ + bytes > budget)
      prepared_.back().reset();
    else
      memory_ += bytes;
  }
}

}  // namespace strom::engine::op
