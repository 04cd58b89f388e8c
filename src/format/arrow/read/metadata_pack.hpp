// What MetadataCache knows of files as bytes without pointers, so that processes can hand it to each other. Everything
// is checked when it is read, but whether it is still true: MetadataCache compares files' identities. Used by
// pg/fdw_arrow/shared_metadata.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/arrow/read/metadata_cache.hpp"

namespace strom::format::arrow {

/// Raised by whoever changes what the bytes mean.
inline constexpr uint32_t kMetadataPackLayout = 1;

/// Puts files one behind the other. Not thread-safe. Throws std::bad_alloc.
class MetadataPacker {
 public:
  void add(const std::string& path, const FileMetadata& metadata);
  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  /// What was added since the last time.
  std::string take();

 private:
  std::string bytes_, last_path_;
  std::unordered_map<std::string, uint64_t> schemas_;  // by their bytes: their numbers
  const columnar::Schema* last_schema_ = nullptr;
  uint64_t last_number_ = 0;
};

struct UnpackedFile {
  std::string path;
  std::shared_ptr<FileMetadata> metadata;
};

/// None where the bytes are not what MetadataPacker made. Throws std::bad_alloc.
std::optional<std::vector<UnpackedFile>> unpack_metadata(std::span<const uint8_t> bytes);

}  // namespace strom::format::arrow
