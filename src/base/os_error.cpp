// See os_error.hpp.
#include "base/os_error.hpp"

#include <cerrno>
#include <system_error>

namespace strom::base {

namespace {

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return ErrorCode::kFileNotFound;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::kPermissionDenied;
    case ENOMEM: return ErrorCode::kOutOfMemory;
    default: return ErrorCode::kIoError;
  }
}

}  // namespace

Status os_error(int error_number, const std::string& what) {
  return Status(code_of(error_number), what + ": " + std::generic_category().message(error_number));
}

}  // namespace strom::base
