// Lends device memory that no session has at the moment to a borrower that gives it back at once. The scheduler has the
// ledger, and the column store borrows.
#pragma once

#include <cstdint>

namespace strom::service {

/// Any thread; does not wait.
class MemoryLender {
 public:
  virtual ~MemoryLender() = default;
  /// 0: so many bytes are lent. Else nothing is, because so many are missing.
  virtual uint64_t lend(uint64_t bytes) = 0;
  virtual void take_back(uint64_t bytes) = 0;
  /// So many lent bytes cannot be given back now, and tasks that want them have to wait. False when they are promised
  /// to tasks already.
  virtual bool pin(uint64_t bytes) = 0;
  virtual void unpin(uint64_t bytes) = 0;
  /// Bytes that are lent, and that tasks have been promised.
  virtual uint64_t overlent() const = 0;
  /// Bytes that lend() would give.
  virtual uint64_t lendable() const = 0;
};

}  // namespace strom::service
