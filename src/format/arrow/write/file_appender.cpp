// See file_appender.hpp.
#include "format/arrow/write/file_appender.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <utility>

#include "base/os_error.hpp"
#include "format/arrow/metadata/append_mark.hpp"
#include "columnar/append_view.hpp"
#include "format/arrow/write/append_dictionaries.hpp"
#include "format/arrow/batch/batch_encode.hpp"
#include "format/arrow/metadata/file_end.hpp"
#include "format/arrow/metadata/message.hpp"
#include "format/arrow/batch/message_writer.hpp"
#include "format/arrow/read/reader.hpp"
#include "format/arrow/metadata/schema_decode.hpp"
#include "format/arrow/metadata/schema_encode.hpp"
#include "format/arrow/statistics/statistics_text.hpp"
#include "format/temporary_name.hpp"

namespace strom::format::arrow {

int FileOps::write(int fd, std::vector<struct iovec> pieces, int64_t offset) {
  constexpr size_t kMost = 1024;  // IOV_MAX
  for (size_t next = 0; next < pieces.size();) {
    if (pieces[next].iov_len == 0) {
      ++next;
      continue;
    }
    const ssize_t written =
        pwritev(fd, pieces.data() + next, static_cast<int>(std::min(pieces.size() - next, kMost)), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    offset += written;
    next = skip_written(pieces, next, static_cast<size_t>(written));
  }
  return 0;
}

int FileOps::extend(int fd, const void* bytes, size_t size, int64_t end) { return write_new_end(fd, bytes, size, end); }

int FileOps::sync(int fd) { return fdatasync(fd) == 0 ? 0 : errno; }
int FileOps::truncate(int fd, int64_t size) { return ftruncate(fd, size) == 0 ? 0 : errno; }

FileOps& FileOps::system() {
  static FileOps ops;
  return ops;
}

namespace {

using columnar::ColumnBuilder;
using columnar::Schema;

constexpr int64_t kEndOfStreamBytes = 8;
constexpr int64_t kUnit = 64;  // alignment of messages and footers

int64_t round_up(int64_t value) { return (value + kUnit - 1) / kUnit * kUnit; }

struct iovec piece(const void* bytes, int64_t size) { return {const_cast<void*>(bytes), static_cast<size_t>(size)}; }

/// The field with dictionary indexes as plain numbers.
columnar::Field field_of_indexes(const columnar::Field& field) {
  columnar::Field plain = field;
  plain.metadata.clear();
  if (field.dictionary) {
    plain = {};
    plain.layout = field.index;
    return plain;
  }
  for (columnar::Field& child : plain.children) child = field_of_indexes(child);
  return plain;
}

Schema schema_of_indexes(const Schema& schema) {
  Schema plain;
  for (const columnar::Field& field : schema.fields) plain.fields.push_back(field_of_indexes(field));
  return plain;
}

struct Batch {
  fbs::Block block;
  std::vector<Bounds> bounds;  // of the statistics' columns
  int64_t bytes() const { return block.metadata_length() + block.body_length(); }
};

/// A copy of a file without unused bytes, which replaces the file.
struct Rewrite {
  StagedFile* file = nullptr;  // in `messages`
  std::unique_ptr<MessageWriter> messages;
  std::string backup;  // the old file's other name between commit() and settle()
};

class Appender final : public FileAppender {
 public:
  Appender(std::string path, std::unique_ptr<AppendLock> lock, const AppendOptions& options)
      : path_(std::move(path)), lock_(std::move(lock)), options_(options) {
    messages_ = std::make_unique<MessageWriter>(std::make_unique<Sink>(*this), false);
  }

  ~Appender() override {
    if (!committed_) restore();
  }

  Status load() {
    STROM_TRY(cut_leftovers());
    STROM_ASSIGN(const FileTail tail, FileTail::open(path_));
    const fbs::Footer& footer = tail.footer.root();
    if (footer.version() != fbs::MetadataVersion::V5 || footer.schema()->endianness() != fbs::Endianness::Little) {
      return Status(ErrorCode::kUnsupported, "file \"" + path_ + "\" cannot be written to")
          .with_detail("It is big-endian or has metadata of another version than 5.");
    }
    STROM_ASSIGN(const DecodedSchema decoded,
                 decode_schema(tail.bytes, tail.footer_offset, tail.footer.size(), *footer.schema()));
    generation().schema = decoded.schema;
    STROM_TRY(dictionaries_.load(tail, footer.dictionaries(), decoded));
    std::vector<fbs::Block> blocks;
    STROM_TRY(load_blocks(tail, footer.record_batches(), blocks));
    load_statistics(blocks);
    load_notes(footer);
    mark_ = AppendMark::read(footer);
    if (mark_.token.empty())
      mark_ = AppendMark::make(tail.bytes.size, tail.mapping->identity().mtime_ns, tail.footer_offset);
    old_mtime_ns_ = tail.mapping->identity().mtime_ns;
    old_size_ = size_ = tail.bytes.size;
    footer_ = tail.footer_offset;
    footer_bytes_ = text_of(*encode_footer(batches()));
    return Status::ok();
  }

  const std::string& path() const override { return path_; }
  const Schema& schema() const override { return generation().schema; }
  const std::vector<size_t>& statistics_columns() const override { return generation().statistics; }

  void add_statistics(const std::vector<size_t>& columns) override {
    std::vector<size_t> all = generation().statistics;
    for (const size_t column : columns)
      if (std::find(all.begin(), all.end(), column) == all.end()) all.push_back(column);
    for (Batch& batch : batches()) batch.bounds.resize(all.size());
    generation().statistics = std::move(all);
  }

  Status write(const EncodedBatch& batch, std::vector<Bounds> bounds, bool is_last) override {
    if (size_ - footer_ > options_.most_span) STROM_TRY(move_footer());
    reserve_ = is_last ? footer_size_estimate() : 0;
    STROM_TRY(messages_->write_batch(batch.body()));
    batches().push_back({messages_->last_batch(), std::move(bounds)});
    return Status::ok();
  }

  void clear(Schema schema) override {
    forget_statistics(schema);
    generations_.push_back({std::move(schema), {}, {}});
  }
  Mark mark() const override { return {generations_.size() - 1, batches().size()}; }
  void cut(const Mark& mark) override {
    generations_.resize(mark.generation + 1);
    batches().resize(mark.batches);
  }

  Status read(const Mark& mark, size_t batch, std::vector<ColumnBuilder>& to) const override {
    const Generation& from = generations_[mark.generation];
    flatbuffers::FlatBufferBuilder builder;
    const auto schema = encode_schema(builder, schema_of_indexes(from.schema));
    const auto block = builder.CreateVectorOfStructs(&from.batches[batch].block, 1);
    builder.Finish(fbs::CreateFooter(builder, fbs::MetadataVersion::V5, schema, 0, block));
    STROM_ASSIGN(const auto reader, FileReader::open_pending(path_, text_of(builder)));
    STROM_ASSIGN(const int64_t rows, reader->batch_rows(0));
    for (size_t i = 0; i < to.size(); ++i) {
      STROM_ASSIGN(const LoadedColumn column, reader->column(0, static_cast<int>(i)));
      STROM_TRY(columnar::append_view(column, 0, rows, to[i], columnar::Indexes::kAsTheyAre));
    }
    return Status::ok();
  }

  Result<std::shared_ptr<columnar::DictionaryBuilder>> dictionary(const columnar::Field& field) override {
    if (generations_.size() > 1) return std::shared_ptr<columnar::DictionaryBuilder>();
    return dictionaries_.find(path_, field);
  }

  size_t small_batches(int64_t bytes, int64_t full) const override {
    constexpr size_t kRun = 7;
    constexpr int64_t kOfBatch = 512, kOfColumn = 160;  // what a message has besides its buffers
    bytes += kOfBatch + kOfColumn * static_cast<int64_t>(schema().fields.size());
    constexpr int64_t kAlike = 2;  // sizes within this factor count as equal
    const std::vector<Batch>& all = batches();
    size_t merged = 0;
    for (;;) {
      size_t run = 0;
      int64_t together = bytes;
      while (merged + run < all.size()) {
        const int64_t size = all[all.size() - merged - run - 1].bytes();
        if (size > kAlike * bytes || together + size > full) break;
        together += size;
        ++run;
      }
      if (run < kRun) return merged;
      merged += run;
      bytes = together;
    }
  }

  std::string note(std::string_view key) const override {
    const std::string* text = find_value(notes_, key);
    return text == nullptr ? std::string() : *text;
  }
  void set_note(std::string_view key, std::string text) override {
    std::erase_if(notes_, [&](const auto& item) { return item.first == key; });
    notes_.emplace_back(key, std::move(text));
  }

  Result<std::string> footer() override {
    STROM_TRY(write_dictionaries());
    return text_of(*encode_footer(batches()));
  }

  Result<std::string> footer(size_t count, bool and_last) override {
    STROM_TRY(write_dictionaries());
    std::vector<Batch> some(batches().begin(), batches().begin() + static_cast<std::ptrdiff_t>(count));
    if (and_last) some.push_back(batches().back());
    return text_of(*encode_footer(some));
  }

  Status prepare() override {
    STROM_TRY(check_untouched());
    STROM_TRY(write_dictionaries());
    if (generations_.size() > 1 || is_mostly_garbage()) return prepare_rewrite();
    const auto builder = encode_footer(batches());
    const auto size = static_cast<int64_t>(builder->GetSize());
    const int64_t needed = kUnit + round_up(size) + kUnit;  // the end of the stream, and an aligned footer
    if (room_ == 0 || needed > end_ - room_) STROM_TRY(extend(needed));
    new_footer_ = (end_ - size) / kUnit * kUnit;
    const uint32_t end_of_stream[2] = {kContinuation, 0};
    STROM_TRY(write_at({piece(end_of_stream, sizeof(end_of_stream))}, room_));
    STROM_TRY(write_at({piece(builder->GetBufferPointer(), size)}, new_footer_));
    return sync();
  }

  Status commit() override {
    if (rewrite_.messages != nullptr) return commit_rewrite();
    committed_ = true;  // from here on undo() is needed
    STROM_TRY(point_to(new_footer_));
    return sync();
  }

  void undo() override {
    if (rewrite_.messages != nullptr) {
      if (!rewrite_.backup.empty()) (void)rename(rewrite_.backup.c_str(), path_.c_str());
      rewrite_.backup.clear();
    } else if (committed_) {
      (void)point_to(footer_);
      (void)sync();
    }
    committed_ = false;
    restore();
  }

  void settle() override {
    if (!rewrite_.backup.empty()) unlink(rewrite_.backup.c_str());
    rewrite_.backup.clear();
    committed_ = true;
  }

 private:
  /// The destination of messages of new record batches.
  class Sink final : public ByteSink {
   public:
    explicit Sink(Appender& owner) : owner_(owner) {}
    Status append(std::vector<struct iovec> pieces) override {
      int64_t size = 0;
      for (const auto& item : pieces) size += static_cast<int64_t>(item.iov_len);
      STROM_TRY(owner_.extend(size + owner_.reserve_));
      STROM_TRY(owner_.write_at(std::move(pieces), owner_.room_));
      // The disk works while the next batch is made, so that little is left to wait for.
      if (owner_.options_.sync) (void)sync_file_range(owner_.lock_->fd(), owner_.room_, size, SYNC_FILE_RANGE_WRITE);
      owner_.room_ = round_up(owner_.room_ + size);
      return Status::ok();
    }
    int64_t position() const override { return round_up(owner_.size_); }
    const std::string& path() const override { return owner_.path_; }
    Status commit() override { return Status::ok(); }

   private:
    Appender& owner_;
  };

  /// The batches since clear() was called.
  struct Generation {
    Schema schema;
    std::vector<size_t> statistics;  // columns with bounds
    std::vector<Batch> batches;
  };

  Generation& generation() { return generations_.back(); }
  const Generation& generation() const { return generations_.back(); }
  std::vector<Batch>& batches() { return generation().batches; }
  const std::vector<Batch>& batches() const { return generation().batches; }
  /// Dictionaries belong to the file's own schema only.
  std::vector<fbs::Block> dictionaries() const {
    return generations_.size() == 1 ? dictionaries_.blocks() : std::vector<fbs::Block>();
  }

  /// A dictionary that has grown is written as a whole and replaces the old one, because not every reader knows deltas.
  /// The meaning of the file's indexes does not change.
  Status write_dictionaries() {
    if (generations_.size() > 1) return Status::ok();
    return dictionaries_.write_grown([this](int64_t id, const columnar::ColumnBuilder& values, fbs::Block* block) {
      BatchBody body(values.length());
      STROM_TRY(add_column(values.view(), body, nullptr));
      body.seal();
      reserve_ = footer_size_estimate();
      STROM_TRY(messages_->write_dictionary(id, body, false));
      *block = messages_->last_dictionary();
      return Status::ok();
    });
  }

  Status failed(const char* verb, int error_number) const {
    return base::os_error(error_number, std::string("could not ") + verb + " file \"" + path_ + "\"");
  }

  Status write_at(std::vector<struct iovec> pieces, int64_t offset) {
    const int error_number = options_.ops->write(lock_->fd(), std::move(pieces), offset);
    return error_number == 0 ? Status::ok() : failed("write", error_number);
  }

  Status sync() {
    const int error_number = options_.sync ? options_.ops->sync(lock_->fd()) : 0;
    return error_number == 0 ? Status::ok() : failed("write", error_number);
  }

  Status cut_to(int64_t size) {
    const int error_number = options_.ops->truncate(lock_->fd(), size);
    return error_number == 0 ? sync() : failed("write", error_number);
  }

  /// Cuts off what a killed writer or a power cut left: the file ends as it did before.
  Status cut_leftovers() {
    STROM_ASSIGN(const FileTail tail, FileTail::open(path_));
    const int64_t trailer = tail.bytes.size - kTrailerBytes;
    const int64_t end = footer_end(tail.bytes, tail.footer_offset, trailer);
    if (end != trailer &&
        Metadata<fbs::Footer>::load(tail.bytes, tail.footer_offset, end - tail.footer_offset, "").is_ok())
      return cut_to(end + kTrailerBytes);
    return tail.bytes.size == tail.mapping->size() ? Status::ok() : cut_to(tail.bytes.size);
  }

  static Status load_blocks(const FileTail& tail, const flatbuffers::Vector<const fbs::Block*>* source,
                            std::vector<fbs::Block>& blocks) {
    for (int64_t i = 0; i < vector_size(source); ++i) {
      const auto block = vector_element<fbs::Block>(*source, static_cast<flatbuffers::uoffset_t>(i));
      if (!tail.is_inside(block))
        return tail.bytes.corrupt(tail.footer_offset, "a block of the footer lies outside of the file");
      blocks.push_back(block);
    }
    return Status::ok();
  }

  void load_notes(const fbs::Footer& footer) {
    if (footer.custom_metadata() == nullptr) return;
    for (const fbs::KeyValue* item : *footer.custom_metadata())
      if (item->key() != nullptr && item->value() != nullptr && item->key()->string_view() != kAppendKey)
        notes_.emplace_back(item->key()->str(), item->value()->str());
  }
  columnar::KeyValues metadata_of(const AppendMark& mark) const {
    columnar::KeyValues metadata = notes_;
    metadata.emplace_back(kAppendKey, mark.text());
    return metadata;
  }

  void load_statistics(const std::vector<fbs::Block>& blocks) {
    Schema& schema = generation().schema;
    for (size_t i = 0; i < schema.fields.size(); ++i)
      if (find_value(schema.fields[i].metadata, kMinValuesKey) != nullptr && can_have_bounds(schema.fields[i]))
        generation().statistics.push_back(i);
    Statistics known(generation().statistics);
    known.resume(schema, static_cast<int64_t>(blocks.size()));
    for (size_t i = 0; i < blocks.size(); ++i) batches().push_back({blocks[i], known.of_batch(i)});
    forget_statistics(schema);
  }

  /// Removes statistics; those that are maintained are added again.
  static void forget_statistics(Schema& schema) {
    for (columnar::Field& field : schema.fields)
      std::erase_if(field.metadata,
                    [](const auto& item) { return item.first == kMinValuesKey || item.first == kMaxValuesKey; });
  }

  Schema schema_with_statistics(const std::vector<Batch>& batches) const {
    Schema schema = generation().schema;
    Statistics statistics(generation().statistics);
    for (const Batch& batch : batches) statistics.add(batch.bounds);
    statistics.put(schema);
    return schema;
  }

  static std::string text_of(const flatbuffers::FlatBufferBuilder& builder) {
    return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
  }

  /// Encodes a footer with these batches of the generation.
  std::unique_ptr<flatbuffers::FlatBufferBuilder> encode_footer(const std::vector<Batch>& batches) const {
    auto builder = std::make_unique<flatbuffers::FlatBufferBuilder>();
    const auto schema = encode_schema(*builder, schema_with_statistics(batches));
    const auto dictionaries = builder->CreateVectorOfStructs(this->dictionaries());
    std::vector<fbs::Block> blocks;
    blocks.reserve(batches.size());
    for (const Batch& batch : batches) blocks.push_back(batch.block);
    const auto block_vector = builder->CreateVectorOfStructs(blocks);
    const auto metadata = encode_metadata(*builder, metadata_of(mark_));
    builder->Finish(
        fbs::CreateFooter(*builder, fbs::MetadataVersion::V5, schema, dictionaries, block_vector, metadata));
    return builder;
  }

  int64_t footer_size_estimate() const {
    constexpr int64_t kOfColumn = 200, kOfBatch = 48;
    return 2 * kUnit + static_cast<int64_t>(footer_bytes_.size()) + 1024 +
           static_cast<int64_t>(schema().fields.size()) * kOfColumn +
           static_cast<int64_t>(statistics_columns().size() + 1) * kOfBatch;
  }

  /// Makes the last ten bytes refer to the footer at `footer`.
  Status point_to(int64_t footer) {
    const auto size = static_cast<int32_t>(end_ - footer);
    return write_at({piece(&size, sizeof(size))}, end_);
  }

  /// Makes room for `bytes` bytes from room_ on, before end_. The file's end moves behind the room, in one write, and
  /// refers to the same footer as before.
  Status extend(int64_t bytes) {
    const int64_t start = round_up(size_), new_size = longer_size(size_, start - size_ + bytes + kTrailerBytes);
    const int64_t end = new_size - kTrailerBytes;
    if (end - footer_ > std::numeric_limits<int32_t>::max())
      return Status(ErrorCode::kUnsupported, "a record batch for file \"" + path_ + "\" is too large");
    STROM_TRY(allocate(new_size));
    char trailer[kTrailerBytes];
    const auto span = static_cast<int32_t>(end - footer_);
    std::memcpy(trailer, &span, sizeof(span));
    std::memcpy(trailer + sizeof(span), kMagic, kMagicBytes);
    is_changed_ = true;
    const int error_number = options_.ops->extend(lock_->fd(), trailer, kTrailerBytes, new_size);
    if (error_number != 0) return failed("write", error_number);
    room_ = start;
    end_ = end;
    size_ = new_size;
    return sync();  // before anything is written ahead of it: when the end is missing, only zeros may be there
  }

  /// Finds out that the disk is full before the file's end is touched.
  Status allocate(int64_t end) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        static_cast<rlim_t>(end) > limit.rlim_cur) {
      return failed("write", EFBIG);
    }
    is_changed_ = true;
    if (fallocate(lock_->fd(), FALLOC_FL_KEEP_SIZE, size_, end - size_) == 0) return Status::ok();
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? failed("write", errno) : Status::ok();
  }

  /// Copies the valid footer to the file's end, with ten bytes of its own behind it.
  Status move_footer() {
    const auto size = static_cast<int64_t>(footer_bytes_.size());
    STROM_TRY(extend(size + kTrailerBytes));
    char trailer[kTrailerBytes];
    const auto span = static_cast<int32_t>(size);
    std::memcpy(trailer, &span, sizeof(span));
    std::memcpy(trailer + sizeof(span), kMagic, kMagicBytes);
    STROM_TRY(write_at({piece(footer_bytes_.data(), size), piece(trailer, kTrailerBytes)}, room_));
    STROM_TRY(sync());
    STROM_TRY(point_to(room_));
    STROM_TRY(sync());
    footer_ = room_;
    room_ = 0;
    return Status::ok();
  }

  /// Checks that no program that ignores the lock has replaced or changed the file.
  Status check_untouched() const {
    struct stat mine, named;
    if (fstat(lock_->fd(), &mine) != 0) return failed("examine", errno);
    const bool same = stat(path_.c_str(), &named) == 0 && mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
    if (same && mine.st_size == size_) return Status::ok();
    return Status(ErrorCode::kFileChanged, "file \"" + path_ + "\" was replaced or changed while it was written to");
  }

  bool is_mostly_garbage() const {
    int64_t live = 0;
    for (const Batch& batch : batches()) live += batch.bytes();
    for (const fbs::Block& block : this->dictionaries()) live += block.metadata_length() + block.body_length();
    const int64_t garbage = size_ - live;
    return garbage > options_.rewrite_above && garbage > live;
  }

  Status prepare_rewrite() {
    STROM_ASSIGN(auto file, StagedFile::create(path_, true));
    rewrite_.file = file.get();
    rewrite_.messages = std::make_unique<MessageWriter>(std::move(file), false);
    STROM_TRY(rewrite_.messages->start(
        [this](flatbuffers::FlatBufferBuilder& builder) { return encode_schema(builder, schema()); }));
    std::vector<fbs::Block> dictionaries, blocks;
    for (const fbs::Block& block : this->dictionaries()) STROM_TRY(copy(block, dictionaries));
    for (const Batch& batch : batches()) STROM_TRY(copy(batch.block, blocks));
    rewrite_.messages->resume(std::move(dictionaries), std::move(blocks));
    return Status::ok();
  }

  Status copy(const fbs::Block& block, std::vector<fbs::Block>& to) {
    const int64_t padding = (block.offset() - rewrite_.file->position()) & (kUnit - 1);  // bodies stay aligned
    STROM_TRY(rewrite_.file->append({piece(kPadding, padding)}));
    to.emplace_back(rewrite_.file->position(), block.metadata_length(), block.body_length());
    return rewrite_.file->append_file(lock_->fd(), block.offset(), block.metadata_length() + block.body_length());
  }

  Status commit_rewrite() {
    const std::string backup = temporary_name(path_);
    if (link(path_.c_str(), backup.c_str()) == 0) rewrite_.backup = backup;
    restore();
    committed_ = true;
    // Another file has another mark.
    rewrite_.messages->set_metadata(metadata_of(AppendMark::make(0, 0, 0)));
    return rewrite_.messages->finish([this](flatbuffers::FlatBufferBuilder& builder) {
      return encode_schema(builder, schema_with_statistics(batches()));
    });
  }

  /// Restores the file's former end, and its time, by which readers know that it is restored.
  void restore() {
    if (!is_changed_) return;
    (void)options_.ops->truncate(lock_->fd(), old_size_);
    const struct timespec times[2] = {
        {0, UTIME_OMIT}, {old_mtime_ns_ / 1'000'000'000, static_cast<long>(old_mtime_ns_ % 1'000'000'000)}};
    (void)futimens(lock_->fd(), times);
    is_changed_ = false;
  }

  std::string path_;
  std::unique_ptr<AppendLock> lock_;
  AppendOptions options_;
  AppendDictionaries dictionaries_;
  std::vector<Generation> generations_{1};
  AppendMark mark_;
  columnar::KeyValues notes_;
  std::unique_ptr<MessageWriter> messages_;
  Rewrite rewrite_;
  std::string footer_bytes_;  // the valid footer, with the mark
  int64_t old_size_ = 0, old_mtime_ns_ = 0;
  int64_t footer_ = 0, new_footer_ = 0;    // offsets of the valid and of the next footer
  int64_t size_ = 0, room_ = 0, end_ = 0;  // room_ to end_: unused bytes; end_: offset of the last ten bytes
  int64_t reserve_ = 0;                    // room for a footer after the next message
  bool is_changed_ = false, committed_ = false;
};

}  // namespace

Result<std::unique_ptr<FileAppender>> FileAppender::open(const std::string& path, std::unique_ptr<AppendLock> lock,
                                                         const AppendOptions& options) {
  try {
    auto appender = std::make_unique<Appender>(path, std::move(lock), options);
    STROM_TRY(appender->load());
    return std::unique_ptr<FileAppender>(std::move(appender));
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while opening file \"" + path + "\"");
  }
}

bool append_rows(const std::vector<ColumnBuilder>& from, std::vector<ColumnBuilder>& to) {
  for (size_t i = 0; i < from.size(); ++i) {
    const columnar::ColumnView& rows = from[i].view();
    if (!columnar::append_view(rows, 0, rows.length, to[i], columnar::Indexes::kAsTheyAre).is_ok()) return false;
  }
  return true;
}

}  // namespace strom::format::arrow
