// Turns a failed system call's errno into a Status. Used by everything that opens, maps or writes files.
#pragma once

#include <string>

#include "base/status.hpp"

namespace strom::base {

/// Status with message `WHAT: STRERROR`, e.g. `could not open file "x": No such file or directory`. The code is
/// kFileNotFound (ENOENT, ENOTDIR), kFileExists (EEXIST), kPermissionDenied (EACCES, EPERM, EROFS), kDiskFull (ENOSPC,
/// EDQUOT), kOutOfMemory (ENOMEM) or kIoError.
/// Where a right is missing, a hint names the operating-system user.
Status os_error(int error_number, const std::string& what);

}  // namespace strom::base
