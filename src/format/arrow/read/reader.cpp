// See reader.hpp.
#include "format/arrow/read/reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "format/arrow/metadata/append_mark.hpp"
#include "format/arrow/batch/batch_decode.hpp"
#include "format/arrow/batch/dictionary.hpp"
#include "format/arrow/metadata/file_end.hpp"
#include "format/arrow/metadata/ipc.hpp"
#include "format/arrow/metadata/message.hpp"
#include "format/arrow/metadata/other_file.hpp"
#include "format/arrow/metadata/schema_decode.hpp"
#include "format/arrow/statistics/statistics.hpp"
#include "format/arrow/read/within_memory.hpp"

namespace strom::format::arrow {

namespace {

using columnar::Field;

class Reader final : public FileReader {
 public:
  explicit Reader(std::shared_ptr<const base::MappedFile> mapping)
      : mapping_(std::move(mapping)), identity_(mapping_->identity()) {
    file_ = {mapping_->path(), mapping_->data(), mapping_->size(), mapping_.get()};
  }
  Reader(const std::string& name, std::span<const uint8_t> bytes) {
    file_ = {name, bytes.data(), static_cast<int64_t>(bytes.size())};
    identity_.size = file_.size;
  }
  ~Reader() override {
    if (batches_ == nullptr) return;  // load() failed
    for (size_t i = 0; i < locations_.size(); ++i) delete batches_[i].load(std::memory_order_relaxed);
  }

  /// Called before load().
  void use_footer(std::string footer) { pending_footer_ = std::move(footer); }

  /// Called once, before the reader is shared.
  Status load() {
    Status status = is_stream() ? load_stream() : load_footer();
    if (status.is_ok() && !locations_.empty()) status = batch_layout(0).status();
    // Bytes that are cut off during the read are zeros.
    if (status.code() == ErrorCode::kCorruptFile || is_poisoned()) STROM_TRY(check_unchanged());
    return status;
  }

  const std::string& path() const override { return file_.path; }
  const FileIdentity& identity() const override { return identity_; }
  const columnar::Schema& schema() const override { return schema_.schema; }
  int batch_count() const override { return static_cast<int>(locations_.size()); }

  Result<BatchLocation> batch_location(int batch) const override {
    STROM_ASSIGN(const BatchLayout* layout, batch_layout(batch));
    return layout->location;
  }

  Result<int64_t> batch_rows(int batch) const override {
    STROM_ASSIGN(const BatchLayout* layout, batch_layout(batch));
    return layout->rows;
  }

  Result<LoadedColumn> column(int batch, int field, const std::shared_ptr<BufferPool>& pool) const override {
    STROM_TRY(check_readable(field));
    STROM_ASSIGN(const BatchLayout* layout, batch_layout(batch));
    auto loaded = within_memory(file_.path, [&] { return load(*layout, field, pool); });
    if (loaded.status().code() == ErrorCode::kCorruptFile) STROM_TRY(check_unchanged());
    return loaded;
  }

  Result<bool> is_compressed(int batch) const override {
    STROM_ASSIGN(const BatchLayout* layout, batch_layout(batch));
    return layout->codec != Codec::kNone;
  }

  Result<std::string> codec(int batch) const override {
    STROM_ASSIGN(const BatchLayout* layout, batch_layout(batch));
    return std::string(layout->codec == Codec::kNone ? "" : codec_name(layout->codec));
  }

  Result<int64_t> memory_bytes(int batch, int field) const override {
    STROM_TRY(check_readable(field));
    STROM_ASSIGN(const BatchLayout* layout, batch_layout(batch));
    return column_memory_bytes(file_, schema_, *layout, field);
  }

  Result<int64_t> column_bytes(int batch, int field) const override {
    STROM_TRY(check_readable(field));
    STROM_ASSIGN(const BatchLayout* layout, batch_layout(batch));
    return column_buffer_bytes(schema_, *layout, field);
  }

  Result<int64_t> null_count(int batch, int field) const override {
    STROM_TRY(check_readable(field));
    STROM_ASSIGN(const BatchLayout* layout, batch_layout(batch));
    return layout->nodes[static_cast<size_t>(schema_.places[static_cast<size_t>(field)].nodes)].null_count;
  }

  Result<std::optional<columnar::Bounds>> bounds(int batch, int field) const override {
    STROM_TRY(check_readable(field));
    STROM_TRY(batch_layout(batch).status());
    return within_memory(file_.path, [&]() -> Result<std::optional<columnar::Bounds>> {
      std::lock_guard lock(bounds_mutex_);
      auto known = bounds_.find(field);
      if (known == bounds_.end()) {
        STROM_ASSIGN(auto all, load_bounds(field, batch_count()));
        known = bounds_.emplace(field, std::move(all)).first;
      }
      if (known->second.empty()) return std::optional<columnar::Bounds>();
      return known->second[static_cast<size_t>(batch)];
    });
  }

  Result<bool> has_bounds(int field) const override {
    if (batch_count() == 0) return false;
    STROM_TRY(check_readable(field));
    return within_memory(file_.path, [&]() -> Result<bool> {
      const Field& info = schema_.schema.fields[static_cast<size_t>(field)];
      if (columnar::is_box(info)) return !box_bounds(info, batch_count()).empty();
      if (has_field_bounds(info)) return true;
      STROM_ASSIGN(const auto first, load_bounds(field, 1));
      return !first.empty() && first.front().has_value();
    });
  }

  Status check_unchanged() const override {
    if (mapping_ == nullptr) return Status::ok();
    Status status = mapping_->check_unchanged();
    if (status.is_ok() || mapping_->is_poisoned()) return status;
    if (!pending_footer_.empty()) return Status::ok();  // the footer is from the writer itself
    return was_appended_to() ? Status::ok() : status;
  }
  bool is_poisoned() const override { return mapping_ != nullptr && mapping_->is_poisoned(); }

 private:
  Result<LoadedColumn> load(const BatchLayout& layout, int field, const std::shared_ptr<BufferPool>& pool) const {
    return load_column(file_, schema_, layout, field, pool, dictionaries_, layout.number);
  }

  using AllBounds = std::vector<std::optional<columnar::Bounds>>;

  /// Bounds of the first `batches` record batches; empty when there are none.
  Result<AllBounds> load_bounds(int field, int batches) const {
    const Field& info = schema_.schema.fields[static_cast<size_t>(field)];
    if (columnar::is_box(info)) return box_bounds(info, batch_count());
    if (has_field_bounds(info)) return field_bounds(info, batch_count());
    const std::string key = std::string(kBatchBoundsPrefix) + info.name;
    const auto& fields = schema_.schema.fields;
    if (std::count_if(fields.begin(), fields.end(), [&](const Field& other) { return other.name == info.name; }) > 1)
      return AllBounds();
    AllBounds all(static_cast<size_t>(batches));
    bool any = false;
    for (int batch = 0; batch < batches; ++batch) {
      STROM_ASSIGN(all[static_cast<size_t>(batch)], load_batch_bounds(info, key, batch));
      any = any || all[static_cast<size_t>(batch)].has_value();
    }
    if (!any) all.clear();
    return all;
  }

  Result<std::optional<columnar::Bounds>> load_batch_bounds(const Field& field, const std::string& key,
                                                            int batch) const {
    const BatchLocation& place = locations_[static_cast<size_t>(batch)];
    STROM_ASSIGN(const Message message,
                 load_message(file_, place.offset, place.offset + place.meta_size, "a record batch"));
    const auto* metadata = message.root().custom_metadata();
    for (int64_t i = 0; i < vector_size(metadata); ++i) {
      const fbs::KeyValue& item = *metadata->Get(static_cast<flatbuffers::uoffset_t>(i));
      if (item.key() != nullptr && item.value() != nullptr && item.key()->string_view() == key)
        return batch_bounds(field, item.value()->string_view());
    }
    return std::optional<columnar::Bounds>();
  }

  Status check_readable(int field) const {
    if (field < 0 || static_cast<size_t>(field) >= schema_.schema.fields.size()) {
      return Status(ErrorCode::kInternal, "file \"" + file_.path + "\" has no column " + std::to_string(field));
    }
    const Field& info = schema_.schema.fields[static_cast<size_t>(field)];
    if (info.unsupported.empty()) return Status::ok();
    return Status(ErrorCode::kUnsupported,
                  "column \"" + info.name + "\" of file \"" + file_.path + "\" uses " + info.unsupported)
        .with_detail("Columns that use it cannot be read.");
  }

  /// True when all changes are FileAppender's. The answer is kept for the file's state that was checked.
  bool was_appended_to() const {
    const FileIdentity now = mapping_->identity_now();
    std::lock_guard lock(append_mutex_);
    if (accepted_.size == now.size && accepted_.mtime_ns == now.mtime_ns && now.size > 0) return true;
    // The file's end may be cut off between two of these reads.
    constexpr int kTries = 5, kPauseMicros = 1000;
    for (int i = 0; i < kTries; ++i) {
      const auto mapping = mapping_->reopen();
      if (!mapping.is_ok()) return false;
      if (mapping.value() == nullptr) return true;  // replaced meanwhile
      const auto tail = FileTail::load(mapping.value());
      if (!tail.is_ok()) continue;
      if (!holds_after_append(tail.value(), mark_, identity_, footer_offset_)) {
        usleep(kPauseMicros);  // a writer that gives up cuts the file, and then sets its time
        if (mapping_->check_unchanged().is_ok()) return true;
        continue;
      }
      accepted_ = mapping.value()->identity();
      return !mapping_->is_poisoned();
    }
    return false;
  }

  Status check_ends(int64_t* footer_offset, int64_t* footer_size) const {
    const auto has_magic = [&](int64_t offset) { return std::memcmp(file_.data + offset, kMagic, kMagicBytes) == 0; };
    constexpr int64_t kSmallest = kHeaderBytes + kTrailerBytes;
    if (file_.size < kMagicBytes || !has_magic(0)) return not_an_arrow_file(file_);
    if (file_.size < kSmallest)
      return file_.corrupt(0, "a file of " + std::to_string(file_.size) + " bytes is too short");
    if (!has_magic(file_.size - kMagicBytes)) {
      return file_.corrupt(file_.size - kMagicBytes, "the file does not end with ARROW1, it may have been cut off");
    }
    *footer_size = file_.load<int32_t>(file_.size - kTrailerBytes);
    *footer_offset = file_.size - kTrailerBytes - *footer_size;
    if (*footer_size <= 0 || *footer_offset < kHeaderBytes) {
      return file_.corrupt(file_.size - kTrailerBytes,
                           "footer size " + std::to_string(*footer_size) + " is impossible");
    }
    return Status::ok();
  }

  /// True for a file without magic and footer: consecutive messages, of which the first is a schema.
  bool is_stream() const {
    if (file_.size < 2 * static_cast<int64_t>(sizeof(uint32_t))) return false;
    if (std::memcmp(file_.data, kMagic, kMagicBytes) == 0) return false;
    if (file_.load<uint32_t>(0) == kContinuation) return true;
    const auto first = load_message(file_, 0, file_.size, "the schema message");  // before format 0.15
    return first.is_ok() && first.value().root().header_as_Schema() != nullptr;
  }

  Status load_stream() {
    int64_t offset = 0;
    STROM_ASSIGN(const Message first, load_message(file_, 0, file_.size, "the schema message"));
    const fbs::Schema* source = first.root().header_as_Schema();
    if (source == nullptr) return file_.corrupt(first.metadata_offset, "the first message is not a schema");
    STROM_ASSIGN(schema_, decode_schema(file_, first.metadata_offset, first.metadata.size(), *source));
    STROM_TRY(skip_message(first, &offset).status());
    while (!ends_stream(offset)) {
      STROM_ASSIGN(const Message message, load_message(file_, offset, file_.size, "a message"));
      STROM_ASSIGN(const BatchLocation location, skip_message(message, &offset));
      switch (message.root().header_type()) {
        case fbs::MessageHeader::DictionaryBatch:
          dictionaries_.add(location, static_cast<int>(locations_.size()));
          break;
        case fbs::MessageHeader::RecordBatch: locations_.push_back(location); break;
        default: return file_.corrupt(location.offset, "a message is neither a record batch nor a dictionary");
      }
    }
    batches_ = std::make_unique<std::atomic<const BatchLayout*>[]>(locations_.size());
    return Status::ok();
  }

  /// A stream ends with a message of size 0, or with the file.
  bool ends_stream(int64_t offset) const {
    constexpr int64_t kWord = sizeof(uint32_t);
    const int64_t left = file_.size - offset;
    if (left < kWord) return left == 0;
    const auto word = file_.load<uint32_t>(offset);
    return word == 0 || (word == kContinuation && left >= 2 * kWord && file_.load<uint32_t>(offset + kWord) == 0);
  }

  /// The location of `message`, which starts at `*offset`. Moves `*offset` behind it; its body must be complete.
  Result<BatchLocation> skip_message(const Message& message, int64_t* offset) const {
    const int64_t body = message.metadata_offset + message.metadata.size(), size = message.root().body_length();
    if (size < 0 || size > file_.size - body)
      return file_.corrupt(*offset, "a message has a body of " + std::to_string(size) + " bytes where the file has " +
                                        std::to_string(file_.size - body));
    const BatchLocation location{*offset, static_cast<int32_t>(body - *offset), size};
    *offset = body + size;
    return location;
  }

  Status load_footer() {
    int64_t footer_offset = 0, footer_size = 0;
    file_.size = size_in_force(file_.data, file_.size);
    STROM_TRY(check_ends(&footer_offset, &footer_size));
    footer_offset_ = footer_offset;
    FileBytes bytes = file_;
    int64_t begin = footer_offset;
    if (!pending_footer_.empty()) {
      bytes = {file_.path, reinterpret_cast<const uint8_t*>(pending_footer_.data()),
               static_cast<int64_t>(pending_footer_.size())};
      begin = 0;
      footer_size = bytes.size;
      footer_offset = file_.size;  // what precedes it can be referred to
    }
    STROM_ASSIGN(const auto metadata, strom::format::arrow::load_footer(bytes, begin, begin + footer_size));
    footer_size = metadata.size();
    const fbs::Footer& footer = metadata.root();
    mark_ = AppendMark::read(footer);
    const fbs::MetadataVersion version = footer.version();  // messages have their own, which may be older
    // Some writers of V4 omit it in the footer; then the messages' version counts.
    if (version < fbs::MetadataVersion::V4 &&
        !load_message(file_, kHeaderBytes, footer_offset, "the schema message").is_ok()) {
      return Status(ErrorCode::kUnsupported,
                    "file \"" + file_.path + "\" uses an Arrow format before metadata version V4");
    }
    if (version > fbs::MetadataVersion::V5) {
      return Status(ErrorCode::kUnsupported,
                    "file \"" + file_.path + "\" uses an Arrow format after metadata version V5");
    }
    if (footer.schema() == nullptr) return file_.corrupt(footer_offset, "the footer has no schema");
    STROM_ASSIGN(schema_, decode_schema(bytes, begin, footer_size, *footer.schema()));
    if (pending_footer_.empty()) STROM_TRY(compare_schema_message(footer_offset));  // else it may have another schema
    STROM_TRY(load_dictionary_blocks(footer, footer_offset));
    return load_blocks(footer, footer_offset);
  }

  /// The first message repeats the schema, perhaps with other metadata. Nothing else depends on it, and Polars omits
  /// its prefix. So without a continuation marker it is compared only if it can be read.
  Status compare_schema_message(int64_t footer_offset) const {
    auto loaded = load_message(file_, kHeaderBytes, footer_offset, "the schema message");
    const bool has_marker = footer_offset - kHeaderBytes >= 4 && file_.load<uint32_t>(kHeaderBytes) == kContinuation;
    if (!loaded.is_ok() && !has_marker) return Status::ok();
    STROM_ASSIGN(const Message message, std::move(loaded));
    const fbs::Schema* source = message.root().header_as_Schema();
    if (source == nullptr) return file_.corrupt(message.metadata_offset, "the first message is not a schema");
    STROM_ASSIGN(const DecodedSchema schema,
                 decode_schema(file_, message.metadata_offset, message.metadata.size(), *source));
    if (!same_columns(schema, schema_)) {
      return file_.corrupt(message.metadata_offset, "the schema message and the footer have different columns");
    }
    return Status::ok();
  }

  Status load_blocks(const fbs::Footer& footer, int64_t footer_offset) {
    const int64_t count = vector_size(footer.record_batches());
    locations_.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      STROM_ASSIGN(const BatchLocation location,
                   checked_block(*footer.record_batches(), i, "record batch", footer_offset));
      locations_.push_back(location);
    }
    batches_ = std::make_unique<std::atomic<const BatchLayout*>[]>(static_cast<size_t>(count));
    return Status::ok();
  }

  /// In a file, all dictionaries belong to all batches, wherever they are.
  Status load_dictionary_blocks(const fbs::Footer& footer, int64_t footer_offset) {
    for (int64_t i = 0; i < vector_size(footer.dictionaries()); ++i) {
      STROM_ASSIGN(const BatchLocation location, checked_block(*footer.dictionaries(), i, "dictionary", footer_offset));
      dictionaries_.add(location, 0);
    }
    return Status::ok();
  }

  template <class Blocks>
  Result<BatchLocation> checked_block(const Blocks& blocks, int64_t i, const char* what, int64_t footer_offset) const {
    const auto block = vector_element<fbs::Block>(blocks, static_cast<flatbuffers::uoffset_t>(i));
    const int64_t offset = block.offset(), meta = block.metadata_length(), body = block.body_length();
    if (offset < kHeaderBytes || offset > footer_offset || meta <= 0 || meta > footer_offset - offset || body < 0 ||
        body > footer_offset - offset - meta) {
      return file_.corrupt(footer_offset, std::string("the footer places ") + what + " " + std::to_string(i) +
                                              " at offset " + std::to_string(offset) + " with " + std::to_string(meta) +
                                              " + " + std::to_string(body) + " bytes, outside of the file's messages");
    }
    return BatchLocation{offset, static_cast<int32_t>(meta), body};
  }

  /// Metadata of a batch, decoded by the first thread that needs it. Two threads may do it at once; one result is kept.
  Result<const BatchLayout*> batch_layout(int batch) const {
    if (batch < 0 || static_cast<size_t>(batch) >= locations_.size()) {
      return Status(ErrorCode::kInternal, "file \"" + file_.path + "\" has no record batch " + std::to_string(batch));
    }
    std::atomic<const BatchLayout*>& slot = batches_[static_cast<size_t>(batch)];
    const BatchLayout* known = slot.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    auto decoded = within_memory(
        file_.path, [&] { return decode_batch(file_, schema_, locations_[static_cast<size_t>(batch)], batch); });
    if (!decoded.is_ok()) {
      if (decoded.status().code() == ErrorCode::kCorruptFile) STROM_TRY(check_unchanged());
      return decoded.status();
    }
    const BatchLayout* fresh = decoded.value().release();
    if (slot.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) return fresh;
    delete fresh;
    return known;
  }

  std::shared_ptr<const base::MappedFile> mapping_;  // null when the bytes are in memory
  FileIdentity identity_;
  FileBytes file_;
  DecodedSchema schema_;
  std::vector<BatchLocation> locations_;
  std::unique_ptr<std::atomic<const BatchLayout*>[]> batches_;  // one per location
  Dictionaries dictionaries_;
  int64_t footer_offset_ = 0;
  AppendMark mark_;
  std::string pending_footer_;  // empty: the footer is the file's own
  mutable std::mutex append_mutex_;
  mutable FileIdentity accepted_;  // a later state of the file in which what was read is still valid
  mutable std::mutex bounds_mutex_;
  mutable std::map<int, AllBounds> bounds_;  // by field, filled on demand
};

Result<std::shared_ptr<const FileReader>> loaded(std::shared_ptr<Reader> reader) {
  STROM_TRY(reader->load());
  return std::shared_ptr<const FileReader>(std::move(reader));
}

}  // namespace

std::shared_ptr<BufferPool> make_buffer_pool() { return std::make_shared<BufferPool>(); }

Result<std::shared_ptr<const FileReader>> FileReader::open(const std::string& path) {
  return within_memory(path, [&]() -> Result<std::shared_ptr<const FileReader>> {
    // A writer that gives up cuts off the file's end, perhaps between two of these reads.
    constexpr int kTries = 5;
    for (int i = 1;; ++i) {
      STROM_ASSIGN(auto mapping, base::MappedFile::open(path));
      auto reader = loaded(std::make_shared<Reader>(std::move(mapping)));
      if (reader.status().code() != ErrorCode::kFileChanged || i == kTries) return reader;
    }
  });
}

Result<std::shared_ptr<const FileReader>> FileReader::open_pending(const std::string& path, std::string footer) {
  return within_memory(path, [&]() -> Result<std::shared_ptr<const FileReader>> {
    STROM_ASSIGN(auto mapping, base::MappedFile::open(path));
    auto reader = std::make_shared<Reader>(std::move(mapping));
    reader->use_footer(std::move(footer));
    return loaded(std::move(reader));
  });
}

Result<std::shared_ptr<const FileReader>> FileReader::open_memory(const std::string& name,
                                                                  std::span<const uint8_t> bytes) {
  return within_memory(name, [&]() -> Result<std::shared_ptr<const FileReader>> {
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0) {
      return Status(ErrorCode::kInternal, "bytes of Arrow file \"" + name + "\" are not aligned");
    }
    return loaded(std::make_shared<Reader>(name, bytes));
  });
}

}  // namespace strom::format::arrow
