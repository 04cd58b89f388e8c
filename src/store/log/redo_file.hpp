// The redo log of a store table: a ring in a file. Positions count bytes since the log was made. Position p is at
// offset p modulo the ring's size. docs/format/store.md describes the bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "store/log/file.hpp"
#include "store/log/identity.hpp"
#include "store/rows/shape.hpp"

namespace strom::store::log {

inline constexpr uint64_t kRedoHeaderBytes = 4096;
inline constexpr uint64_t kMaxRecord = (2 << 20) + 4096;

/// Precedes each record. The size of a record is a multiple of 8 bytes.
struct RecordHeader {
  uint32_t magic;     // kRecordMagic or kPartMagic
  uint32_t bytes;     // including the header
  uint64_t position;  // the record's position
  uint64_t durable;   // everything before it was on the device when the record was made
  uint64_t xid;       // the transaction, with its epoch
  uint64_t crc;       // of the header, with 0 for this field, and the operations
};
inline constexpr uint32_t kRecordMagic = 0x4F444552;  // "REDO": the only or last record of its transaction
inline constexpr uint32_t kPartMagic = 0x54524150;    // "PART": further records of the transaction follow

enum class Operation : uint8_t {
  kInsert = 1,  // slot, image of the row
  kEnd = 2,     // slot
};
inline constexpr uint64_t kOperationBytes = 1 + sizeof(rows::Slot);

/// Appends an operation; `image` is empty for kEnd.
void append_operation(Operation operation, rows::Slot slot, std::string_view image, std::string* bytes);

/// begin_record() begins a record, and end_record() ends it. Operations are appended in between, for at most kMaxRecord
/// bytes in all. seal_record() completes it. `is_last`: no further record of the transaction follows.
void begin_record(std::string* record);
void end_record(uint64_t xid, bool is_last, std::string* record);
/// Sets the fields that depend on the record's position. `record` is aligned to 8 bytes.
void seal_record(void* record, uint64_t position, uint64_t durable);

/// The file with its ring.
class RedoFile {
 public:
  /// Makes a new file, with space on the device for its first bytes. Errors: kFileNotFound, kPermissionDenied, kIoError
  /// (it exists), kDiskFull.
  static Result<RedoFile> create(const std::string& path, const Identity& identity, uint64_t ring_bytes);
  /// Errors: kCorruptFile (no redo log, or of another store), kUnsupported (another version), those of opening. Makes
  /// a file of version 1 one of version 2.
  static Result<RedoFile> open(const std::string& path, const Identity& identity);

  /// Says whose log a file is. Errors as open().
  static Result<Identity> identity_of(const std::string& path);

  uint64_t ring_bytes() const { return ring_bytes_; }
  const File& file() const { return file_; }

  /// Writes bytes [position, position + bytes) of the log.
  Status write(uint64_t position, const void* from, uint64_t bytes) const;
  Status sync() const { return file_.sync(); }

  /// Called for each record from `begin` on, in order. A failure of it ends the replay.
  using EachRecord = std::function<Status(const RecordHeader& header, std::string_view operations)>;
  struct Replayed {
    uint64_t end = 0;  // behind the last record
    uint64_t records = 0;
    bool is_torn = false;     // bytes that are no complete record followed
    uint64_t torn_bytes = 0;  // its length by its header; 0: unknown
  };
  /// Errors: kCorruptFile when a record is damaged that was on the device before a later one was made.
  Result<Replayed> replay(uint64_t begin, const EachRecord& each) const;

 private:
  Status read(uint64_t position, void* to, uint64_t bytes) const;
  bool read_record(uint64_t position, uint64_t begin, std::vector<uint64_t>* buffer, uint64_t* torn_bytes) const;
  Status check_tail(uint64_t end, uint64_t begin) const;
  uint64_t offset_of(uint64_t position) const { return kRedoHeaderBytes + position % ring_bytes_; }

  File file_;
  uint64_t ring_bytes_ = 0;
};

}  // namespace strom::store::log
