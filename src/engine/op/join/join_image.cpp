#include "engine/op/join/join_image.hpp"

#include <cstddef>
#include <cstring>
#include <random>
#include <span>

namespace strom::engine::op {

using block::JoinTable;
using block::TableColumn;
using registry::Phys;
using registry::StrView;

namespace {

/// The beginning of the region.
struct Header {
  JoinTable table;
  const uint32_t* code_rows;
  uint64_t code_count, keys, payload;
  int64_t scanned_rows;
  BuildId id;
};

/// An array of table columns of `rows` rows each.
size_t put_columns(const TableColumn* columns, size_t count, size_t rows, DeviceImage* image) {
  const size_t views = image->put(columns, count * sizeof *columns);
  for (size_t i = 0; i < count; ++i) {
    const TableColumn& column = columns[i];
    size_t data = DeviceImage::kNowhere, flags = DeviceImage::kNowhere;
    if (column.data != nullptr && column.phys == Phys::kStr)
      data = image->put_texts(static_cast<const StrView*>(column.data), column.flags, rows);
    else if (column.data != nullptr)
      data = image->put(column.data, rows * static_cast<size_t>(registry::phys_size(column.phys)));
    if (column.flags != nullptr) flags = image->put(column.flags, rows);
    image->point(views + i * sizeof column + offsetof(TableColumn, data), data);
    image->point(views + i * sizeof column + offsetof(TableColumn, flags), flags);
  }
  return views;
}

/// Turns pointers of the device into pointers of the mirror.
class Reader {
 public:
  explicit Reader(const MirroredBytes& region) : region_(region) {}

  /// Moves a pointer to `count` items; nullptr stays. All items must be in the region.
  template <class T>
  void move(T** pointer, uint64_t count) {
    if (*pointer == nullptr) return;
    const uint64_t offset = reinterpret_cast<uint64_t>(*pointer) - reinterpret_cast<uint64_t>(region_.device);
    is_good_ = is_good_ && offset <= region_.size && count <= (region_.size - offset) / sizeof(T);
    *pointer = is_good_ ? reinterpret_cast<T*>(const_cast<char*>(region_.host) + offset) : nullptr;
  }
  /// The same for bytes.
  void move_bytes(void** pointer, uint64_t bytes) {
    auto* at = static_cast<char*>(*pointer);
    move(&at, bytes);
    *pointer = at;
  }

  std::vector<TableColumn> columns(const TableColumn* views, const std::vector<Phys>& phys, uint64_t rows) {
    move(&views, phys.size());
    std::vector<TableColumn> columns;
    for (size_t i = 0; is_good_ && i < phys.size(); ++i) {
      TableColumn& column = columns.emplace_back(views[i]);
      is_good_ = is_good_ && column.phys == phys[i] && (rows == 0 || column.data != nullptr);
      move_bytes(&column.data, rows * static_cast<uint64_t>(registry::phys_size(phys[i])));
      move(&column.flags, rows);
    }
    return columns;
  }

  std::vector<uint8_t> texts(const TableColumn& column, uint64_t rows) {
    std::vector<uint8_t> values(rows * sizeof(StrView));
    auto* moved = reinterpret_cast<StrView*>(values.data());
    if (rows > 0) std::memcpy(values.data(), column.data, values.size());
    for (uint64_t row = 0; is_good_ && row < rows; ++row) {
      if (moved[row].len <= 0 && moved[row].ptr == nullptr) continue;
      is_good_ = is_good_ && moved[row].len >= 0;
      move(&moved[row].ptr, static_cast<uint64_t>(moved[row].len));
    }
    return values;
  }

  bool is_good() const { return is_good_; }
  void expect(bool is_so) { is_good_ = is_good_ && is_so; }

 private:
  const MirroredBytes& region_;
  bool is_good_ = true;
};

template <class T>
T pointer_at(const void* struct_begin, size_t member) {
  T pointer;
  std::memcpy(&pointer, static_cast<const char*>(struct_begin) + member, sizeof pointer);
  return pointer;
}

}  // namespace

BuildId new_build_id() {
  std::random_device random;
  const auto word = [&random] { return uint64_t{random()} << 32 | random(); };
  return {word(), word()};
}

void put_join(const JoinBuild& build, size_t offset, DeviceImage* image) {
  const JoinTable& table = build.table();
  for (const TableArray& array : arrays_of(table)) {
    const auto* data = pointer_at<const void*>(&table, array.member);
    image->point(offset + array.member, data == nullptr ? DeviceImage::kNowhere : image->put(data, array.bytes));
  }
  const size_t rows = table.row_count;
  image->point(offset + offsetof(JoinTable, keys), put_columns(table.keys, build.key_count(), rows, image));
  image->point(offset + offsetof(JoinTable, payload), put_columns(table.payload, build.payload_count(), rows, image));
}

void put_cached_join(const JoinBuild& build, const BuildId& id, int64_t scanned_rows, DeviceImage* image) {
  const size_t offset = image->reserve(sizeof(Header));
  Header header{};
  header.table = build.table();
  header.table.matched = nullptr;
  header.code_count = build.code_count();
  header.keys = build.key_count();
  header.payload = build.payload_count();
  header.scanned_rows = scanned_rows;
  header.id = id;
  std::memcpy(image->at(offset), &header, sizeof header);
  put_join(build, offset + offsetof(Header, table), image);
  image->point(offset + offsetof(Header, code_rows), image->put(std::span(build.code_rows())));
}

std::optional<JoinImage> read_cached_join(const MirroredBytes& region, const std::vector<Phys>& keys,
                                          const std::vector<Phys>& payload) {
  Header header;
  if (region.host == nullptr || region.size < sizeof header) return {};
  std::memcpy(static_cast<void*>(&header), region.host, sizeof header);
  Reader reader(region);
  reader.expect(header.keys == keys.size() && header.payload == payload.size() && header.table.matched == nullptr);
  JoinImage image;
  image.table = header.table;
  for (const TableArray& array : arrays_of(image.table)) {
    auto* data = pointer_at<void*>(&image.table, array.member);
    reader.move_bytes(&data, array.bytes);
    std::memcpy(reinterpret_cast<char*>(&image.table) + array.member, &data, sizeof data);
  }
  const uint64_t rows = header.table.row_count;
  image.keys = reader.columns(header.table.keys, keys, rows);
  image.payload = reader.columns(header.table.payload, payload, rows);
  image.table.keys = image.table.payload = nullptr;
  reader.move(&header.code_rows, header.code_count);
  if (!reader.is_good()) return {};
  for (size_t i = 0; i < keys.size() + payload.size(); ++i) {
    const TableColumn& column = i < keys.size() ? image.keys[i] : image.payload[i - keys.size()];
    image.texts.push_back(column.phys == Phys::kStr ? reader.texts(column, rows) : std::vector<uint8_t>());
  }
  image.code_rows.assign(header.code_rows, header.code_rows + header.code_count);
  image.scanned_rows = header.scanned_rows;
  image.id = header.id;
  if (!reader.is_good()) return {};
  return image;
}

JoinTable cached_join_on_device(const MirroredBytes& region) {
  Header header;
  std::memcpy(static_cast<void*>(&header), region.host, sizeof header);
  return header.table;
}

}  // namespace strom::engine::op
