// MetadataCache's knowledge of files as bytes without pointers, so that processes can hand it to each other. The reader
// checks everything except whether it is still true: MetadataCache compares files' identities. Used by
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

/// Must be raised when the meaning of the bytes changes.
inline constexpr uint32_t kMetadataPackLayout = 1;

/// Packs files one after another. Not thread-safe. Throws std::bad_alloc.
class MetadataPacker {
 public:
  void add(const std::string& path, const FileMetadata& metadata);
  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  /// The bytes of all files added since the last call.
  std::string take();

 private:
  std::string bytes_, last_path_;
  std::unordered_map<std::string, uint64_t> schemas_;  // a schema's bytes -> its number
  const columnar::Schema* last_schema_ = nullptr;
  uint64_t last_number_ = 0;
};

struct UnpackedFile {
  std::string path;
  std::shared_ptr<FileMetadata> metadata;
};

/// nullopt when the bytes were not made by MetadataPacker. Throws std::bad_alloc.
std::optional<std::vector<UnpackedFile>> unpack_metadata(std::span<const uint8_t> bytes);

}  // namespace strom::format::arrow
