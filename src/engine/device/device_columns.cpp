#include "engine/device/device_columns.hpp"

#include <algorithm>
#include <cstring>

#include "columnar/changing_origin.hpp"
#include "columnar/layout.hpp"
#include "columnar/text.hpp"
#include "engine/block/tile.hpp"
#include "engine/op/device_image.hpp"
#include "engine/device/cached_columns.hpp"

namespace strom::engine::device {

using columnar::ColumnView;
using columnar::Layout;
using registry::Phys;
using registry::StrView;

namespace {

/// The alignment of Arrow's buffers. Tiles need no more for columns.
constexpr size_t kArrowAlign = 8;

/// How a column is copied.
enum class Way {
  kPlain,       // values of fixed width, or a bitmap
  kOffsets,     // texts behind offsets
  kDictionary,  // indexes, and the dictionary's texts
  kTexts,       // texts one by one, as a register's
};

size_t offset_width(Layout layout) { return static_cast<size_t>(columnar::value_width(layout, 0)); }

/// Bytes of a value; 0 for bitmaps.
size_t value_width(const ColumnView& c, Phys phys) {
  return static_cast<size_t>(c.is_register ? registry::phys_size(phys) : columnar::value_width(c.layout, c.byte_width));
}

/// Which rows are copied; nullptr: all. A copy with a name has all rows, since later queries, which see other rows, may
/// find it.
const uint8_t* selection_of(const ColumnSlice& slice, uint32_t column) {
  const columnar::BatchOrigin* origin = slice.batch->origin.get();
  const bool may_stay = slice.batch->selection != nullptr && origin != nullptr && !origin->name(column).empty();
  return may_stay ? nullptr : slice.batch->selection;
}

class Slice {
 public:
  Slice(const ColumnSlice& slice, uint32_t column)
      : view(slice.batch->columns[column]),
        phys(slice.source->columns[column].phys()),
        first(slice.begin - slice.lead()),
        rows(slice.rows + slice.lead()),
        selection(selection_of(slice, column)) {
    const bool is_text = view.is_register && (phys == Phys::kStr || view.is_stored_numeric);
    if (is_text || columnar::is_view(view.layout))
      way = Way::kTexts;
    else if (view.is_register)
      way = Way::kPlain;
    else if (view.layout == Layout::kDictionary)
      way = view.dictionary_size <= rows ? Way::kDictionary : Way::kTexts;
    else if (columnar::has_offsets(view.layout))
      way = Way::kOffsets;
    has_validity = !view.is_register && view.null_count != 0 && view.validity != nullptr;
  }

  /// Text of row `i` of the slice. Null rows and hidden rows have an empty text. False when the text is not in its
  /// buffer.
  bool text(int64_t i, StrView* text) const {
    *text = {nullptr, 0};
    const int64_t row = first + i;
    if (selection != nullptr && (selection[row >> 3] >> (row & 7) & 1) == 0) return true;
    if (view.is_register) {
      const uint8_t flag = view.flags == nullptr ? 0 : view.flags[row];
      if ((flag & ~block::kPackedFlag) == 0) *text = static_cast<const StrView*>(view.values)[row];
      return true;
    }
    return !columnar::is_valid(view, row) || columnar::text_at(view, row, &text->ptr, &text->len);
  }

  StrView text_or_none(int64_t i) const {
    StrView found;
    (void)text(i, &found);
    return found;
  }

  /// The part of `data` that the offsets refer to. All of it where the offsets are not in order; tiles will report
  /// that.
  template <class Offset>
  void data_part(int64_t* begin, int64_t* bytes) const {
    const Offset* offsets = static_cast<const Offset*>(view.values) + first;
    const Offset low = offsets[0], high = offsets[rows];
    bool in_order = low >= 0 && low <= high && static_cast<int64_t>(high) <= view.data_size;
    for (int64_t i = 0; i <= rows; ++i) in_order &= offsets[i] >= low && offsets[i] <= high;
    *begin = in_order ? low : 0;
    *bytes = in_order ? high - low : view.data_size;
  }

  const ColumnView& view;
  const Phys phys;
  const int64_t first, rows;
  const uint8_t* const selection;  // nullptr: all rows, also where some are hidden and the copy may be cached
  Way way = Way::kPlain;
  bool has_validity;
};

size_t bitmap_bytes(int64_t rows) { return static_cast<size_t>((rows + 7) / 8); }

Result<size_t> bytes_of(const Slice& slice, size_t file_slack = 0) {
  const auto rows = static_cast<size_t>(slice.rows);
  const ColumnView& view = slice.view;
  size_t bytes =
      op::device_aligned(slice.has_validity ? bitmap_bytes(slice.rows) : 0) + op::device_aligned(rows);  // flags
  int64_t begin = 0, data = 0;
  switch (slice.way) {
    case Way::kPlain: {
      const size_t width = value_width(view, slice.phys);
      bytes += 2 * file_slack;
      return bytes + op::device_aligned(width == 0 ? bitmap_bytes(slice.rows) : rows * width);
    }
    case Way::kOffsets:
      if (offset_width(view.layout) == 4)
        slice.data_part<int32_t>(&begin, &data);
      else
        slice.data_part<int64_t>(&begin, &data);
      return bytes + op::device_aligned((rows + 1) * offset_width(view.layout)) +
             op::device_aligned(static_cast<size_t>(data));
    case Way::kDictionary:
      for (int64_t i = 0; i < view.dictionary_size; ++i) data += std::max<int64_t>(0, view.dictionary[i].len);
      return bytes + op::device_aligned(rows * static_cast<size_t>(view.byte_width)) +
             op::device_aligned(static_cast<size_t>(view.dictionary_size) * sizeof(StrView)) +
             op::device_aligned(static_cast<size_t>(data));
    case Way::kTexts: break;
  }
  for (int64_t i = 0; i < slice.rows; ++i) {
    StrView text;
    if (!slice.text(i, &text)) return Status(ErrorCode::kCorruptFile, "text outside of its buffer");
    data += text.len;
  }
  return bytes + op::device_aligned(rows * sizeof(StrView)) + op::device_aligned(static_cast<size_t>(data));
}

/// Thrown when a column needs more room than was measured, because its file has changed meanwhile.
struct SlotOverflow {};

/// Any other error while a slot is filled.
struct SlotFailure {
  Status status;
};

/// Takes parts of a slot's host memory; their copies will lie at `device`. Copied data goes from the slot's start on,
/// data that is read from files from the slot's end on. Throws SlotOverflow and SlotFailure.
class SlotWriter {
 public:
  SlotWriter(char* host, char* device, size_t size) : host_(host), device_(device), end_(size) {}
  SlotWriter(const DeviceRegion& slot, DeviceFiles* files, const Device::KeepGoing& keep_going)
      : host_(slot.host()),
        device_(slot.device()),
        end_(slot.size()),
        slot_(&slot),
        files_(files),
        keep_going_(&keep_going) {
    if (files_ != nullptr) end_ -= std::min(end_, DeviceFiles::kPage);  // tiles look a little beyond a column's end
  }

  char* take(size_t bytes) {
    if (bytes > end_ || used_ + op::device_aligned(bytes) > end_) throw SlotOverflow();
    char* at = host_ + used_;
    used_ += op::device_aligned(bytes);
    return at;
  }
  template <class T>
  T* on_device(T* host) const {
    return reinterpret_cast<T*>(device_ + (reinterpret_cast<const char*>(host) - host_));
  }
  const void* copy(const void* from, size_t bytes) {
    char* to = take(bytes);
    if (bytes > 0) std::memcpy(to, from, bytes);
    return on_device(to);
  }
  /// The same for data that may lie in a file that the device reads.
  const void* copy_or_read(const void* from, size_t bytes) {
    if (files_ == nullptr) return copy(from, bytes);
    Result<std::optional<DeviceFiles::FilePart>> found = files_->find(from, bytes, kArrowAlign, *keep_going_);
    if (!found.is_ok()) throw SlotFailure{found.status()};
    if (!found.value()) return copy(from, bytes);
    DeviceFiles::FilePart& part = *found.value();
    const size_t size = part.end - part.begin;
    // Rounds to the beginning of a page of the device.
    const auto origin = reinterpret_cast<uint64_t>(device_) % DeviceFiles::kPage;
    if (size + DeviceFiles::kPage > end_) throw SlotOverflow();
    const size_t offset = (origin + end_ - size) / DeviceFiles::kPage * DeviceFiles::kPage - origin;
    if (offset < used_) throw SlotOverflow();
    end_ = offset;
    ranges_.push_back({std::move(part.file), part.begin, slot_, offset, size});
    return device_ + offset + part.lead;
  }
  size_t used() const { return used_; }
  std::vector<DeviceFileRange> take_ranges() { return std::move(ranges_); }

 private:
  char* const host_;
  char* const device_;
  size_t used_ = 0, end_;
  const DeviceRegion* const slot_ = nullptr;
  DeviceFiles* const files_ = nullptr;
  const Device::KeepGoing* const keep_going_ = nullptr;
  std::vector<DeviceFileRange> ranges_;
};

template <class Offset>
void copy_offsets(const Slice& slice, SlotWriter* slot, CopiedColumn* copied) {
  ColumnView* view = &copied->view;
  int64_t begin = 0, bytes = 0;
  slice.data_part<Offset>(&begin, &bytes);
  const Offset* from = static_cast<const Offset*>(slice.view.values) + slice.first;
  auto* to = reinterpret_cast<Offset*>(slot->take(static_cast<size_t>(slice.rows + 1) * sizeof(Offset)));
  for (int64_t i = 0; i <= slice.rows; ++i) to[i] = static_cast<Offset>(from[i] - static_cast<Offset>(begin));
  view->values = slot->on_device(to);
  view->data = static_cast<const char*>(slot->copy(slice.view.data + begin, static_cast<size_t>(bytes)));
  view->data_size = bytes;
  copied->data_begin = begin;
}

/// Copies `count` texts, `text(i)` each: first the views, then the bytes.
template <class F>
const StrView* copy_texts(int64_t count, SlotWriter* slot, F text, CopiedColumn* copied) {
  auto* views = reinterpret_cast<StrView*>(slot->take(static_cast<size_t>(count) * sizeof(StrView)));
  size_t bytes = 0;
  for (int64_t i = 0; i < count; ++i) {
    views[i] = text(i);
    bytes += static_cast<size_t>(std::max<int64_t>(0, views[i].len));
  }
  char* to = slot->take(bytes);
  copied->texts = slot->on_device(to);
  copied->texts_bytes = static_cast<int64_t>(bytes);
  for (int64_t i = 0; i < count; ++i) {
    if (views[i].len <= 0) continue;
    std::memcpy(to, views[i].ptr, static_cast<size_t>(views[i].len));
    views[i].ptr = slot->on_device(to);
    to += views[i].len;
  }
  return slot->on_device(views);
}

/// Copies the texts of a column in the form of a register.
void copy_as_register(const Slice& slice, SlotWriter* slot, CopiedColumn* copied) {
  ColumnView* view = &copied->view;
  view->values = copy_texts(slice.rows, slot, [&slice](int64_t i) { return slice.text_or_none(i); }, copied);
  if (slice.view.is_register || !slice.has_validity) return;
  auto* flags = reinterpret_cast<uint8_t*>(slot->take(static_cast<size_t>(slice.rows)));
  for (int64_t i = 0; i < slice.rows; ++i)
    flags[i] = columnar::is_valid(slice.view, slice.first + i) ? 0 : block::kNullFlag;
  view->flags = slot->on_device(flags);
}

CopiedColumn copy_slice(const Slice& slice, SlotWriter* slot) {
  const ColumnView& from = slice.view;
  const auto rows = static_cast<size_t>(slice.rows);
  const size_t before = slot->used();
  CopiedColumn copied;
  ColumnView& view = copied.view;
  view = from;
  view.length = slice.rows;
  view.values = view.data = nullptr;
  view.validity = view.flags = nullptr;
  view.variadic = nullptr;
  view.variadic_sizes = nullptr;
  view.variadic_count = view.child_count = 0;
  view.dictionary = nullptr;
  view.children = nullptr;
  if (slice.has_validity && slice.way != Way::kTexts)
    view.validity =
        static_cast<const uint8_t*>(slot->copy_or_read(from.validity + slice.first / 8, bitmap_bytes(slice.rows)));
  if (from.is_register && from.flags != nullptr)
    view.flags = static_cast<const uint8_t*>(slot->copy(from.flags + slice.first, rows));
  const size_t width = value_width(from, slice.phys);
  const auto* values = static_cast<const char*>(from.values);
  const size_t begin = static_cast<size_t>(slice.first);
  switch (slice.way) {
    case Way::kPlain:
      if (slice.phys == Phys::kStr)  // results point into them, and the host reads these in the mirror
        view.values = slot->copy(values + begin * width, rows * width);
      else
        view.values = width == 0 ? slot->copy_or_read(values + begin / 8, bitmap_bytes(slice.rows))
                                 : slot->copy_or_read(values + begin * width, rows * width);
      break;
    case Way::kOffsets:
      if (offset_width(from.layout) == 4)
        copy_offsets<int32_t>(slice, slot, &copied);
      else
        copy_offsets<int64_t>(slice, slot, &copied);
      break;
    case Way::kDictionary:
      view.values = slot->copy(values + begin * width, rows * width);
      view.dictionary =
          copy_texts(from.dictionary_size, slot, [&from](int64_t i) { return from.dictionary[i]; }, &copied);
      copied.is_dictionary = true;
      break;
    case Way::kTexts:
      view.is_register = true;
      copy_as_register(slice, slot, &copied);
      break;
  }
  copied.bytes = slot->used() - before;
  return copied;
}

/// The bitmap of the slice's rows and the lead before them. nullptr: all of them are visible.
const uint8_t* copy_selection(const ColumnSlice& slice, SlotWriter* slot) {
  const uint8_t* bits = slice.batch->selection;
  if (bits == nullptr) return nullptr;
  const int64_t first = slice.begin - slice.lead();
  return static_cast<const uint8_t*>(slot->copy(bits + first / 8, bitmap_bytes(slice.rows + slice.lead())));
}

Status grown() { return Status(ErrorCode::kCorruptFile, "texts grew while they were being read"); }

}  // namespace

Result<size_t> slot_bytes(const ColumnSlice& slice, int32_t* corrupt_column) {
  size_t bytes = op::kDeviceAlign + op::device_aligned(slice.batch->columns.size() * sizeof(ColumnView));
  if (slice.batch->selection != nullptr) bytes += op::device_aligned(bitmap_bytes(slice.rows + slice.lead()));
  if (slice.files != nullptr) bytes += DeviceFiles::kSlack;
  for (const uint32_t column : *slice.columns) {
    if (slice.cached != nullptr && slice.cached->has(column)) continue;
    const Result<size_t> more = bytes_of(Slice(slice, column), slice.files == nullptr ? 0 : DeviceFiles::kSlack);
    if (!more.is_ok()) {
      *corrupt_column = static_cast<int32_t>(column);
      return more.status();
    }
    bytes += more.value();
  }
  return bytes;
}

Result<SlotContent> fill_slot(const ColumnSlice& slice, const DeviceRegion& slot, const Device::KeepGoing& keep_going,
                              int32_t* corrupt_column) {
  SlotWriter writer(slot, slice.files, keep_going);
  const size_t count = slice.batch->columns.size();
  auto* views = reinterpret_cast<ColumnView*>(writer.take(count * sizeof(ColumnView)));
  for (size_t i = 0; i < count; ++i) new (views + i) ColumnView();
  for (const uint32_t column : *slice.columns) {
    if (slice.cached != nullptr && slice.cached->has(column)) {
      views[column] = slice.cached->view(column, slice.begin - slice.lead());
      continue;
    }
    *corrupt_column = static_cast<int32_t>(column);
    try {
      views[column] = copy_slice(Slice(slice, column), &writer).view;
    } catch (const SlotOverflow&) {
      return grown();
    } catch (const SlotFailure& failure) {
      return failure.status;
    }
  }
  const uint8_t* selection = nullptr;
  try {
    selection = copy_selection(slice, &writer);
  } catch (const SlotOverflow&) {
    return grown();
  }
  return SlotContent{writer.on_device(views), selection, writer.used(), writer.take_ranges()};
}

void read_ahead(const ColumnSlice& slice) {
  for (const uint32_t column : *slice.columns) {
    const Slice part(slice, column);
    if (part.way != Way::kPlain) continue;
    const size_t width = value_width(part.view, part.phys), begin = static_cast<size_t>(part.first);
    const auto* values = static_cast<const char*>(part.view.values);
    if (part.has_validity) read_ahead(part.view.validity + begin / 8, bitmap_bytes(part.rows));
    if (width == 0)
      read_ahead(values + begin / 8, bitmap_bytes(part.rows));
    else
      read_ahead(values + begin * width, static_cast<size_t>(part.rows) * width);
  }
}

Result<size_t> column_bytes(const ColumnSlice& slice, uint32_t column) { return bytes_of(Slice(slice, column)); }

Result<CopiedColumn> copy_column(const ColumnSlice& slice, uint32_t column, char* to, char* device, size_t room) {
  SlotWriter writer(to, device, room);
  try {
    return copy_slice(Slice(slice, column), &writer);
  } catch (const SlotOverflow&) {
    return grown();
  }
}

size_t blocks_bytes(const ColumnSlice& slice, uint32_t column, const CopiedColumn& copied, size_t blocks) {
  const size_t width = value_width(copied.view, slice.source->columns[column].phys());
  size_t bytes = columnar::ChangingOrigin::kBlockRows * width + sizeof(block::BlockCopy);
  if (copied.view.flags != nullptr) bytes += columnar::ChangingOrigin::kBlockRows + sizeof(block::BlockCopy);
  return blocks * bytes;
}

size_t copy_blocks(const ColumnSlice& slice, uint32_t column, const CopiedColumn& copied,
                   const std::vector<uint32_t>& blocks, const DeviceRegion& staging, size_t offset,
                   std::vector<block::BlockCopy>* copies) {
  constexpr size_t kRows = columnar::ChangingOrigin::kBlockRows;
  static_assert(op::kDeviceAlign % sizeof(uint64_t) == 0, "what is copied beyond the last row is padding");
  const Slice source(slice, column);
  const size_t width = value_width(copied.view, source.phys), rows = static_cast<size_t>(source.rows);
  size_t used = 0;
  const auto copy = [&](const void* from, const void* to, size_t each, size_t block) {
    const size_t first = block * kRows, bytes = std::min(kRows, rows - first) * each;
    const size_t rounded = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    char* const host = staging.host() + offset + used;
    std::memcpy(host, static_cast<const char*>(from) + (static_cast<size_t>(source.first) + first) * each, bytes);
    std::memset(host + bytes, 0, rounded - bytes);
    // The place on the device, which belongs to the copy.
    char* const place = const_cast<char*>(static_cast<const char*>(to)) + first * each;
    copies->push_back({place, staging.device() + offset + used, rounded});
    used += rounded;
  };
  for (const uint32_t block : blocks) {
    copy(source.view.values, copied.view.values, width, block);
    if (copied.view.flags != nullptr) copy(source.view.flags, copied.view.flags, sizeof(uint8_t), block);
  }
  return used;
}

std::vector<StrView> host_texts(const ColumnSlice& slice, uint32_t column, bool of_dictionary) {
  const Slice source(slice, column);
  if (of_dictionary) return {source.view.dictionary, source.view.dictionary + source.view.dictionary_size};
  std::vector<StrView> texts;
  texts.reserve(static_cast<size_t>(source.rows));
  for (int64_t i = 0; i < source.rows; ++i) texts.push_back(source.text_or_none(i));
  return texts;
}

ColumnView rows_from(const CopiedColumn& column, Phys phys, int64_t first) {
  ColumnView view = column.view;
  const auto row = static_cast<size_t>(first);
  const bool is_views = column.texts != nullptr && !column.is_dictionary;
  const size_t width = is_views ? sizeof(StrView) : value_width(view, phys);
  const auto* values = static_cast<const char*>(view.values);
  view.values = values + (width == 0 ? row / 8 : row * width);
  view.length -= first;
  if (view.validity != nullptr) view.validity += row / 8;
  if (view.flags != nullptr) view.flags += row;
  return view;
}

}  // namespace strom::engine::device
