// Collects bytes whose number is not known, such as those of standard input, for code that wants all of them in memory.
// Used by tools that read files, for which - is standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.hpp"

namespace strom::tool {

/// A file without a name in the folder for temporary files, so that memory for it can be given back, and its mapping.
/// Where there is no such folder it is memory.
class Spool {
 public:
  static Result<std::unique_ptr<Spool>> create();
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  Status append(const void* bytes, size_t size);
  /// All that was appended, which is good as long as this lives. Nothing is appended afterwards.
  Result<std::span<const uint8_t>> bytes();

 private:
  Spool() = default;
  int fd_ = -1;
  void* mapped_ = nullptr;
  size_t size_ = 0;
};

/// For who reads standard input: it is the caller's from now on. kInvalidParameter when it is a terminal, or was taken
/// before.
Status take_input();

/// All of standard input. kInvalidParameter when it is a terminal, or was read before.
Result<std::unique_ptr<Spool>> spool_input();

}  // namespace strom::tool
