// See metadata_pack.hpp. Integers are LEB128, negative ones zigzag. A list begins with its length. A path begins with
// the number of bytes that it shares with the path before it. A schema follows the first use of its number.
#include "format/arrow/read/metadata_pack.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace strom::format::arrow {

namespace {

using columnar::Bounds;
using columnar::Field;
using columnar::Schema;

constexpr int kBitsOfByte = 7;
constexpr uint8_t kMore = 1 << kBitsOfByte;
constexpr int kDeepest = 128;  // nested fields; files do not have more

const char* const kFormats[] = {"arrow", "parquet"};

// ---- Writing ----

void put(std::string& to, uint64_t value) {
  for (; value >= kMore; value >>= kBitsOfByte) to += static_cast<char>(value | kMore);
  to += static_cast<char>(value);
}

void put_signed(std::string& to, int64_t value) {
  put(to, (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

template <class T>
void put_raw(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void put_text(std::string& to, std::string_view text) {
  put(to, text.size());
  to += text;
}

template <class Items, class Put>
void put_all(std::string& to, const Items& items, Put put_item) {
  put(to, items.size());
  for (const auto& item : items) put_item(item);
}

void put_metadata(std::string& to, const columnar::KeyValues& metadata) {
  put_all(to, metadata, [&to](const auto& item) {
    put_text(to, item.first);
    put_text(to, item.second);
  });
}

void put_fields(std::string& to, const std::vector<Field>& fields) {
  put_all(to, fields, [&to](const Field& field) {
    // Lists all members, so that a new one does not compile until it is written.
    const auto& [name, layout, nullable, precision, scale, byte_width, unit, timezone, dictionary, ordered, index,
                 dictionary_id, children, type_ids, metadata, unsupported] = field;
    put_text(to, name);
    put(to, static_cast<uint64_t>(layout));
    put(to, nullable);
    for (const int32_t number : {precision, scale, byte_width}) put_signed(to, number);
    put(to, static_cast<uint64_t>(unit));
    put_text(to, timezone);
    put(to, dictionary);
    put(to, ordered);
    put(to, static_cast<uint64_t>(index));
    put_signed(to, dictionary_id);
    put_fields(to, children);
    put_all(to, type_ids, [&to](int32_t id) { put_signed(to, id); });
    put_metadata(to, metadata);
    put_text(to, unsupported);
  });
}

void put_bounds(std::string& to, const std::optional<Bounds>& bounds) {
  put(to, bounds.has_value());
  if (!bounds.has_value()) return;
  const auto& [kind, low, high, low_real, high_real, low_text, high_text, high_is_prefix, box] = *bounds;
  put(to, static_cast<uint64_t>(kind));
  switch (kind) {
    case Bounds::Kind::kInteger:
      put_raw(to, low);
      put_raw(to, high);
      break;
    case Bounds::Kind::kReal:
      put_raw(to, low_real);
      put_raw(to, high_real);
      break;
    case Bounds::Kind::kText:
      put_text(to, low_text);
      put_text(to, high_text);
      put(to, high_is_prefix);
      break;
    case Bounds::Kind::kBox:
      for (const double corner : box) put_raw(to, corner);
      break;
  }
}

void put_batch(std::string& to, const FileMetadata::Batch& batch) {
  put_signed(to, batch.location.offset);
  put_signed(to, batch.location.meta_size);
  put_signed(to, batch.location.body_size);
  put_signed(to, batch.rows);
  put(to, batch.compressed);
  for (const auto* numbers : {&batch.null_counts, &batch.bytes, &batch.memory_bytes})
    for (const int64_t number : *numbers) put_signed(to, number);
}

uint64_t number_of(const char* format) {
  return static_cast<uint64_t>(std::find_if(std::begin(kFormats), std::end(kFormats),
                                            [format](const char* known) { return std::strcmp(known, format) == 0; }) -
                               std::begin(kFormats));
}

// ---- Reading ----

/// After a failure, all values are zero or empty.
class Bytes {
 public:
  explicit Bytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool has_failed() const { return failed_; }
  bool is_at_end() const { return bytes_.empty(); }

  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += kBitsOfByte) {
      if (bytes_.empty()) return fail();
      const uint8_t byte = bytes_.front();
      bytes_ = bytes_.subspan(1);
      value |= static_cast<uint64_t>(byte & (kMore - 1)) << shift;
      if (byte < kMore) return value;
    }
    return fail();
  }
  uint64_t below(uint64_t limit) {
    const uint64_t value = number();
    return value < limit ? value : fail();
  }
  bool flag() { return below(2) != 0; }
  int64_t signed_number() {
    const uint64_t value = number();
    return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1)));
  }
  int32_t small_number() {
    const int64_t value = signed_number();
    return value == static_cast<int32_t>(value) ? static_cast<int32_t>(value) : static_cast<int32_t>(fail());
  }
  template <class T>
  T raw() {
    T value{};
    if (bytes_.size() < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  /// The length of a list whose items take at least a byte.
  size_t length() { return static_cast<size_t>(below(bytes_.size() + 1)); }
  std::string text() {
    const size_t size = length();
    if (size > bytes_.size()) return fail(), std::string();
    std::string value(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
    return value;
  }
  uint64_t fail() {
    failed_ = true;
    bytes_ = {};
    return 0;
  }

 private:
  std::span<const uint8_t> bytes_;
  bool failed_ = false;
};

columnar::KeyValues read_metadata(Bytes& from) {
  columnar::KeyValues metadata;
  for (size_t count = from.length(); count > 0 && !from.has_failed(); --count) {
    std::string key = from.text();
    metadata.emplace_back(std::move(key), from.text());
  }
  return metadata;
}

columnar::Layout layout_of(Bytes& from) {
  return static_cast<columnar::Layout>(from.below(static_cast<uint64_t>(columnar::Layout::kRunEndEncoded) + 1));
}

std::vector<Field> read_fields(Bytes& from, int depth) {
  std::vector<Field> fields;
  if (depth > kDeepest) return from.fail(), fields;
  for (size_t count = from.length(); count > 0 && !from.has_failed(); --count) {
    Field& field = fields.emplace_back();
    field.name = from.text();
    field.layout = layout_of(from);
    field.nullable = from.flag();
    field.precision = from.small_number();
    field.scale = from.small_number();
    field.byte_width = from.small_number();
    field.unit = static_cast<columnar::TimeUnit>(from.below(static_cast<uint64_t>(columnar::TimeUnit::kNano) + 1));
    field.timezone = from.text();
    field.dictionary = from.flag();
    field.ordered = from.flag();
    field.index = layout_of(from);
    field.dictionary_id = from.signed_number();
    field.children = read_fields(from, depth + 1);
    for (size_t ids = from.length(); ids > 0 && !from.has_failed(); --ids)
      field.type_ids.push_back(from.small_number());
    field.metadata = read_metadata(from);
    field.unsupported = from.text();
  }
  return fields;
}

std::optional<Bounds> read_bounds(Bytes& from) {
  if (!from.flag()) return std::nullopt;
  Bounds bounds;
  bounds.kind = static_cast<Bounds::Kind>(from.below(static_cast<uint64_t>(Bounds::Kind::kBox) + 1));
  switch (bounds.kind) {
    case Bounds::Kind::kInteger:
      bounds.low = from.raw<__int128>();
      bounds.high = from.raw<__int128>();
      break;
    case Bounds::Kind::kReal:
      bounds.low_real = from.raw<double>();
      bounds.high_real = from.raw<double>();
      break;
    case Bounds::Kind::kText:
      bounds.low_text = from.text();
      bounds.high_text = from.text();
      bounds.high_is_prefix = from.flag();
      break;
    case Bounds::Kind::kBox:
      for (double& corner : bounds.box) corner = from.raw<double>();
      break;
  }
  return bounds;
}

void read_batch(Bytes& from, size_t fields, FileMetadata::Batch& batch) {
  batch.location.offset = from.signed_number();
  batch.location.meta_size = from.small_number();
  batch.location.body_size = from.signed_number();
  batch.rows = from.signed_number();
  batch.compressed = from.flag();
  for (auto* numbers : {&batch.null_counts, &batch.bytes, &batch.memory_bytes}) {
    numbers->reserve(fields);
    for (size_t i = 0; i < fields && !from.has_failed(); ++i) numbers->push_back(from.signed_number());
  }
}

}  // namespace

void MetadataPacker::add(const std::string& path, const FileMetadata& metadata) {
  const auto differs = std::mismatch(path.begin(), path.end(), last_path_.begin(), last_path_.end()).first;
  const auto shared = static_cast<size_t>(differs - path.begin());
  put(bytes_, shared);
  put_text(bytes_, std::string_view(path).substr(shared));
  last_path_ = path;
  put_raw(bytes_, metadata.identity);
  put(bytes_, number_of(metadata.format));
  if (metadata.schema.get() != last_schema_ || last_schema_ == nullptr) {
    std::string schema;
    put_fields(schema, metadata.schema->fields);
    put_metadata(schema, metadata.schema->metadata);
    const auto [known, is_new] = schemas_.try_emplace(std::move(schema), schemas_.size());
    last_schema_ = metadata.schema.get();
    last_number_ = known->second;
    put(bytes_, last_number_);
    if (is_new) bytes_ += known->first;
  } else {
    put(bytes_, last_number_);
  }
  put_all(bytes_, metadata.batches, [this](const FileMetadata::Batch& batch) { put_batch(bytes_, batch); });
  const std::lock_guard lock(metadata.bounds_mutex);
  put_all(bytes_, metadata.bounds, [this](const auto& item) {
    put(bytes_, static_cast<uint64_t>(item.first));
    put_all(bytes_, item.second, [this](const auto& bounds) { put_bounds(bytes_, bounds); });
  });
}

std::string MetadataPacker::take() {
  schemas_.clear();
  last_path_.clear();
  last_schema_ = nullptr;
  return std::exchange(bytes_, {});
}

std::optional<std::vector<UnpackedFile>> unpack_metadata(std::span<const uint8_t> bytes) {
  Bytes from(bytes);
  std::vector<UnpackedFile> files;
  std::vector<std::shared_ptr<const Schema>> schemas;
  std::string path;
  while (!from.is_at_end()) {
    path.resize(static_cast<size_t>(from.below(path.size() + 1)));
    path += from.text();
    auto metadata = std::make_shared<FileMetadata>();
    metadata->identity = from.raw<FileIdentity>();
    metadata->format = kFormats[from.below(std::size(kFormats))];
    const auto number = static_cast<size_t>(from.below(schemas.size() + 1));
    if (number == schemas.size()) {
      Schema schema;
      schema.fields = read_fields(from, 0);
      schema.metadata = read_metadata(from);
      schemas.push_back(std::make_shared<const Schema>(std::move(schema)));
    }
    metadata->schema = schemas[number];
    const size_t fields = metadata->schema->fields.size();
    for (size_t count = from.length(); count > 0 && !from.has_failed(); --count)
      read_batch(from, fields, metadata->batches.emplace_back());
    for (size_t count = from.length(); count > 0 && !from.has_failed(); --count) {
      const auto field = static_cast<int>(from.below(fields));
      FileMetadata::AllBounds& all = metadata->bounds[field];
      for (size_t rest = from.length(); rest > 0 && !from.has_failed(); --rest) all.push_back(read_bounds(from));
    }
    if (from.has_failed()) return std::nullopt;
    files.push_back({path, std::move(metadata)});
  }
  return files;
}

}  // namespace strom::format::arrow
