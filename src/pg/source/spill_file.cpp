#include "pg/source/spill_file.hpp"

#include <algorithm>
#include <cerrno>

#include "base/os_error.hpp"
#include "columnar/layout.hpp"
#include "pg/boundary/boundary.hpp"

namespace strom::pg::source {

using boundary::guard;
using columnar::ColumnView;
using columnar::Layout;

namespace {

constexpr int64_t kAlignment = 64;

int64_t values_size(const ColumnView& view) {
  if (view.layout == Layout::kBool) return (view.length + 7) / 8;
  const int64_t rows = view.length + (columnar::has_offsets(view.layout) ? 1 : 0);
  return rows * columnar::value_width(view.layout, view.byte_width);
}

}  // namespace

int64_t SpillFile::write_buffer(const void* bytes, int64_t size) {
  if (bytes == nullptr) return -1;
  constexpr int64_t kMostAtOnce = 1 << 24;
  const int64_t begin = (size_ + kAlignment - 1) / kAlignment * kAlignment;
  for (int64_t done = 0; done < size;) {
    auto* from = const_cast<char*>(static_cast<const char*>(bytes)) + done;
    const int wanted = static_cast<int>(std::min(size - done, kMostAtOnce));
    const File file = file_;
    const int written = guard([=] { return FileWrite(file, from, wanted, begin + done, WAIT_EVENT_BUFFILE_WRITE); });
    if (written <= 0)
      throw boundary::StatusError(base::os_error(written < 0 ? errno : ENOSPC, "could not write to a temporary file"));
    done += written;
  }
  size_ = begin + size;
  return begin;
}

void SpillFile::write(std::span<const ColumnView> batch) {
  if (file_ < 0) {
    file_ = guard([] {
      PrepareTempTablespaces();
      return OpenTemporaryFile(false);
    });
  }
  std::vector<SpilledColumn> places;
  for (const ColumnView& view : batch) {
    SpilledColumn place{view, -1, -1, -1};
    place.validity = write_buffer(view.validity, (view.length + 7) / 8);
    place.values = write_buffer(view.values, values_size(view));
    place.data = write_buffer(view.data, view.data_size);
    places.push_back(place);
  }
  batches_.push_back(std::move(places));
}

void SpillFile::map() {
  if (file_ < 0) return;
  const File file = file_;
  mapped_ = boundary::value_or_throw(base::MappedFile::open(FilePathName(file)));
  file_ = -1;
  guard([=] { FileClose(file); });
}

std::vector<ColumnView> SpillFile::columns(size_t index) const {
  std::vector<ColumnView> columns;
  for (const SpilledColumn& place : batches_[index]) {
    ColumnView view = place.view;
    const uint8_t* base = mapped_->data();
    view.validity = place.validity < 0 ? nullptr : base + place.validity;
    view.values = place.values < 0 ? nullptr : base + place.values;
    view.data = place.data < 0 ? nullptr : reinterpret_cast<const char*>(base) + place.data;
    columns.push_back(view);
  }
  return columns;
}

}  // namespace strom::pg::source
