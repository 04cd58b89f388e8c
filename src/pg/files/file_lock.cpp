// See file_lock.hpp.
#include "pg/files/file_lock.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>

#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/compat/wait_event.hpp"

namespace strom::pg::files {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;
using format::AppendLock;

namespace {

/// Identifies a file, whatever its names are.
struct Identity {
  uint64_t device = 0, inode = 0;
  bool operator==(const Identity&) const = default;
};

Identity identity_of(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    throw_if_failed(base::os_error(errno, "could not open file \"" + path + "\" for writing"));
  return {info.st_dev, info.st_ino};
}

/// Takes PostgreSQL's lock on a file until the end of the transaction. It is an advisory lock that is the same in all
/// databases. No SQL function can take it, because those lock per database.
void lock_for_transaction(const Identity& file) {
  constexpr uint16_t kClass = 0x4146;
  guard([file] {
    const uint64 key = hash_bytes_extended(reinterpret_cast<const unsigned char*>(&file), sizeof(file), 0);
    LOCKTAG tag;
    SET_LOCKTAG_ADVISORY(tag, InvalidOid, static_cast<uint32>(key >> 32), static_cast<uint32>(key), kClass);
    (void)LockAcquire(&tag, ExclusiveLock, false, false);
  });
}

/// Locks the file against other programs, which do not see PostgreSQL's locks.
std::unique_ptr<AppendLock> lock_against_programs(const std::string& path) {
  constexpr int kMillis = 10;
  for (int64_t waited = 0;; waited += kMillis) {
    auto lock = value_or_throw(AppendLock::try_take(path));
    if (lock != nullptr) return lock;
    boundary::check_for_interrupts();
    if (LockTimeout > 0 && waited >= LockTimeout)
      throw_if_failed(Status(ErrorCode::kOverBudget, "file \"" + path + "\" is being written to by another process"));
    guard([] {
      WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, kMillis, compat::file_lock_wait_event());
      ResetLatch(MyLatch);
    });
  }
}

}  // namespace

std::unique_ptr<AppendLock> lock_file(const std::string& path) {
  for (Identity wanted = identity_of(path);;) {
    lock_for_transaction(wanted);
    auto lock = lock_against_programs(path);
    const Identity now = identity_of(path);  // the previous holder may have replaced the file
    if (now == wanted) return lock;
    wanted = now;
  }
}

}  // namespace strom::pg::files
