// See os_error.hpp.
#include "base/os_error.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

namespace strom::base {

namespace {

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::kFileNotFound;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::kPermissionDenied;
    case EEXIST: return ErrorCode::kFileExists;
    case ENOSPC:
    case EDQUOT: return ErrorCode::kDiskFull;
    case ENOMEM: return ErrorCode::kOutOfMemory;
    default: return ErrorCode::kIoError;
  }
}

/// In a server this is another user than the one who asks.
std::string effective_user() {
  struct passwd entry, *found = nullptr;
  std::vector<char> buffer(16384);
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return "\"" + std::string(found->pw_name) + "\"";
  return std::to_string(geteuid());
}

}  // namespace

Status os_error(int error_number, const std::string& what) {
  Status status(code_of(error_number), what + ": " + std::generic_category().message(error_number));
  if (error_number != EACCES && error_number != EPERM) return status;
  return std::move(status).with_hint("This process runs as the operating-system user " + effective_user() +
                                     ", which needs the right to do that and to enter all folders above.");
}

}  // namespace strom::base
