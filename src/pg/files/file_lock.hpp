// The lock of the transaction that writes to a file. Used by PendingWrite.
#pragma once

#include <memory>
#include <string>

#include "format/append_lock.hpp"

namespace strom::pg::files {

/// Waits for whoever writes to the file: another transaction, in which deadlocks are found as those of PostgreSQL's
/// locks are, or another program. Main thread; may throw: those of opening the file, kOverBudget after lock_timeout.
std::unique_ptr<format::AppendLock> lock_file(const std::string& path);

}  // namespace strom::pg::files
