// The lock of a transaction that writes to a file. Used by PendingWrite.
#pragma once

#include <memory>
#include <string>

#include "format/append_lock.hpp"

namespace strom::pg::files {

/// Waits for other writers of the file: transactions and other programs. Deadlocks between transactions are detected as
/// usual. Main thread; may throw: the errors of opening the file, and kOverBudget after lock_timeout.
std::unique_ptr<format::AppendLock> lock_file(const std::string& path);

}  // namespace strom::pg::files
