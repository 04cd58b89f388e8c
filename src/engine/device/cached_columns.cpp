#include "engine/device/cached_columns.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "columnar/changing_origin.hpp"
#include "columnar/layout.hpp"
#include "engine/op/join/join_limit.hpp"

namespace strom::engine::device {

using columnar::BatchOrigin;
using columnar::ColumnView;
using registry::StrView;

namespace {

/// A morsel's columns that are larger are not cached.
constexpr size_t kLargestCached = 256 << 20;
/// The limit of regions leaves room for the join tables that a launch reads.
constexpr size_t kMostAsked = DeviceCache::kMostColumns - op::kMostJoins;
/// Columns that are filled together.
constexpr size_t kFilledTogether = 64 << 20;

/// A CopiedColumn without addresses: what queries that find the column later need to know of it.
struct Shape {
  CopiedColumn copied;  // pointers are distances from the region's beginning
};
static_assert(std::is_trivially_copyable_v<Shape> && sizeof(Shape) <= DeviceCache::kMostShapeBytes);

/// Adds `by` to each device pointer that is not null.
void move_pointers(CopiedColumn* copied, uint64_t by) {
  const auto move = [by](auto*& pointer) {
    using T = std::remove_reference_t<decltype(pointer)>;
    if (pointer != nullptr) pointer = reinterpret_cast<T>(reinterpret_cast<uint64_t>(pointer) + by);
  };
  ColumnView& view = copied->view;
  move(view.validity);
  move(view.values);
  move(view.data);
  move(view.dictionary);
  move(view.flags);
  move(copied->texts);
}

// Distances are counted from one byte before the region, so that none of them is a null pointer.
std::string shape_of(const CopiedColumn& copied, const DeviceRegion& region) {
  Shape shape;
  std::memset(static_cast<void*>(&shape), 0, sizeof shape);
  shape.copied = copied;
  move_pointers(&shape.copied, 1 - reinterpret_cast<uint64_t>(region.device()));
  return {reinterpret_cast<const char*>(&shape), sizeof shape};
}

/// The copy that others find in the region, as this process sees it. False: it is no such thing.
bool read_shape(const FoundColumn& found, CopiedColumn* copied) {
  Shape shape;
  if (found.shape.size() != sizeof shape) return false;
  std::memcpy(static_cast<void*>(&shape), found.shape.data(), sizeof shape);
  move_pointers(&shape.copied, reinterpret_cast<uint64_t>(found.region->device()) - 1);
  *copied = shape.copied;
  return true;
}

bool is_in(const char* begin, int64_t size, StrView text, int64_t* offset) {
  if (begin == nullptr || text.ptr < begin) return false;
  *offset = text.ptr - begin;
  return *offset < size && text.len <= size - *offset;
}

}  // namespace

void CachedColumns::let_go() {
  columns_.clear();
  batch_.reset();
}

/// Morsels have the same size in every query, whatever else it reads, so queries find each other's columns.
std::string CachedColumns::name_of(uint32_t column) const {
  std::string name = batch_->origin->name(column);
  if (!name.empty()) columnar::append_name(&name, whole_.begin, whole_.rows);
  return name.size() <= DeviceCache::kMostNameBytes ? name : std::string();
}

CachedColumns::Asked CachedColumns::begin(const op::Morsel& morsel, const plan::Source& source,
                                          const std::vector<uint32_t>& columns) {
  let_go();
  Asked asked;
  if (device_->cache() == nullptr || morsel.batch->origin == nullptr) return asked;
  batch_ = morsel.batch;
  whole_ = {batch_.get(), &source, &columns, morsel.begin, morsel.rows};
  const uint64_t generation = columnar::generation_of(*batch_->origin);
  for (const uint32_t column : columns) {
    std::string name = name_of(column);
    if (name.empty() || asked.columns.size() == kMostAsked) continue;
    asked.columns.push_back(column);
    asked.names.push_back({std::move(name), generation});
  }
  columns_.resize(batch_->columns.size());
  return asked;
}

Status CachedColumns::renew(const op::Morsel& morsel, const plan::Source& source, const std::vector<uint32_t>& columns,
                            const Staging& staging, const Device::KeepGoing& keep_going) {
  const auto [asked, names] = begin(morsel, source, columns);
  if (asked.empty()) return {};
  STROM_ASSIGN(std::vector<FoundColumn> found, device_->cache()->find_older(names, keep_going));
  std::vector<Older> older;
  for (size_t i = 0; i < asked.size(); ++i)
    if (found[i].is_older) take_older(asked[i], std::move(found[i]), &older);
  return older.empty() ? Status::ok() : update(std::move(older), staging, keep_going);
}

Status CachedColumns::take(const op::Morsel& morsel, const plan::Source& source, const std::vector<uint32_t>& columns,
                           const Staging& staging, const Device::KeepGoing& keep_going, int32_t* corrupt_column) {
  const auto [asked, names] = begin(morsel, source, columns);
  if (asked.empty()) return {};
  STROM_ASSIGN(std::vector<FoundColumn> found, device_->cache()->find(names, keep_going));
  std::vector<Wanted> wanted;
  std::vector<Older> older;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (found[i].is_older) {
      take_older(asked[i], std::move(found[i]), &older);
    } else if (found[i].region != nullptr) {
      take_found(asked[i], std::move(found[i]));
    } else if (found[i].is_wanted && !morsel.is_away) {
      const Result<size_t> bytes = column_bytes(whole_, asked[i]);
      if (!bytes.is_ok()) {
        *corrupt_column = static_cast<int32_t>(asked[i]);
        return bytes.status();
      }
      if (bytes.value() > kLargestCached) continue;
      const BatchOrigin& origin = *batch_->origin;
      wanted.push_back({asked[i], {names[i].name, origin.label(), origin.number(asked[i]), bytes.value()}, nullptr});
    }
  }
  if (!older.empty()) STROM_TRY(update(std::move(older), staging, keep_going));
  return wanted.empty() ? Status::ok() : fill(std::move(wanted), staging, keep_going, corrupt_column);
}

void CachedColumns::take_found(uint32_t column, FoundColumn found) {
  CopiedColumn copied;
  if (!read_shape(found, &copied)) return;
  found_bytes_ += static_cast<int64_t>(copied.bytes);
  use(column, std::move(found.region), copied);
}

void CachedColumns::use(uint32_t column, std::unique_ptr<DeviceRegion> region, const CopiedColumn& copied) {
  columns_[column].emplace();
  columns_[column]->region = std::move(region);
  columns_[column]->copied = copied;
}

void CachedColumns::take_older(uint32_t column, FoundColumn found, std::vector<Older>* older) const {
  Older taken{column, std::move(found), {}, {}, 0};
  const auto* origin = dynamic_cast<const columnar::ChangingOrigin*>(batch_->origin.get());
  if (origin == nullptr || !read_shape(taken.found, &taken.copied)) return;
  taken.blocks = origin->changed_blocks(taken.found.generation, whole_.begin - whole_.lead(),
                                        int64_t{whole_.rows} + whole_.lead());
  taken.bytes = blocks_bytes(whole_, column, taken.copied, taken.blocks.size());
  older->push_back(std::move(taken));
}

/// Brings copies up to date in their places. Others may read them meanwhile: the rows that they see do not change.
Status CachedColumns::update(std::vector<Older> older, const Staging& staging, const Device::KeepGoing& keep_going) {
  for (size_t begin = 0; begin < older.size();) {
    size_t end = begin, bytes = 0;
    do bytes += older[end++].bytes;
    while (end < older.size() && bytes + older[end].bytes <= kFilledTogether);
    const DeviceRegion* place = nullptr;
    if (bytes > 0) {
      const Result<const DeviceRegion*> region = staging(bytes);
      if (region.status().code() == ErrorCode::kOverBudget) return {};
      STROM_TRY(region.status());
      place = region.value();
    }
    STROM_TRY(update_some(&older[begin], older.data() + end, place, keep_going));
    begin = end;
  }
  return {};
}

/// `staging`: nullptr when no block has changed.
Status CachedColumns::update_some(Older* begin, Older* end, const DeviceRegion* staging,
                                  const Device::KeepGoing& keep_going) {
  DeviceWork work;
  if (staging != nullptr) {
    // First the blocks, behind them the list of copies.
    std::vector<block::BlockCopy> copies;
    size_t used = 0;
    for (Older* column = begin; column != end; ++column) {
      used += copy_blocks(whole_, column->column, column->copied, column->blocks, *staging, used, &copies);
      work.updated.push_back(column->found.region.get());
    }
    const size_t list = copies.size() * sizeof(block::BlockCopy);
    std::memcpy(staging->host() + used, copies.data(), list);
    work.in.push_back({staging, 0, used + list});
    work.copies = reinterpret_cast<const block::BlockCopy*>(staging->device() + used);
    work.copy_count = static_cast<uint32_t>(copies.size());
    STROM_TRY(device_->run(work, keep_going));
  }
  if (!batch_->origin->holds()) return {};
  for (Older* column = begin; column != end; ++column) {
    const auto brought = static_cast<int64_t>(column->bytes);
    filled_bytes_ += brought;
    updated_blocks_ += static_cast<int64_t>(column->blocks.size());
    found_bytes_ += std::max<int64_t>(0, static_cast<int64_t>(column->copied.bytes) - brought);
    device_->cache()->publish(*column->found.region, column->found.shape, columnar::generation_of(*batch_->origin));
    use(column->column, std::move(column->found.region), column->copied);
  }
  return {};
}

Status CachedColumns::fill(std::vector<Wanted> wanted, const Staging& staging, const Device::KeepGoing& keep_going,
                           int32_t* corrupt_column) {
  std::vector<OfferedColumn> offers;
  offers.reserve(wanted.size());
  for (const Wanted& column : wanted) offers.push_back(column.offer);
  STROM_ASSIGN(auto rooms, device_->cache()->make_room(offers, keep_going));
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i].room = std::move(rooms[i]);
  std::erase_if(wanted, [](const Wanted& column) { return column.room == nullptr; });
  read_ahead_wanted(wanted);
  for (size_t begin = 0; begin < wanted.size();) {
    size_t end = begin, bytes = 0;
    do bytes += wanted[end++].offer.bytes;
    while (end < wanted.size() && bytes + wanted[end].offer.bytes <= kFilledTogether);
    const Result<const DeviceRegion*> region = staging(bytes);
    if (region.status().code() == ErrorCode::kOverBudget) return {};
    STROM_TRY(region.status());
    STROM_TRY(fill_some(&wanted[begin], wanted.data() + end, *region.value(), keep_going, corrupt_column));
    begin = end;
  }
  return {};
}

/// Readers may have left reading ahead to this class.
void CachedColumns::read_ahead_wanted(const std::vector<Wanted>& wanted) const {
  std::vector<uint32_t> columns;
  columns.reserve(wanted.size());
  for (const Wanted& column : wanted) columns.push_back(column.column);
  ColumnSlice slice = whole_;
  slice.columns = &columns;
  read_ahead(slice);
}

Status CachedColumns::fill_some(Wanted* begin, Wanted* end, const DeviceRegion& staging,
                                const Device::KeepGoing& keep_going, int32_t* corrupt_column) {
  DeviceWork work;
  std::vector<CopiedColumn> copies;
  size_t at = 0;
  for (Wanted* column = begin; column != end; ++column) {
    const DeviceRegion& room = *column->room;
    auto copied = copy_column(whole_, column->column, staging.host() + at, room.device(), column->offer.bytes);
    if (!copied.is_ok()) {
      *corrupt_column = static_cast<int32_t>(column->column);
      return copied.status();
    }
    copies.push_back(copied.value());
    work.fills.push_back({&room, {&staging, at, copied.value().bytes}});
    at += column->offer.bytes;
  }
  STROM_TRY(device_->run(work, keep_going));
  if (!batch_->origin->holds()) return {};
  for (size_t i = 0; begin + i != end; ++i) {
    filled_bytes_ += static_cast<int64_t>(copies[i].bytes);
    device_->cache()->publish(*begin[i].room, shape_of(copies[i], *begin[i].room),
                              columnar::generation_of(*batch_->origin));
    use(begin[i].column, std::move(begin[i].room), copies[i]);
  }
  return {};
}

ColumnView CachedColumns::view(uint32_t column, int64_t row) const {
  return rows_from(columns_[column]->copied, whole_.source->columns[column].phys(),
                   row - (whole_.begin - whole_.lead()));
}

std::vector<const DeviceRegion*> CachedColumns::regions() const {
  std::vector<const DeviceRegion*> regions;
  for (const auto& cached : columns_)
    if (cached) regions.push_back(cached->region.get());
  return regions;
}

std::optional<StrView> CachedColumns::host_text(StrView text) const {
  for (uint32_t column = 0; column < columns_.size(); ++column) {
    int64_t offset;
    const auto& cached = columns_[column];
    if (cached && is_in(cached->region->device(), static_cast<int64_t>(cached->region->size()), text, &offset))
      return host_text(*cached, column, text);
  }
  return {};
}

/// The source still has the column: a text is at the same distance from the beginning of the texts on host and device.
std::optional<StrView> CachedColumns::host_text(const CachedColumn& cached, uint32_t column, StrView text) const {
  const ColumnView& on_host = batch_->columns[column];
  const ColumnView& view = cached.copied.view;
  int64_t offset;
  if (cached.copied.texts != nullptr) return listed_text(cached, column, text);
  if (columnar::has_offsets(view.layout) && !view.is_register) {
    if (!is_in(view.data, view.data_size, text, &offset)) return {};
    offset += cached.copied.data_begin;
    if (text.len > on_host.data_size - offset) return {};
    return StrView{on_host.data + offset, text.len};
  }
  const int64_t width = view.byte_width;
  if (!is_in(static_cast<const char*>(view.values), view.length * width, text, &offset)) return {};
  return StrView{static_cast<const char*>(on_host.values) + (whole_.begin - whole_.lead()) * width + offset, text.len};
}

std::optional<StrView> CachedColumns::listed_text(const CachedColumn& cached, uint32_t column, StrView text) const {
  int64_t offset;
  if (!is_in(cached.copied.texts, cached.copied.texts_bytes, text, &offset)) return {};
  if (cached.texts.empty()) {
    cached.texts = host_texts(whole_, column, cached.copied.is_dictionary);
    int64_t end = 0;
    for (const StrView& each : cached.texts) cached.text_ends.push_back(end += std::max<int64_t>(0, each.len));
  }
  const auto found = std::upper_bound(cached.text_ends.begin(), cached.text_ends.end(), offset);
  if (found == cached.text_ends.end()) return {};
  const StrView& source = cached.texts[static_cast<size_t>(found - cached.text_ends.begin())];
  const int64_t inside = offset - (*found - source.len);
  if (text.len > source.len - inside) return {};
  return StrView{source.ptr + inside, text.len};
}

}  // namespace strom::engine::device
