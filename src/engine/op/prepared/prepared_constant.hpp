// A constant in the form that functions take it in, made once for the run of a pipeline. Used by exec/pipeline_run.cpp,
// and by the workers of all devices. See docs/dev/prepared.md.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/plan/ir.hpp"
#include "engine/plan/prepared.hpp"
#include "registry/types.hpp"

namespace strom::engine::op {

/// What one of the CPU's workers has of its own of a constant: a view is what its register holds.
class WorkerForm {
 public:
  virtual ~WorkerForm() = default;
  virtual registry::StrView view() const = 0;
};

class PreparedConstant {
 public:
  virtual ~PreparedConstant() = default;
  /// What the registers of all workers hold. Position-independent bytes, of which devices have copies; none where only
  /// the host can use the form.
  virtual registry::StrView bytes() const { return {nullptr, 0}; }
  /// nullptr: bytes() serve every worker of the CPU.
  virtual std::unique_ptr<WorkerForm> for_worker() const { return nullptr; }
  /// That of for_worker() included.
  virtual int64_t memory() const = 0;
};

/// nullptr: the constant is a null, or one that has no such form; then registers hold an empty view, for which
/// functions leave rows to PostgreSQL.
std::unique_ptr<PreparedConstant> prepare(plan::PreparedForm form, const plan::Constant& constant);

/// A constant as a pipeline's code uses it.
struct ConstantUse {
  uint32_t constant;  // in Program::constants
  plan::PreparedForm form = plan::PreparedForm::kNone;
};

/// Those of a pipeline, for as long as it runs. An item for each use; nullptr where the constant is used as it is, or
/// has no such form, or none within the budget.
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
