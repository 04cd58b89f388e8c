// The common part of the Arrow reader and writer: constants of the file format, the error for corrupt bytes, and a
// metadata flatbuffer that can be trusted. Private to src/format/arrow.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "base/mapped_file.hpp"
#include "base/status.hpp"

namespace strom::format::arrow {

constexpr char kMagic[] = "ARROW1";  // at both ends of a file
constexpr int64_t kMagicBytes = 6;
constexpr int64_t kHeaderBytes = 8;                 // magic and padding before the first message
constexpr int64_t kTrailerBytes = 4 + kMagicBytes;  // int32 footer size, magic
constexpr uint32_t kContinuation = 0xFFFFFFFF;      // starts a message since metadata V5 (and late V4)

/// Bytes of a file, mapped or in memory, and its name for messages.
struct FileBytes {
  std::string path;
  const uint8_t* data = nullptr;
  int64_t size = 0;
  const base::MappedFile* mapping = nullptr;  // the mapping that `data` is in, if any

  /// Announces that these bytes, which are inside, will be read.
  void will_need(int64_t offset, int64_t bytes) const {
    if (mapping != nullptr && bytes > 0) mapping->will_need(data + offset, bytes);
  }
  Status corrupt(int64_t offset, const std::string& what) const {
    return Status(ErrorCode::kCorruptFile, "corrupt Arrow file \"" + path + "\"")
        .with_detail("At byte offset " + std::to_string(offset) + ": " + what + ".");
  }
  /// The caller has checked that [offset, offset + sizeof(T)) is inside.
  template <class T>
  T load(int64_t offset) const {
    T value;
    std::memcpy(&value, data + offset, sizeof(T));
    return value;
  }
};

/// A private, aligned and verified copy of one metadata flatbuffer. It is a copy because the bytes of a mapped file can
/// change after verification, and old writers do not align them.
template <class Root>
class Metadata {
 public:
  /// `size` > 0 bytes at `offset`, which the caller knows to be inside of the file.
  static Result<Metadata> load(const FileBytes& file, int64_t offset, int64_t size, const char* what) {
    file.will_need(offset, size);
    constexpr int64_t kMaxBytes = FLATBUFFERS_MAX_BUFFER_SIZE - 1;
    constexpr flatbuffers::uoffset_t kMaxDepth = 64, kMaxTables = 1'000'000;
    if (size <= 0 || size > kMaxBytes) return file.corrupt(offset, std::string(what) + " has an impossible size");
    Metadata metadata;
    metadata.words_ = std::make_unique<uint64_t[]>(static_cast<size_t>(size + 7) / 8);
    auto* bytes = reinterpret_cast<uint8_t*>(metadata.words_.get());
    std::memcpy(bytes, file.data + offset, static_cast<size_t>(size));
    flatbuffers::Verifier verifier(bytes, static_cast<size_t>(size), kMaxDepth, kMaxTables);
    if (!verifier.VerifyBuffer<Root>(nullptr)) {
      return file.corrupt(offset, std::string(what) + " is not a valid flatbuffer");
    }
    metadata.size_ = size;
    return metadata;
  }

  const Root& root() const { return *flatbuffers::GetRoot<Root>(words_.get()); }
  int64_t size() const { return size_; }

 private:
  std::unique_ptr<uint64_t[]> words_;
  int64_t size_ = 0;
};

/// Element of a flatbuffer vector of structs or int64. Returns a copy: the verifier checks the alignment of the
/// vector's length only, not of its elements.
template <class Struct, class Vector>
Struct vector_element(const Vector& vector, flatbuffers::uoffset_t index) {
  Struct element;
  std::memcpy(&element, vector.Data() + sizeof(Struct) * index, sizeof(Struct));
  return element;
}

template <class Vector>
int64_t vector_size(const Vector* vector) {
  return vector == nullptr ? 0 : static_cast<int64_t>(vector->size());
}

}  // namespace strom::format::arrow
