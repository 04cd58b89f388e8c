#include "store/log/base_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/os_error.hpp"
#include "store/checksum.hpp"
#include "store/rows/row_image.hpp"

namespace strom::store::log {

/// Precedes each block of rows. The last block has no rows and no bytes.
struct BlockHeader {
  uint32_t magic, rows;
  uint64_t bytes;   // length of the part behind the header
  uint64_t number;  // of the block, from 0
  uint64_t crc;     // of the header, with 0 for this field, and the bytes
};

namespace {

constexpr uint64_t kMagic = 0x3145534142545324;  // "$STBASE1"
constexpr uint32_t kVersion = 1, kBlockMagic = 0x4B434C42;
constexpr uint64_t kBlockBytes = 1 << 20, kMaxBlock = kBlockBytes + 2 * rows::kMaxRowBytes, kPage = 4096;
constexpr char kHasXmin = 1, kHasXmax = 2;

struct FileHeader {
  uint64_t magic;
  uint32_t version, database;
  uint64_t store_id, system_id;
  uint32_t relation, shape_bytes;
  uint64_t position, next_xid, rows, blocks, file_bytes;
  uint64_t crc;  // of all fields above and the shape behind it
};

uint64_t crc_of(FileHeader header, std::string_view shape) {
  Crc64 crc;
  crc.add(&header, offsetof(FileHeader, crc));
  crc.add(shape.data(), shape.size());
  return crc.value();
}

uint64_t crc_of(BlockHeader header, std::string_view bytes) {
  header.crc = 0;
  Crc64 crc;
  crc.add(&header, sizeof(header));
  crc.add(bytes.data(), bytes.size());
  return crc.value();
}

uint64_t begin_of_blocks(uint64_t shape_bytes) {
  return (sizeof(FileHeader) + shape_bytes + kPage - 1) / kPage * kPage;
}

template <class T>
bool take(std::string_view* bytes, T* value) {
  if (bytes->size() < sizeof(T)) return false;
  std::memcpy(value, bytes->data(), sizeof(T));
  bytes->remove_prefix(sizeof(T));
  return true;
}

template <class T>
void put(std::string* bytes, const T& value) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

BaseWriter::BaseWriter(std::string path, BaseHeader header) : path_(std::move(path)), header_(std::move(header)) {}

BaseWriter::BaseWriter(BaseWriter&&) noexcept = default;

BaseWriter::~BaseWriter() {
  if (file_.is_open()) ::unlink(file_.path().c_str());
}

Result<BaseWriter> BaseWriter::begin(const std::string& path, const BaseHeader& header) {
  BaseWriter writer(path, header);
  writer.header_.rows = 0;
  STROM_ASSIGN(writer.file_, File::open(path + kNewSuffix, O_RDWR | O_CREAT | O_TRUNC));
  STROM_TRY(writer.write_header());
  writer.offset_ = begin_of_blocks(encode_shape(header.shape).size());
  return writer;
}

Status BaseWriter::write_header() {
  const std::string shape = encode_shape(header_.shape);
  FileHeader header{};
  header.magic = kMagic;
  header.version = kVersion;
  header.database = header_.identity.database;
  header.relation = header_.identity.relation;
  header.store_id = header_.identity.store_id;
  header.system_id = header_.identity.system_id;
  header.shape_bytes = static_cast<uint32_t>(shape.size());
  header.position = header_.position;
  header.next_xid = header_.next_xid;
  header.rows = header_.rows;
  header.blocks = blocks_;
  header.file_bytes = offset_;
  header.crc = crc_of(header, shape);
  std::string page(reinterpret_cast<const char*>(&header), sizeof(header));
  page += shape;
  page.resize(begin_of_blocks(shape.size()), '\0');
  return file_.write_at(0, page.data(), page.size());
}

Status BaseWriter::add(const BaseRow& row, std::string_view image) {
  put(&block_, row.slot);
  block_.push_back(static_cast<char>((row.xmin != 0 ? kHasXmin : 0) | (row.xmax != 0 ? kHasXmax : 0)));
  if (row.xmin != 0) put(&block_, row.xmin);
  if (row.xmax != 0) put(&block_, row.xmax);
  block_.append(image);
  ++block_rows_;
  ++header_.rows;
  return block_.size() < kBlockBytes ? Status::ok() : flush();
}

Status BaseWriter::flush() {
  BlockHeader block{kBlockMagic, block_rows_, block_.size(), blocks_, 0};
  block.crc = crc_of(block, block_);
  STROM_TRY(file_.write_at(offset_, &block, sizeof(block)));
  STROM_TRY(file_.write_at(offset_ + sizeof(block), block_.data(), block_.size()));
  // So that the sync at the end, during which the caller can do nothing else, does not take long.
  file_.begin_sync(offset_, sizeof(block) + block_.size());
  offset_ += sizeof(block) + block_.size();
  ++blocks_;
  block_.clear();
  block_rows_ = 0;
  return Status::ok();
}

Status BaseWriter::finish(bool is_durable) {
  if (block_rows_ != 0) STROM_TRY(flush());
  STROM_TRY(flush());
  STROM_TRY(write_header());
  if (is_durable) STROM_TRY(file_.sync());
  if (::rename(file_.path().c_str(), path_.c_str()) != 0)
    return base::os_error(errno, "could not rename file \"" + file_.path() + "\" to \"" + path_ + "\"");
  file_.close();
  return is_durable ? sync_folder_of(path_) : Status::ok();
}

Result<BaseReader> BaseReader::open(const std::string& path) {
  BaseReader reader;
  STROM_ASSIGN(reader.file_, File::open(path, O_RDONLY));
  FileHeader header;
  STROM_TRY(reader.file_.read_at(0, &header, sizeof(header)));
  if (header.magic != kMagic) return damaged(path, 0, "it is not a base file of a store table");
  if (header.version != kVersion)
    return Status(ErrorCode::kUnsupported, "base file \"" + path + "\" has version " + std::to_string(header.version) +
                                               ", only version " + std::to_string(kVersion) + " can be read");
  STROM_ASSIGN(const uint64_t size, reader.file_.size());
  if (header.shape_bytes > size) return damaged(path, 0, "wrong checksum of its header");
  std::string shape(header.shape_bytes, '\0');
  STROM_TRY(reader.file_.read_at(sizeof(header), shape.data(), shape.size()));
  if (header.crc != crc_of(header, shape)) return damaged(path, 0, "wrong checksum of its header");
  if (header.file_bytes != size)
    return damaged(path, size, "it should have " + std::to_string(header.file_bytes) + " bytes");
  STROM_ASSIGN(reader.header_.shape, rows::decode_shape(shape));
  reader.header_.identity = {header.store_id, header.system_id, header.database, header.relation};
  reader.header_.position = header.position;
  reader.header_.next_xid = header.next_xid;
  reader.header_.rows = header.rows;
  reader.begin_ = begin_of_blocks(shape.size());
  return reader;
}

Status BaseReader::read_rows(const EachRow& each) const {
  std::string bytes;
  uint64_t offset = begin_, rows = 0;
  for (uint64_t number = 0;; ++number) {
    BlockHeader block;
    STROM_TRY(file_.read_at(offset, &block, sizeof(block)));
    if (block.magic != kBlockMagic || block.number != number || block.bytes > kMaxBlock)
      return damaged(file_.path(), offset, "no block of rows is there");
    bytes.resize(block.bytes);
    STROM_TRY(file_.read_at(offset + sizeof(block), bytes.data(), bytes.size()));
    if (block.crc != crc_of(block, bytes)) return damaged(file_.path(), offset, "wrong checksum of a block");
    if (block.rows == 0) break;
    STROM_TRY(read_block(block, offset, bytes, each));
    rows += block.rows;
    offset += sizeof(block) + block.bytes;
  }
  return rows == header_.rows ? Status::ok() : damaged(file_.path(), offset, "rows are missing");
}

Status BaseReader::read_block(const BlockHeader& block, uint64_t offset, std::string_view bytes,
                              const EachRow& each) const {
  std::vector<rows::Cell> cells(header_.shape.columns.size());
  for (uint32_t i = 0; i < block.rows; ++i) {
    BaseRow row;
    char flags = 0;
    bool is_good = take(&bytes, &row.slot) && take(&bytes, &flags);
    if (is_good && (flags & kHasXmin) != 0) is_good = take(&bytes, &row.xmin);
    if (is_good && (flags & kHasXmax) != 0) is_good = take(&bytes, &row.xmax);
    if (!is_good || !take_row(header_.shape, &bytes, cells))
      return damaged(file_.path(), offset, "a block has something else than rows");
    STROM_TRY(each(row, cells));
  }
  return bytes.empty() ? Status::ok() : damaged(file_.path(), offset, "a block has more than its rows");
}

}  // namespace strom::store::log
