// The redo log of a store table: a ring in a file. Positions count bytes since the log was made; position p is at
// p modulo the ring's size. docs/format/store.md describes the bytes.
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

/// Before each record. All records are multiples of 8 bytes.
struct RecordHeader {
  uint32_t magic;
  uint32_t bytes;     // with the header
  uint64_t position;  // its own
  uint64_t durable;   // everything before this was on the device when the record was made
  uint64_t xid;       // of the transaction, with its epoch
  uint64_t crc;       // of header, this being zero, and operations
};
inline constexpr uint32_t kRecordMagic = 0x4F444552;  // "REDO"

enum class Operation : uint8_t {
  kInsert = 1,  // slot, image of the row
  kEnd = 2,     // slot
};
inline constexpr uint64_t kOperationBytes = 1 + sizeof(rows::Slot);

/// Appends an operation; `image` is empty for kEnd.
void append_operation(Operation operation, rows::Slot slot, std::string_view image, std::string* bytes);

/// A record is begun, operations are appended to it, at most kMaxRecord bytes in all, and it is ended. It becomes whole
/// by seal_record().
void begin_record(std::string* record);
void end_record(uint64_t xid, std::string* record);
/// All of that at once.
std::string make_record(uint64_t xid, std::string_view operations);
/// Sets what depends on where the record goes. `record` is aligned to 8 bytes.
void seal_record(void* record, uint64_t position, uint64_t durable);

/// The file with its ring.
class RedoFile {
 public:
  /// Makes a new file, with room on the device for its first bytes. Errors: kFileNotFound, kPermissionDenied, kIoError
  /// (it exists), kDiskFull.
  static Result<RedoFile> create(const std::string& path, const Identity& identity, uint64_t ring_bytes);
  /// Errors: kCorruptFile (no redo log, or of another store), kUnsupported (of another version), those of opening.
  static Result<RedoFile> open(const std::string& path, const Identity& identity);

  uint64_t ring_bytes() const { return ring_bytes_; }
  const File& file() const { return file_; }

  /// Bytes [position, position + bytes) of the log.
  Status write(uint64_t position, const void* from, uint64_t bytes) const;
  Status sync() const { return file_.sync(); }

  /// Of each record from `begin` on, in order. A failure of `each` ends it.
  using EachRecord = std::function<Status(const RecordHeader& header, std::string_view operations)>;
  struct Replayed {
    uint64_t end = 0;  // position behind the last record
    uint64_t records = 0;
    bool is_torn = false;     // something that is not a record followed
    uint64_t torn_bytes = 0;  // of it, as its header says; 0: not known
  };
  /// Errors: kCorruptFile when a record is damaged that had been on the device before a later one was made.
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
