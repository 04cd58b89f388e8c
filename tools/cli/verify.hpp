// Reading back what was written (--verify): that the file holds the bytes that the tool meant to write.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "format/byte_sink.hpp"

namespace strom::tool {

/// A checksum over bytes that come in pieces; where they are cut makes no difference.
class Checksum {
 public:
  void add(const void* bytes, int64_t size);
  uint64_t value() const;

 private:
  uint64_t state_ = 0x9E3779B97F4A7C15;
  uint64_t partial_ = 0;  // up to seven bytes
  int partial_size_ = 0;
};

/// Passes everything on to `sink`. After commit() it reads `path` back from the sink's first position, and fails with
/// kIoError when the bytes are not those that were appended. It asks the page cache to drop the file before, so that
/// the bytes come from the storage.
std::unique_ptr<format::ByteSink> verifying_sink(std::unique_ptr<format::ByteSink> sink, std::string path);

}  // namespace strom::tool
