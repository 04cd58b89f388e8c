#include "pg/table/arrow/decompressed_columns.hpp"

#include <cstring>

#include "base/file_times.hpp"
#include "columnar/layout.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::table {

using columnar::ColumnView;
using columnar::Layout;
using format::heap::kImageAlignment;

namespace {

/// Precedes the buffers of a column; each buffer begins at a multiple of kImageAlignment.
struct ImageHeader {
  int64_t null_count, validity_bytes, values_bytes, data_bytes;
};

constexpr int64_t padded(int64_t bytes) { return (bytes + kImageAlignment - 1) / kImageAlignment * kImageAlignment; }

constexpr int64_t kHeaderBytes = padded(sizeof(ImageHeader));
// Room for offsets that a compressed column need not have, for the last byte of bitmaps, and for the padding of three
// buffers.
constexpr int64_t kSlack = kHeaderBytes + 4 * kImageAlignment;

ImageHeader header_of(const ColumnView& view) {
  const int64_t width = columnar::value_width(view.layout, view.byte_width);
  ImageHeader header{};
  header.null_count = view.null_count;
  header.validity_bytes = view.validity != nullptr ? (view.length + 7) / 8 : 0;
  if (view.length > 0)
    header.values_bytes =
        width == 0 ? (view.length + 7) / 8 : (view.length + columnar::has_offsets(view.layout)) * width;
  header.data_bytes = columnar::has_offsets(view.layout) ? view.data_size : 0;
  return header;
}

int64_t image_bytes(const ImageHeader& header) {
  return kHeaderBytes + padded(header.validity_bytes) + padded(header.values_bytes) + padded(header.data_bytes);
}

// Views that contain pointers of this process cannot be cached.
bool can_be_cached(const ColumnView& view) {
  return !columnar::is_view(view.layout) && view.layout < Layout::kNull && view.layout != Layout::kDictionary &&
         !view.is_register;
}

uint8_t* put(uint8_t* to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
  return to + padded(bytes);
}

}  // namespace

// ---- The main thread ----

std::unique_ptr<DecompressedColumns> DecompressedColumns::open(const files::Source& table,
                                                               std::span<const int64_t> chunks) {
  if (!guc::pg_strom::enable_column_cache || !table.is_compressed() || chunks.empty()) return nullptr;
  SharedColumns* shared = SharedColumns::attach();
  if (shared == nullptr) return nullptr;
  std::unique_ptr<DecompressedColumns> columns(new DecompressedColumns(table, shared));
  for (const int64_t chunk : chunks) {
    boundary::check_for_interrupts();
    columns->look_up(chunk);
  }
  return columns;
}

DecompressedColumns::DecompressedColumns(const files::Source& table, SharedColumns* shared)
    : table_(table), shared_(shared), slots_(new Slot[table.chunks().size() * table.columns().size()]) {
  turn_ = shared_->begin_scan({InvalidOid, MyDatabaseId, table.relid()});
}

DecompressedColumns::~DecompressedColumns() { shared_->end_scan(&turn_); }

DecompressedColumns::Slot& DecompressedColumns::slot(int64_t chunk, size_t column) const {
  return slots_[static_cast<size_t>(chunk) * table_.columns().size() + column];
}

/// The group for a column of a record batch of a file, by the file's name. `version` gets the identity and state of the
/// file. Both are hashes; within one table, 96 bits distinguish everything.
GroupId DecompressedColumns::group_of(int64_t chunk, size_t column, uint64_t* version) const {
  const files::Chunk& place = table_.chunks()[static_cast<size_t>(chunk)];
  const auto file = static_cast<size_t>(place.file);
  const std::string& path = table_.files()[file]->path();
  const base::FileIdentity& identity = table_.files()[file]->identity();
  const uint64_t words[] = {
      hash_bytes_extended(reinterpret_cast<const unsigned char*>(path.data()), static_cast<int>(path.size()), 0),
      static_cast<uint64_t>(place.batch),
      static_cast<uint64_t>(table_.columns()[column].fields[file]),
      identity.device,
      identity.inode,
      static_cast<uint64_t>(identity.size),
      static_cast<uint64_t>(identity.mtime_ns),
      static_cast<uint64_t>(identity.ctime_ns)};
  constexpr int kPlaceWords = 3;
  const auto* bytes = reinterpret_cast<const unsigned char*>(words);
  *version = hash_bytes_extended(bytes, sizeof words, 0);
  return {{InvalidOid, MyDatabaseId, table_.relid()}, hash_bytes(bytes, kPlaceWords * sizeof(uint64_t))};
}

void DecompressedColumns::look_up(int64_t chunk) {
  const auto file = static_cast<size_t>(table_.chunks()[static_cast<size_t>(chunk)].file);
  for (size_t i = 0; i < table_.columns().size(); ++i) {
    if (table_.columns()[i].fields[file] < 0) continue;  // a constant column
    uint64_t version;
    const GroupId group = group_of(chunk, i, &version);
    FoundColumn found;
    const ColumnId id{table_.columns()[i].attnum, 0, 0, 0};
    const auto result = shared_->find(group, version, {id}, turn_, &pins_, &found);
    Slot& place = slot(chunk, i);
    if (result == SharedColumns::Found::kAll) {
      place.image = const_cast<uint8_t*>(found.bytes);
      place.state.store(State::kCached, std::memory_order_relaxed);
    } else if (result == SharedColumns::Found::kSome && turn_.fills && has_room_) {
      make_room(chunk, i, &place);
    }
  }
}

void DecompressedColumns::make_room(int64_t chunk, size_t column, Slot* slot) {
  const files::Chunk& place = table_.chunks()[static_cast<size_t>(chunk)];
  const auto file = static_cast<size_t>(place.file);
  const Layout layout = table_.field(place.file, static_cast<int>(column)).layout;
  const auto bytes = table_.files()[file]->memory_bytes(place.batch, table_.columns()[column].fields[file]);
  if (!bytes.is_ok() || bytes.value() == 0 || columnar::is_view(layout) || layout >= Layout::kNull) return;
  if (bytes.value() > shared_->largest_group() - kSlack) return;
  if (!base::is_settled(table_.files()[file]->identity(), base::clock_ns())) return;
  slot->size = bytes.value() + kSlack;
  has_room_ =
      shared_->reserve({{{table_.columns()[column].attnum, 0, 0, 0}, {}, slot->size}}, turn_, &pins_, &slot->room);
  if (!has_room_) return;
  slot->image = slot->room.bytes;
  slot->state.store(State::kRoom, std::memory_order_relaxed);
}

void DecompressedColumns::close() {
  for (size_t chunk = 0; turn_.fills && chunk < table_.chunks().size(); ++chunk) {
    const files::Chunk& place = table_.chunks()[chunk];
    for (size_t i = 0; i < table_.columns().size(); ++i) {
      Slot& written = slot(static_cast<int64_t>(chunk), i);
      if (written.state.load(std::memory_order_acquire) != State::kWritten) continue;
      written.state.store(State::kNothing, std::memory_order_relaxed);
      if (!table_.unchanged(place.file).is_ok()) continue;
      uint64_t version;
      const GroupId group = group_of(static_cast<int64_t>(chunk), i, &version);
      cache::NewColumn column{{table_.columns()[i].attnum, 0, 0, 0}, {}, written.size};
      column.shape.rows = static_cast<uint32_t>(place.rows);
      filled_ += shared_->publish(group, version, {column}, written.room);
    }
  }
  shared_->end_scan(&turn_);
  pins_.release();
}

// ---- Engine threads ----

bool DecompressedColumns::find(int64_t chunk, size_t column, ColumnView* view) const {
  const Slot& cached = slot(chunk, column);
  const State state = cached.state.load(std::memory_order_acquire);
  if (state != State::kCached && state != State::kWritten) return false;
  cached_.fetch_add(1, std::memory_order_relaxed);
  const files::Chunk& place = table_.chunks()[static_cast<size_t>(chunk)];
  const columnar::Field& field = table_.field(place.file, static_cast<int>(column));
  ImageHeader header;
  std::memcpy(&header, cached.image, sizeof header);
  const uint8_t* bytes = cached.image + kHeaderBytes;
  view->layout = field.layout;
  view->unit = field.unit;
  view->byte_width = field.byte_width;
  view->length = place.rows;
  view->null_count = header.null_count;
  view->validity = header.validity_bytes > 0 ? bytes : nullptr;
  bytes += padded(header.validity_bytes);
  view->values = bytes;
  bytes += padded(header.values_bytes);
  view->data = reinterpret_cast<const char*>(bytes);
  view->data_size = header.data_bytes;
  return true;
}

void DecompressedColumns::offer(int64_t chunk, size_t column, const ColumnView& view) const {
  decompressed_.fetch_add(1, std::memory_order_relaxed);
  Slot& room = slot(chunk, column);
  State expected = State::kRoom;
  if (!room.state.compare_exchange_strong(expected, State::kBeingWritten, std::memory_order_acq_rel)) return;
  const ImageHeader header = header_of(view);
  const int64_t size = image_bytes(header);
  if (!can_be_cached(view) || size > room.size) {
    room.state.store(State::kNothing, std::memory_order_release);
    return;
  }
  room.size = size;
  std::memcpy(room.image, &header, sizeof header);
  uint8_t* to = room.image + kHeaderBytes;
  to = put(to, view.validity, header.validity_bytes);
  to = put(to, view.values, header.values_bytes);
  put(to, view.data, header.data_bytes);
  room.state.store(State::kWritten, std::memory_order_release);
}

}  // namespace strom::pg::table
