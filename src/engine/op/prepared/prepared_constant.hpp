// A constant in the form that functions take, made once for each run of a pipeline. Used by exec/pipeline_run.cpp, and
// by the workers of all devices. See docs/dev/prepared.md.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/plan/ir.hpp"
#include "engine/plan/prepared.hpp"
#include "registry/types.hpp"

namespace strom::engine::op {

/// The form that one worker of the CPU has for itself. The worker's register holds the view.
class WorkerForm {
 public:
  virtual ~WorkerForm() = default;
  virtual registry::StrView view() const = 0;
};

class PreparedConstant {
 public:
  virtual ~PreparedConstant() = default;
  /// The value of all workers' registers: position-independent bytes, which are copied to devices. No bytes where only
  /// the host can use the form.
  virtual registry::StrView bytes() const { return {nullptr, 0}; }
  /// nullptr: all workers of the CPU use bytes().
  virtual std::unique_ptr<WorkerForm> for_worker() const { return nullptr; }
  /// Bytes, those of for_worker() included.
  virtual int64_t memory() const = 0;
};

/// nullptr: the constant is null, or has no such form. Registers then hold an empty view, for which functions make
/// fallback rows.
std::unique_ptr<PreparedConstant> prepare(plan::PreparedForm form, const plan::Constant& constant);

/// A constant as a pipeline's code uses it.
struct ConstantUse {
  uint32_t constant;  // in Program::constants
  plan::PreparedForm form = plan::PreparedForm::kNone;
};

/// The constants of a pipeline, while it runs: an item for each use. nullptr where the constant is used as it is, has
/// no such form, or no form within the budget.
class PreparedConstants {
 public:
  /// Forms may take `budget` bytes together.
  PreparedConstants(const plan::Program& program, const std::vector<ConstantUse>& uses, int64_t budget);

  const PreparedConstant* at(size_t use) const { return prepared_[use].get(); }
  int64_t memory() const { return memory_; }

 private:
  std::vector<std::unique_ptr<PreparedConstant>> prepared_;
  int64_t memory_ = 0;
};

}  // namespace strom::engine::op
