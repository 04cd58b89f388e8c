#include "engine/device/device_pages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "engine/block/tile.hpp"

namespace strom::engine::device {

using block::PageAttribute;
using block::PageColumn;
using block::PageStep;
using block::PageTask;
using columnar::ColumnView;
using columnar::PageBatch;
using columnar::heap::Storage;
using columnar::heap::WantedColumn;
using registry::StrView;

namespace {

constexpr size_t kMostFiles = 8;  // open at the same time
/// Bytes of a slice's columns. More rows are decoded in several slices.
constexpr size_t kLargeSlice = 64 << 20;
/// Bytes before a stored numeric that its readers may look at.
constexpr size_t kBeforeText = 8;

bool is_text(Storage storage) { return storage == Storage::kText || storage == Storage::kNumeric; }

/// True when the pages cannot be read in this way, but the query can go on.
bool are_unreadable(const Status& status) {
  switch (status.code()) {
    case ErrorCode::kOverBudget:
    case ErrorCode::kFileChanged:
    case ErrorCode::kFileNotFound:
    case ErrorCode::kIoError:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kUnsupported: return true;
    default: return false;
  }
}

}  // namespace

Result<std::shared_ptr<const DeviceFile>> DevicePageFiles::open(const std::shared_ptr<const columnar::PageFile>& file,
                                                                const Device::KeepGoing& keep_going) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, opened] : files_)
      if (known == file) return opened;
  }
  STROM_ASSIGN(std::shared_ptr<const DeviceFile> opened,
               device_->open_file(file->descriptor(), file->name(), keep_going));
  std::shared_ptr<const DeviceFile> oldest;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  if (files_.size() >= kMostFiles) {
    oldest = std::move(files_.front().second);
    files_.erase(files_.begin());
  }
  files_.emplace_back(file, opened);
  return opened;
}

DevicePages::DevicePages(Device* device, DevicePageFiles* files, const plan::Source& source,
                         std::vector<uint32_t> columns, bool texts_return)
    : device_(device), files_(files), source_(source), columns_(std::move(columns)), texts_return_(texts_return) {}

/// Makes the region have at least `bytes` bytes.
Status DevicePages::reserve(std::unique_ptr<DeviceRegion>* region, size_t bytes, bool mirrored,
                            const Device::KeepGoing& keep_going) const {
  if (*region && (*region)->size() >= bytes) return {};
  region->reset();
  STROM_ASSIGN(*region, device_->allocate(bytes + bytes / 4, mirrored, keep_going));
  return {};
}

/// Writes everything but the places of the slices' columns.
void DevicePages::write_head(const PageBatch& batch, op::DeviceImage* image) {
  const columnar::PageLayout& layout = batch.layout();
  std::vector<PageAttribute> attributes;
  std::vector<PageColumn> columns;
  std::vector<size_t> missing_texts;  // offsets of their bytes
  attributes.reserve(layout.attributes.size());
  for (const auto& attribute : layout.attributes) attributes.push_back({attribute, -1});
  size_t last = 0;
  for (const uint32_t ordinal : columns_) {
    const WantedColumn& wanted = layout.wanted[ordinal];
    const auto attribute = static_cast<size_t>(wanted.attribute);
    attributes[attribute].column = static_cast<int32_t>(columns.size());
    last = std::max(last, attribute + 1);
    PageColumn& column = columns.emplace_back();
    column = {wanted.storage, wanted.missing_flag, nullptr, nullptr, {}};
    missing_texts.push_back(op::DeviceImage::kNowhere);
    if (wanted.missing_flag != 0) continue;
    std::memcpy(column.missing, wanted.missing, static_cast<size_t>(columnar::heap::storage_width(wanted.storage)));
    if (!is_text(wanted.storage)) continue;
    StrView text;
    std::memcpy(&text, column.missing, sizeof text);
    const size_t offset = image->reserve(kBeforeText + static_cast<size_t>(text.len)) + kBeforeText;
    if (text.len > 0) std::memcpy(image->at(offset), text.ptr, static_cast<size_t>(text.len));
    missing_texts.back() = offset;
  }
  attributes.resize(last);
  PageTask task{};
  task.step = PageStep::kCheck;
  task.page_size = layout.page_size;
  task.first_block = batch.first_block();
  task.has_checksums = layout.has_checksums ? 1 : 0;
  task.attribute_count = static_cast<uint32_t>(last);
  task.pages = reinterpret_cast<const uint8_t*>(pages_->device());
  at_.task = image->put(&task, sizeof task);
  image->point(at_.task + offsetof(PageTask, attributes), image->put(std::span<const PageAttribute>(attributes)));
  at_.columns = image->put(std::span<const PageColumn>(columns));
  image->point(at_.task + offsetof(PageTask, columns), at_.columns);
  for (size_t i = 0; i < columns.size(); ++i)
    if (missing_texts[i] != op::DeviceImage::kNowhere)
      image->point(at_.columns + i * sizeof(PageColumn) + offsetof(PageColumn, missing) + offsetof(StrView, ptr),
                   missing_texts[i]);
  at_.rows = image->reserve(batch.pages() * sizeof(uint32_t));
  image->point(at_.task + offsetof(PageTask, rows), at_.rows);
  at_.first_rows = image->reserve(batch.pages() * sizeof(uint32_t));
  image->point(at_.task + offsetof(PageTask, first_rows), at_.first_rows);
  at_.views = image->reserve(std::max<size_t>(1, source_.columns.size()) * sizeof(ColumnView));
}

Status DevicePages::read_pages(const PageBatch& batch, const Device::KeepGoing& keep_going) {
  const size_t bytes = size_t{batch.pages()} * batch.layout().page_size;
  STROM_TRY(reserve(&pages_, bytes, texts_return_, keep_going));
  op::DeviceImage image;
  write_head(batch, &image);
  STROM_TRY(reserve(&head_, image.size(), true, keep_going));
  head_bytes_ = image.size();
  image.write(head_->host(), head_->device());
  DeviceWork work;
  STROM_ASSIGN(std::shared_ptr<const DeviceFile> file, files_->open(batch.file(), keep_going));
  work.files.push_back({std::move(file), batch.file_offset(), pages_.get(), 0, bytes});
  work.in.push_back({head_.get(), 0, head_bytes_});
  work.pages = reinterpret_cast<const PageTask*>(head_->device() + at_.task);
  work.page_count = batch.pages();
  work.out.push_back({head_.get(), at_.rows, batch.pages() * sizeof(uint32_t)});
  // However the pages were read, results point into them.
  if (texts_return_) work.out.push_back({pages_.get(), 0, bytes});
  STROM_TRY(device_->run(work, keep_going));
  read_bytes_ += static_cast<int64_t>(bytes);
  return {};
}

Status DevicePages::read(PageBatch* batch, const Device::KeepGoing& keep_going) {
  batch_ = batch;
  next_page_ = batch->pages();
  slice_rows_ = 0;
  Status status = read_pages(*batch, keep_going);
  if (!status.is_ok()) {
    if (!are_unreadable(status)) return status;
    batch->give_back_all();
    return Status::ok();
  }
  const std::vector<bool> visible = batch->are_visible();
  const auto* rows = head<uint32_t>(at_.rows);
  counts_.assign(rows, rows + batch->pages());
  for (uint32_t page = 0; page < batch->pages(); ++page) {
    if (!visible[page]) counts_[page] = block::kBadPage;
    if (counts_[page] == block::kBadPage) batch->give_back(page);
  }
  next_page_ = 0;
  return {};
}

size_t DevicePages::row_bytes() const {
  size_t bytes = sizeof(uint16_t);
  for (const uint32_t column : columns_)
    bytes += static_cast<size_t>(columnar::heap::storage_width(batch_->layout().wanted[column].storage)) + 1;
  return bytes;
}

Result<int32_t> DevicePages::next_slice(const Device::KeepGoing& keep_going) {
  const auto most = static_cast<int64_t>(kLargeSlice / row_bytes());
  slice_begin_ = next_page_;
  int64_t rows = 0;
  auto* first_rows = next_page_ < batch_->pages() ? head<uint32_t>(at_.first_rows) : nullptr;
  for (uint32_t page = 0; first_rows != nullptr && page < batch_->pages(); ++page) {
    first_rows[page] = block::kSkippedPage;
    const bool fits =
        page == next_page_ && (rows == 0 || counts_[page] == block::kBadPage || rows + counts_[page] <= most);
    if (!fits) continue;
    ++next_page_;
    if (counts_[page] == block::kBadPage) continue;
    first_rows[page] = static_cast<uint32_t>(rows);
    rows += counts_[page];
  }
  if (rows == 0) return 0;
  const size_t room = static_cast<size_t>(rows) + block::kTilePadding;
  Status status = reserve(&values_, row_bytes() * room + columns_.size() * 2 * op::kDeviceAlign, false, keep_going);
  if (status.is_ok()) status = reserve(&numbers_, room * sizeof(uint16_t), true, keep_going);
  if (status.code() == ErrorCode::kOverBudget) {
    for (uint32_t page = slice_begin_; page < batch_->pages(); ++page)
      if (counts_[page] != block::kBadPage) batch_->give_back(page);
    next_page_ = batch_->pages();
    return 0;
  }
  STROM_TRY(status);
  lay_out_slice(static_cast<int32_t>(rows));
  return slice_rows_;
}

void DevicePages::lay_out_slice(int32_t rows) {
  slice_rows_ = rows;
  const size_t room = static_cast<size_t>(rows) + block::kTilePadding;
  auto& task = *head<PageTask>(at_.task);
  task.step = PageStep::kDecode;
  task.numbers = reinterpret_cast<uint16_t*>(numbers_->device());
  auto* views = head<ColumnView>(at_.views);
  for (size_t i = 0; i < source_.columns.size(); ++i) new (views + i) ColumnView();
  op::DeviceOffsets offsets;
  const auto take = [&](size_t bytes) { return values_->device() + offsets.take(bytes); };
  for (size_t i = 0; i < columns_.size(); ++i) {
    PageColumn& column = head<PageColumn>(at_.columns)[i];
    column.values = take(room * static_cast<size_t>(columnar::heap::storage_width(column.storage)));
    column.flags = reinterpret_cast<uint8_t*>(take(room));
    ColumnView& view = views[columns_[i]];
    view.is_register = true;
    view.length = rows;
    view.values = column.values;
    view.flags = column.flags;
    view.is_stored_numeric = column.storage == Storage::kNumeric;
    view.scale = batch_->layout().scales[columns_[i]];
  }
}

const ColumnView* DevicePages::columns() const {
  return reinterpret_cast<const ColumnView*>(head_->device() + at_.views);
}

void DevicePages::add_to(DeviceWork* work) const {
  work->in.push_back({head_.get(), 0, head_bytes_});
  work->pages = reinterpret_cast<const PageTask*>(head_->device() + at_.task);
  work->page_count = batch_->pages();
  work->out.push_back({numbers_.get(), 0, static_cast<size_t>(slice_rows_) * sizeof(uint16_t)});
}

void DevicePages::decoded() {
  const auto* first_rows = head<uint32_t>(at_.first_rows);
  const auto* numbers = reinterpret_cast<const uint16_t*>(numbers_->host());
  for (uint32_t page = slice_begin_; page < next_page_; ++page)
    if (first_rows[page] != block::kSkippedPage) batch_->add_rows(page, numbers + first_rows[page], counts_[page]);
  slice_rows_ = 0;
}

std::optional<StrView> DevicePages::host_text(StrView text) const {
  for (const DeviceRegion* region : {pages_.get(), head_.get()}) {
    const char* mirrored = region == nullptr ? nullptr : region->on_host(text.ptr, static_cast<size_t>(text.len));
    if (mirrored != nullptr) return StrView{mirrored, text.len};
  }
  return {};
}

}  // namespace strom::engine::device
