#include "store/log/redo_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "store/checksum.hpp"

namespace strom::store::log {

namespace {

constexpr uint64_t kMagic = 0x314F444552545324, kAlign = 8;  // "$STREDO1"
constexpr uint32_t kVersion = 2, kVersionWithoutParts = 1;

struct FileHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t database;
  uint64_t store_id, system_id;
  uint32_t relation, reserved;
  uint64_t ring_bytes;
  uint64_t crc;  // of all fields above
};

uint64_t crc_of(const void* record, uint64_t bytes) {
  RecordHeader header;
  std::memcpy(&header, record, sizeof(header));
  header.crc = 0;
  Crc64 crc;
  crc.add(&header, sizeof(header));
  crc.add(static_cast<const char*>(record) + sizeof(header), bytes - sizeof(header));
  return crc.value();
}

bool is_record(uint32_t magic) { return magic == kRecordMagic || magic == kPartMagic; }

}  // namespace

void append_operation(Operation operation, rows::Slot slot, std::string_view image, std::string* bytes) {
  bytes->push_back(static_cast<char>(operation));
  bytes->append(reinterpret_cast<const char*>(&slot), sizeof(slot));
  bytes->append(image);
}

void begin_record(std::string* record) { record->assign(sizeof(RecordHeader), '\0'); }

void end_record(uint64_t xid, bool is_last, std::string* record) {
  record->resize((record->size() + kAlign - 1) / kAlign * kAlign, '\0');  // a zero is no operation: it ends the record
  RecordHeader header{};
  header.magic = is_last ? kRecordMagic : kPartMagic;
  header.bytes = static_cast<uint32_t>(record->size());
  header.xid = xid;
  std::memcpy(record->data(), &header, sizeof(header));
}

void seal_record(void* record, uint64_t position, uint64_t durable) {
  auto& header = *static_cast<RecordHeader*>(record);
  header.position = position;
  header.durable = durable;
  header.crc = crc_of(record, header.bytes);
}

Result<RedoFile> RedoFile::create(const std::string& path, const Identity& identity, uint64_t ring_bytes) {
  RedoFile redo;
  STROM_ASSIGN(redo.file_, File::open(path, O_RDWR | O_CREAT | O_EXCL));
  redo.ring_bytes_ = ring_bytes;
  FileHeader header{};
  header.magic = kMagic;
  header.version = kVersion;
  header.database = identity.database;
  header.store_id = identity.store_id;
  header.system_id = identity.system_id;
  header.relation = identity.relation;
  header.ring_bytes = ring_bytes;
  header.crc = crc64(&header, offsetof(FileHeader, crc));
  char page[kRedoHeaderBytes] = {};
  std::memcpy(page, &header, sizeof(header));
  Status status = redo.file_.write_at(0, page, sizeof(page));
  if (status.is_ok()) status = redo.file_.sync();
  if (status.is_ok()) return redo;
  ::unlink(path.c_str());
  return status;
}

namespace {

Result<FileHeader> read_header(const File& file) {
  FileHeader header;
  STROM_TRY(file.read_at(0, &header, sizeof(header)));
  if (header.magic != kMagic) return damaged(file.path(), 0, "it is not a redo log of a store table");
  if (header.version != kVersion && header.version != kVersionWithoutParts)
    return Status(ErrorCode::kUnsupported, "redo log \"" + file.path() + "\" has version " +
                                               std::to_string(header.version) + ", only versions up to " +
                                               std::to_string(kVersion) + " can be read");
  if (header.crc != crc64(&header, offsetof(FileHeader, crc)) || header.ring_bytes == 0 ||
      header.ring_bytes % kAlign != 0)
    return damaged(file.path(), 0, "wrong checksum of its header");
  return header;
}

}  // namespace

Result<Identity> RedoFile::identity_of(const std::string& path) {
  STROM_ASSIGN(const File file, File::open(path, O_RDONLY));
  STROM_ASSIGN(const FileHeader header, read_header(file));
  return Identity{header.store_id, header.system_id, header.database, header.relation};
}

Result<RedoFile> RedoFile::open(const std::string& path, const Identity& identity) {
  RedoFile redo;
  STROM_ASSIGN(redo.file_, File::open(path, O_RDWR));
  STROM_ASSIGN(FileHeader header, read_header(redo.file_));
  if (header.store_id != identity.store_id)
    return Status(ErrorCode::kCorruptFile, "redo log \"" + path + "\" belongs to another base file");
  if (header.version != kVersion) {
    // Who knows version 1 only would take a part for the end of the log.
    header.version = kVersion;
    header.crc = crc64(&header, offsetof(FileHeader, crc));
    STROM_TRY(redo.file_.write_at(0, &header, sizeof(header)));
    STROM_TRY(redo.file_.sync());
  }
  redo.ring_bytes_ = header.ring_bytes;
  return redo;
}

Status RedoFile::write(uint64_t position, const void* from, uint64_t bytes) const {
  const uint64_t until_end = ring_bytes_ - position % ring_bytes_, first = std::min(bytes, until_end);
  STROM_TRY(file_.write_at(offset_of(position), from, first));
  if (first == bytes) return Status::ok();
  return file_.write_at(kRedoHeaderBytes, static_cast<const char*>(from) + first, bytes - first);
}

/// Reads bytes; those behind the end of the file read as zeros.
Status RedoFile::read(uint64_t position, void* to, uint64_t bytes) const {
  const uint64_t until_end = ring_bytes_ - position % ring_bytes_, first = std::min(bytes, until_end);
  STROM_ASSIGN(const uint64_t done, file_.read_some(offset_of(position), to, first));
  std::memset(static_cast<char*>(to) + done, 0, first - done);
  if (first == bytes) return Status::ok();
  auto* rest = static_cast<char*>(to) + first;
  STROM_ASSIGN(const uint64_t second, file_.read_some(kRedoHeaderBytes, rest, bytes - first));
  std::memset(rest + second, 0, bytes - first - second);
  return Status::ok();
}

/// Reads the record at `position` into `buffer`. False: there is no complete record. `torn_bytes`: length of an
/// incomplete one.
bool RedoFile::read_record(uint64_t position, uint64_t begin, std::vector<uint64_t>* buffer,
                           uint64_t* torn_bytes) const {
  *torn_bytes = 0;
  RecordHeader header;
  if (!read(position, &header, sizeof(header)).is_ok()) return false;
  if (!is_record(header.magic) || header.position != position) return false;
  *torn_bytes = header.bytes;
  if (header.bytes < sizeof(header) || header.bytes > kMaxRecord || header.bytes % kAlign != 0) return false;
  if (position + header.bytes - begin > ring_bytes_) return false;
  buffer->resize(header.bytes / sizeof(uint64_t));
  return read(position, buffer->data(), header.bytes).is_ok() && crc_of(buffer->data(), header.bytes) == header.crc;
}

Result<RedoFile::Replayed> RedoFile::replay(uint64_t begin, const EachRecord& each) const {
  Replayed replayed;
  std::vector<uint64_t> buffer;
  replayed.end = begin;
  while (read_record(replayed.end, begin, &buffer, &replayed.torn_bytes)) {
    const auto& header = *reinterpret_cast<const RecordHeader*>(buffer.data());
    STROM_TRY(
        each(header, {reinterpret_cast<const char*>(buffer.data()) + sizeof(header), header.bytes - sizeof(header)}));
    ++replayed.records;
    replayed.end += header.bytes;
  }
  replayed.is_torn = replayed.torn_bytes != 0;
  STROM_TRY(check_tail(replayed.end, begin));
  return replayed;
}

/// Checks that the log ends at `end`: a later record may prove that there was more.
Status RedoFile::check_tail(uint64_t end, uint64_t begin) const {
  constexpr uint64_t kWindow = 1 << 20;
  std::vector<uint64_t> window(kWindow / kAlign), buffer;
  STROM_ASSIGN(const uint64_t size, file_.size());
  // Nothing was written behind the end of the file, unless the ring has wrapped around.
  const uint64_t stored = size > kRedoHeaderBytes ? size - kRedoHeaderBytes : 0;
  const uint64_t last = begin + ring_bytes_;
  for (uint64_t at = end; at < last; at += kWindow) {
    if (at % ring_bytes_ >= stored && (at % ring_bytes_) + kWindow <= ring_bytes_) continue;
    const uint64_t part = std::min(kWindow, last - at);
    STROM_TRY(read(at, window.data(), part));
    for (uint64_t i = 0; i + 1 < part / kAlign; ++i) {
      if (!is_record(static_cast<uint32_t>(window[i])) || window[i + 1] != at + i * kAlign) continue;
      uint64_t torn;
      if (!read_record(at + i * kAlign, begin, &buffer, &torn)) continue;
      if (reinterpret_cast<const RecordHeader*>(buffer.data())->durable > end)
        return damaged(file_.path(), offset_of(end), "a record of the log that had been written is not there");
    }
  }
  return Status::ok();
}

}  // namespace strom::store::log
