// See footer_edit.hpp.
#include "format/arrow/write/footer_edit.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "base/os_error.hpp"
#include "format/arrow/metadata/file_end.hpp"
#include "format/arrow/metadata/file_tail.hpp"
#include "format/arrow/write/footer_copy.hpp"
#include "format/arrow/metadata/ipc.hpp"
#include "format/arrow/metadata/schema_decode.hpp"

namespace strom::format::arrow {

namespace {

constexpr int64_t kEndOfStreamBytes = 8;  // continuation marker and a size of zero, behind the last batch
constexpr int64_t kFooterAlignment = 64;

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

struct Trailer {
  char bytes[kTrailerBytes];

  explicit Trailer(int64_t footer_size) {
    const auto size = static_cast<int32_t>(footer_size);
    std::memcpy(bytes, &size, sizeof(size));
    std::memcpy(bytes + sizeof(size), kMagic, kMagicBytes);
  }
};

class FooterEdit {
 public:
  explicit FooterEdit(const FileReader& reader) : reader_(reader) {}
  ~FooterEdit() {
    if (fd_ >= 0) close(fd_);  // releases the lock
  }

  Status run(const FieldMetadata& metadata) {
    STROM_TRY(open_locked());
    STROM_TRY(load_footer());
    STROM_TRY(make_footer(metadata));
    return room_before_footer() ? write_before() : write_behind();
  }

 private:
  Status failed(const char* verb, int error_number) const {
    return base::os_error(error_number, std::string("could not ") + verb + " file \"" + reader_.path() + "\"");
  }

  Status open_locked() {
    fd_ = open(reader_.path().c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd_ < 0) return failed("open", errno);
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      return Status(ErrorCode::kOverBudget, "file \"" + reader_.path() + "\" is being changed by another process");
    }
    struct stat info;
    if (fstat(fd_, &info) != 0) return failed("examine", errno);
    STROM_ASSIGN(const FileIdentity now, base::identify_file(reader_.path()));
    const FileIdentity& read = reader_.identity();
    if (now.device != read.device || now.inode != read.inode || now.inode != info.st_ino || now.size != read.size ||
        now.mtime_ns != read.mtime_ns) {
      return Status(ErrorCode::kFileChanged, "file \"" + reader_.path() + "\" changed while it was being read");
    }
    STROM_TRY(reader_.check_unchanged());
    return cut_zeros(now.size);
  }

  /// Cuts off what a power cut left behind the valid end.
  Status cut_zeros(int64_t size) {
    STROM_ASSIGN(const FileTail tail, FileTail::open(reader_.path()));
    file_size_ = tail.bytes.size;
    if (file_size_ == size) return Status::ok();
    if (ftruncate(fd_, file_size_) != 0) return failed("write", errno);
    return sync();
  }

  Status read_at(int64_t offset, int64_t size, void* to) const {
    for (int64_t done = 0; done < size;) {
      const ssize_t got = pread(fd_, static_cast<char*>(to) + done, static_cast<size_t>(size - done), offset + done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return failed("read", errno);
      if (got == 0) return Status(ErrorCode::kFileChanged, "file \"" + reader_.path() + "\" was cut off meanwhile");
      done += got;
    }
    return Status::ok();
  }

  /// The reader has checked all of this. It is checked again because it is read from the file once more.
  Status load_footer() {
    char trailer[kTrailerBytes];
    STROM_TRY(read_at(file_size_ - kTrailerBytes, kTrailerBytes, trailer));
    int32_t size = 0;
    std::memcpy(&size, trailer, sizeof(size));
    old_offset_ = file_size_ - kTrailerBytes - size;
    if (size <= 0 || old_offset_ < kHeaderBytes) return corrupt("its footer changed");
    old_.resize(static_cast<size_t>(size));
    return read_at(old_offset_, size, old_.data());
  }

  Status corrupt(const char* what) const {
    return Status(ErrorCode::kCorruptFile, "file \"" + reader_.path() + "\" cannot be edited: " + what);
  }

  static FileBytes bytes_of(const std::string& path, const void* data, size_t size) {
    return {path, static_cast<const uint8_t*>(data), static_cast<int64_t>(size)};
  }

  Status make_footer(const FieldMetadata& metadata) {
    const FileBytes old_bytes = bytes_of(reader_.path(), old_.data(), old_.size());
    STROM_ASSIGN(const auto old, Metadata<fbs::Footer>::load(old_bytes, 0, old_bytes.size, "the footer"));
    STROM_TRY(copy_footer(old_bytes, old.root(), old_bytes.size, metadata, builder_));
    const FileBytes new_bytes = bytes_of(reader_.path(), builder_.GetBufferPointer(), builder_.GetSize());
    STROM_ASSIGN(const auto copy, Metadata<fbs::Footer>::load(new_bytes, 0, new_bytes.size, "the new footer"));
    return compare(old_bytes, old.root(), new_bytes, copy.root());
  }

  /// Nothing is written unless readers will find the same columns and record batches.
  Status compare(const FileBytes& old_bytes, const fbs::Footer& old, const FileBytes& new_bytes,
                 const fbs::Footer& copy) {
    STROM_ASSIGN(const auto old_schema, decode_schema(old_bytes, 0, old_bytes.size, *old.schema()));
    STROM_ASSIGN(const auto new_schema, decode_schema(new_bytes, 0, new_bytes.size, *copy.schema()));
    if (!same_columns(old_schema, new_schema)) return corrupt("its footer could not be copied");
    data_end_ = kHeaderBytes;
    for (const auto* blocks : {old.dictionaries(), old.record_batches()}) {
      for (int64_t i = 0; i < vector_size(blocks); ++i) {
        const auto block = vector_element<fbs::Block>(*blocks, static_cast<flatbuffers::uoffset_t>(i));
        if (block.offset() < 0 || block.metadata_length() < 0 || block.body_length() < 0 ||
            block.body_length() > file_size_ || block.offset() > file_size_) {
          return corrupt("it places a record batch outside of the file");
        }
        data_end_ = std::max(data_end_, block.offset() + block.metadata_length() + block.body_length());
      }
    }
    return Status::ok();
  }

  int64_t new_size() const { return static_cast<int64_t>(builder_.GetSize()); }

  /// Bytes between the end of the stream and the footer are unused. Without an end marker there, the footer might not
  /// list everything in the file, and nothing is overwritten.
  bool room_before_footer() {
    if (data_end_ == kHeaderBytes) return false;  // without batches the end of the schema message is not known
    uint32_t marker[2] = {0, 0};
    if (old_offset_ - data_end_ < kEndOfStreamBytes || !read_at(data_end_, sizeof(marker), marker).is_ok())
      return false;
    if (marker[0] != kContinuation || marker[1] != 0) return false;
    room_ = round_up(data_end_ + kEndOfStreamBytes, 8);
    return room_ + new_size() + kTrailerBytes <= old_offset_;
  }

  Status write_at(int64_t offset, const void* bytes, int64_t size) {
    for (int64_t done = 0; done < size;) {
      const ssize_t put =
          pwrite(fd_, static_cast<const char*>(bytes) + done, static_cast<size_t>(size - done), offset + done);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return failed("write", errno);
      done += put;
    }
    return Status::ok();
  }

  Status sync() { return fsync(fd_) == 0 ? Status::ok() : failed("write", errno); }

  Status write_before() {
    const Trailer trailer(new_size());
    STROM_TRY(write_at(room_, builder_.GetBufferPointer(), new_size()));
    STROM_TRY(write_at(room_ + new_size(), trailer.bytes, kTrailerBytes));
    STROM_TRY(sync());
    if (ftruncate(fd_, room_ + new_size() + kTrailerBytes) != 0) return failed("write", errno);
    return sync();
  }

  Status write_behind() {
    const int64_t footer = round_up(file_size_, kFooterAlignment);
    const int64_t trailer = longer_size(file_size_, footer - file_size_ + new_size() + kTrailerBytes) - kTrailerBytes;
    if (trailer - old_offset_ > std::numeric_limits<int32_t>::max()) {
      return Status(ErrorCode::kUnsupported, "the footer of file \"" + reader_.path() + "\" is too large to be edited");
    }
    Status status = write_unseen(footer, trailer);
    if (!status.is_ok()) {
      // The old footer is valid either way; this only shortens the file.
      [[maybe_unused]] const int ignored = ftruncate(fd_, file_size_);
      return status;
    }
    const auto size = static_cast<int32_t>(trailer - footer);
    STROM_TRY(write_at(trailer, &size, sizeof(size)));
    return sync();
  }

  /// A write that stops half-way would leave the end of the file broken, if only for a moment. So the reasons for that
  /// are checked first.
  Status reserve(int64_t end) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        static_cast<rlim_t>(end) > limit.rlim_cur) {
      return failed("write", EFBIG);
    }
    if (fallocate(fd_, FALLOC_FL_KEEP_SIZE, file_size_, end - file_size_) == 0) return Status::ok();
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? failed("write", errno) : Status::ok();
  }

  Status write_unseen(int64_t footer, int64_t trailer) {
    STROM_TRY(reserve(trailer + kTrailerBytes));
    const Trailer spanning(trailer - old_offset_);
    if (const int error_number = write_new_end(fd_, spanning.bytes, kTrailerBytes, trailer + kTrailerBytes);
        error_number != 0)
      return failed("write", error_number);
    STROM_TRY(sync());  // before anything is written ahead of it: when the end is missing, only zeros may be there
    STROM_TRY(write_at(footer, builder_.GetBufferPointer(), new_size()));
    return sync();
  }

  const FileReader& reader_;
  int fd_ = -1;
  int64_t file_size_ = 0, old_offset_ = 0, data_end_ = 0, room_ = 0;
  std::vector<char> old_;
  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace

Status edit_footer(const FileReader& reader, const FieldMetadata& metadata) {
  try {
    return FooterEdit(reader).run(metadata);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while editing file \"" + reader.path() + "\"");
  }
}

}  // namespace strom::format::arrow
