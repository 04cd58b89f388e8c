#include "geo/build_cell_index.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "geo/cells_of_edge.hpp"
#include "geo/cells_of_polygon.hpp"
#include "geo/prepare_polygon.hpp"

namespace strom::geo {

namespace {

constexpr int64_t kLeastCells = 64, kMostCells = int64_t{1} << 26;
constexpr int32_t kMostColumns = 1 << 15;
constexpr int64_t kAlignment = static_cast<int64_t>(sizeof(Point));  // of prepared polygons, in the image

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// The geometries of all tasks.
struct Polygons {
  std::vector<int64_t> at;  // offsets of the prepared ones in the image
  std::vector<Box> boxes;   // empty: no point lies in it
  std::vector<uint32_t> edges;
};

/// The geometries of one task.
struct Share {
  size_t first = 0, end = 0;
  Rings rings;                // of the geometry at hand
  int64_t prepared_at = 0;    // in the image: the polygons of the share, consecutive, with room for the most
  int64_t room = 0;           // bytes
  int64_t prepared_size = 0;  // bytes
  Box box = Box::empty();
  int32_t srid = 0;
  bool any = false, mixed_srid = false, everywhere = false;
};

/// Runs f(task, number) for each number below `count`. A task that is free takes the next number.
template <class F>
void run_each(const CellIndexOptions& options, size_t count, F&& f) {
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  options.run(std::max(options.tasks, 1), [&](int task) {
    try {
      for (size_t i; (i = next.fetch_add(1)) < count;) f(static_cast<size_t>(task), i);
    } catch (...) {
      const std::lock_guard guard(failing);
      failure = std::current_exception();
    }
  });
  if (failure != nullptr) std::rethrow_exception(failure);
}

/// The box outside of which every point is outside of the geometry, for PostGIS, too. False: there is no such box.
bool read_box(const GeometryBytes& geometry, GeometryForm form, Box* box) {
  SerializedGeometry opened;
  if (form != GeometryForm::kSerialized || !SerializedGeometry::open(geometry.bytes, geometry.size, &opened))
    return false;
  *box = Box::empty();
  if (!opened.stored_box(box)) {
    SerializedPaths paths(opened);
    Path path;
    Step step;
    while ((step = paths.next(&path)) == Step::kPath)
      for (int64_t i = 0; i < path.count; ++i) {
        const Point point = path.points.point(i);
        if (!is_finite(point)) return false;
        box->add(point);
      }
    if (step == Step::kDamaged) return false;
    if (box->is_empty()) return true;
  }
  if (!box->is_finite()) return false;
  *box = box->expanded(float_rounding(*box));
  return true;
}

void prepare(const GeometryBytes& geometry, GeometryForm form, size_t number, char* image, Share* share,
             Polygons* polygons) {
  polygons->at[number] = share->prepared_at + share->prepared_size;
  if (geometry.bytes == nullptr) return;
  Rings& rings = share->rings;
  read_rings(geometry.bytes, geometry.size, form, &rings);
  if (share->any && rings.srid != share->srid) share->mixed_srid = true;
  share->srid = rings.srid;
  share->any = true;
  Box box = rings.box;
  if (!rings.decidable && !(read_box(geometry, form, &box) && box.fits_floats())) {
    share->everywhere = true;
    box = Box::empty();
  }
  char* room = image + polygons->at[number];
  share->prepared_size += aligned(static_cast<int64_t>(prepare_polygon(rings, Raster::kNone, room)));
  if (rings.decidable && !box.is_empty()) box.min_x = PreparedPolygon(room).header().left;
  polygons->boxes[number] = box;
  if (!box.is_empty()) share->box.add(box);
  polygons->edges[number] = static_cast<uint32_t>(rings.points.size());
}

/// How many of the boxes lie over a place, on average.
double depth_of(const std::vector<Box>& boxes, const Box& box) {
  const auto area_of = [](const Box& one) { return (one.max_x - one.min_x) * (one.max_y - one.min_y); };
  double covered = 0;
  for (const Box& one : boxes)
    if (!one.is_empty()) covered += area_of(one);
  const double depth = box.is_empty() ? 0 : covered / area_of(box);
  return is_finite(depth) ? depth : 1;
}

/// Chooses columns and rows so that cells are about square.
void choose_grid(const Box& box, int64_t edges, double cells_of_edge, CellIndexHeader* h) {
  h->box = box;
  h->columns = h->rows = 1;
  h->scale_x = h->scale_y = 0;
  h->step_x = h->step_y = 0;
  if (box.is_empty()) return;
  const double cells = std::clamp(static_cast<double>(edges) * cells_of_edge, static_cast<double>(kLeastCells),
                                  static_cast<double>(kMostCells));
  const double width = box.max_x - box.min_x, height = box.max_y - box.min_y;
  constexpr double kLeastExtent = 1e-100;
  const double least = std::max(least_cell(box), kLeastExtent / kMostColumns);
  const auto count = [&](double wanted, double extent) {
    return static_cast<int32_t>(std::clamp(wanted, 1.0, std::clamp(extent / least, 1.0, double{kMostColumns})));
  };
  if (width > kLeastExtent)
    h->columns = count(height > kLeastExtent ? std::sqrt(cells * (width / height)) : cells, width);
  if (height > kLeastExtent) h->rows = count(cells / h->columns, height);
  if (width > kLeastExtent) h->scale_x = h->columns / width;
  if (height > kLeastExtent) h->scale_y = h->rows / height;
  h->step_x = width / h->columns;
  h->step_y = height / h->rows;
}

/// Bands of the grid's rows, and the polygons that reach each band. A band's entries are made, counted and sorted while
/// they are in the processor's cache.
class Bands {
 public:
  Bands(const CellIndexHeader& h, const Polygons& polygons, size_t tasks) {
    choose_rows(h, polygons, tasks);
    starts_.assign((static_cast<size_t>(h.rows) + rows_ - 1) / rows_ + 1, 0);
    for_each(h, polygons, [&](size_t band, uint32_t) { ++starts_[band + 1]; });
    for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    polygons_.resize(starts_.back());
    std::vector<size_t> next(starts_.begin(), starts_.end() - 1);
    for_each(h, polygons, [&](size_t band, uint32_t polygon) { polygons_[next[band]++] = polygon; });
  }

  size_t count() const { return starts_.size() - 1; }
  int32_t first_row(size_t band) const { return static_cast<int32_t>(band * rows_); }
  /// `rows`: rows of the grid.
  int32_t end_row(size_t band, int32_t rows) const {
    return static_cast<int32_t>(std::min(static_cast<size_t>(rows), (band + 1) * rows_));
  }
  std::span<const uint32_t> polygons(size_t band) const {
    return std::span(polygons_).subspan(starts_[band], starts_[band + 1] - starts_[band]);
  }

 private:
  /// Each band goes through all edges of the polygons that reach it, so large polygons make bands large.
  void choose_rows(const CellIndexHeader& h, const Polygons& polygons, size_t tasks) {
    constexpr double kAgain = 0.3;  // the part of the edges that is gone through more than once, as a rule
    constexpr double kBandsOfTask = 128;
    double edges = 1, reached = 0;
    for (size_t i = 0; i < polygons.boxes.size(); ++i) {
      if (polygons.boxes[i].is_empty()) continue;
      const GridWindow window = window_of(h, polygons.boxes[i]);
      edges += polygons.edges[i];
      reached += polygons.edges[i] * static_cast<double>(window.top - window.bottom);
    }
    const auto rows = static_cast<double>(h.rows), fewest = static_cast<double>(tasks);
    const double most = std::ceil(rows / fewest), least = std::min(most, std::ceil(rows / (fewest * kBandsOfTask)));
    rows_ = static_cast<size_t>(std::clamp(std::ceil(reached / (kAgain * edges)), least, most));
  }
  template <class F>
  void for_each(const CellIndexHeader& h, const Polygons& polygons, F&& f) {
    for (size_t i = 0; i < polygons.boxes.size(); ++i) {
      if (polygons.boxes[i].is_empty()) continue;
      const GridWindow window = window_of(h, polygons.boxes[i]);
      for (size_t band = static_cast<size_t>(window.bottom) / rows_; band <= static_cast<size_t>(window.top) / rows_;
           ++band)
        f(band, static_cast<uint32_t>(i));
    }
  }

  size_t rows_ = 1;             // of a band
  std::vector<size_t> starts_;  // of each band, in polygons_
  std::vector<uint32_t> polygons_;
};

/// Counts the entries that cells need. A cell that is whole and has one polygon needs none. `cells` are the grid's
/// cells from `first` on: each becomes kWholeCell and the polygon, or its number of entries.
uint32_t count_entries(const PlacedEntries& entries, uint32_t first, std::span<uint32_t> cells) {
  uint32_t count = 0;
  std::fill(cells.begin(), cells.end(), 0);
  for (const PlacedEntry& placed : entries)
    for (uint32_t i = 0; i < placed.cells(); ++i) {
      uint32_t& cell = cells[placed.cell - first + i];
      if (cell == 0 && placed.entry.kind == EntryKind::kWhole) {
        cell = kWholeCell | placed.entry.polygon;
        continue;
      }
      if ((cell & kWholeCell) != 0) {
        cell = 1;
        ++count;
      }
      ++cell;
      ++count;
    }
  return count;
}

/// Turns the counts of cells into first entries, and sorts the entries by cell, then by polygon. `end`: the number of
/// entries before these.
void scatter(const PlacedEntries& placed_entries, uint32_t first, uint32_t end, std::span<uint32_t> cells,
             CellEntry* entries) {
  for (uint32_t& cell : cells) {
    const uint32_t count = cell;
    if (count == 0 || (count & kWholeCell) != 0) continue;
    end += count;
    cell = end;
    for (uint32_t k = 1; k <= count; ++k) entries[end - k].last = k == 1;
  }
  for (size_t i = placed_entries.size(); i-- > 0;) {  // backwards, so that each cell ends with its first entry
    const PlacedEntry& placed = placed_entries[i];
    for (uint32_t k = 0; k < placed.cells(); ++k) {
      uint32_t& cell = cells[placed.cell - first + k];
      if ((cell & kWholeCell) != 0) continue;
      CellEntry entry = placed.entry;
      if (entry.kind == EntryKind::kWhole) entry.first_point = 0;
      entry.last = entries[--cell].last;
      entries[cell] = entry;
    }
  }
}

/// An image that grows part by part. Unwritten parts take no memory.
class Image {
 public:
  int64_t place(int64_t bytes) { return std::exchange(end_, end_ + aligned(bytes)); }
  void reserve() { words_.resize(std::max(words_.size(), words_of(end_))); }
  /// Cuts off what is behind `end`.
  void cut(int64_t end) { end_ = end; }
  int64_t end() const { return end_; }
  char* bytes() { return reinterpret_cast<char*>(words_.data()); }
  base::LargeVector<uint64_t> take() {
    words_.resize(words_of(end_));
    return std::move(words_);
  }

 private:
  static size_t words_of(int64_t bytes) { return static_cast<size_t>(bytes) / sizeof(uint64_t) + 1; }
  base::LargeVector<uint64_t> words_;
  int64_t end_ = 0;
};

/// Makes the prepared polygons, behind what the image already has.
void prepare_all(std::span<const GeometryBytes> geometries, const CellIndexOptions& options, std::vector<Share>* shares,
                 Image* image, Polygons* polygons) {
  polygons->at.resize(geometries.size());
  polygons->boxes.resize(geometries.size(), Box::empty());
  polygons->edges.resize(geometries.size());
  run_each(options, shares->size(), [&](size_t, size_t number) {
    Share& share = (*shares)[number];
    share.first = geometries.size() * number / shares->size();
    share.end = geometries.size() * (number + 1) / shares->size();
    for (size_t i = share.first; i < share.end; ++i) {
      if (geometries[i].bytes == nullptr) continue;
      const RingCounts counts = count_rings(geometries[i].bytes, geometries[i].size, options.form);
      share.room += aligned(static_cast<int64_t>(most_prepared_bytes(counts.points, counts.rings)));
    }
  });
  const int64_t begin = image->end();
  int64_t bytes = 0;
  for (const GeometryBytes& geometry : geometries) bytes += geometry.size;
  for (Share& share : *shares) share.prepared_at = image->place(share.room);
  // Cells and entries come behind the polygons. Reserves room for their usual number, so that the image rarely moves.
  constexpr double kBytesOfEdge = 3 * sizeof(CellEntry), kBytesOfCell = sizeof(uint32_t);
  const double edges = static_cast<double>(bytes) / sizeof(Point);
  const int64_t end = image->end();
  image->place(static_cast<int64_t>(edges * (kBytesOfEdge + options.cells_of_edge * kBytesOfCell)) + (1 << 16));
  image->reserve();
  run_each(options, shares->size(), [&](size_t, size_t number) {
    Share& share = (*shares)[number];
    for (size_t i = share.first; i < share.end; ++i)
      prepare(geometries[i], options.form, i, image->bytes(), &share, polygons);
  });
  image->cut(end);
  int64_t used = 0;
  for (const Share& share : *shares) used += share.prepared_size;
  constexpr int64_t kMostUnused = 8;  // an eighth
  if (end - begin - used <= used / kMostUnused) return;
  image->cut(begin);
  for (const Share& share : *shares) {
    const int64_t at = image->place(share.prepared_size);
    std::memmove(image->bytes() + at, image->bytes() + share.prepared_at, static_cast<size_t>(share.prepared_size));
    for (size_t i = share.first; i < share.end; ++i) polygons->at[i] += at - share.prepared_at;
  }
}

/// Fills the cells and the entries, band by band. Returns the number of entries, with the unused one. If it is larger
/// than `room`, some entries have not been written.
uint64_t fill_cells(const CellIndexHeader& h, const CellIndexOptions& options, const Polygons& polygons, char* image,
                    uint64_t room) {
  struct Work {
    PlacedEntries placed;
    CellsOfPolygon cells;
    explicit Work(const CellIndexHeader& h) : cells(h, &placed) {}
  };
  const auto tasks = static_cast<size_t>(std::max(options.tasks, 1));
  std::vector<std::unique_ptr<Work>> works;
  works.reserve(tasks);
  for (size_t i = 0; i < tasks; ++i) works.push_back(std::make_unique<Work>(h));
  const Bands bands(h, polygons, tasks);
  auto* cells = reinterpret_cast<uint32_t*>(image + h.cells_at);
  auto* entries = reinterpret_cast<CellEntry*>(image + h.entries_at);
  entries[0] = {};
  std::atomic<uint64_t> end = 1;
  run_each(options, bands.count(), [&](size_t task, size_t band) {
    Work& work = *works[task];
    work.placed.clear();
    const int32_t first_row = bands.first_row(band), end_row = bands.end_row(band, h.rows);
    for (const uint32_t i : bands.polygons(band)) {
      GridWindow window = window_of(h, polygons.boxes[i]);
      window.bottom = std::max(window.bottom, first_row);
      window.top = std::min(window.top, end_row - 1);
      const PreparedPolygon polygon(image + polygons.at[i]);
      const int64_t points = polygons.at[i] + polygon.header().points_at;
      work.cells.add(i, polygon, window, static_cast<uint32_t>(points / kAlignment));
    }
    const auto columns = static_cast<uint32_t>(h.columns), first = static_cast<uint32_t>(first_row) * columns;
    const std::span<uint32_t> own(cells + first, static_cast<size_t>(end_row - first_row) * columns);
    const uint32_t count = count_entries(work.placed, first, own);
    const uint64_t before = end.fetch_add(count);
    if (before + count <= room) scatter(work.placed, first, static_cast<uint32_t>(before), own, entries);
  });
  return end;
}

}  // namespace

void run_in_turn(int tasks, const std::function<void(int)>& task) {
  for (int i = 0; i < tasks; ++i) task(i);
}

base::LargeVector<uint64_t> build_cell_index(std::span<const GeometryBytes> geometries,
                                             const CellIndexOptions& options) {
  std::vector<Share> shares(static_cast<size_t>(std::max(options.tasks, 1)));
  CellIndexHeader h{};
  h.version = CellIndex::kVersion;
  h.polygons = static_cast<uint32_t>(geometries.size());
  Image image;
  Polygons polygons;
  image.place(sizeof h);
  h.prepared_at = image.place(static_cast<int64_t>(sizeof(int64_t) * geometries.size()));
  prepare_all(geometries, options, &shares, &image, &polygons);

  Box box = Box::empty();
  bool any = false;
  for (const Share& share : shares) {
    if (!share.box.is_empty()) box.add(share.box);
    h.everywhere |= share.everywhere;
    if (!share.any) continue;
    h.mixed_srid |= share.mixed_srid || (any && share.srid != h.srid);
    h.srid = share.srid;
    any = true;
  }
  const int64_t edges = std::accumulate(polygons.edges.begin(), polygons.edges.end(), int64_t{0});
  constexpr double kUsualDepth = 4;  // a cell has an entry for each polygon, so those that cover each other get fewer
  choose_grid(box, edges, options.cells_of_edge / std::max(1.0, depth_of(polygons.boxes, box) / kUsualDepth), &h);
  if (image.end() / kAlignment > UINT32_MAX || h.polygons >= kWholeCell) return {};

  h.cells_at = image.place(static_cast<int64_t>(sizeof(uint32_t)) * h.columns * h.rows);
  h.entries_at = image.end();
  constexpr int64_t kEntriesOfEdge = 2, kLeastRoom = 1024;
  uint64_t room = static_cast<uint64_t>(kEntriesOfEdge * edges + kLeastRoom), entries = 0;
  for (;;) {  // a second time where long edges touch many cells each
    image.place(static_cast<int64_t>(sizeof(CellEntry) * room));
    image.reserve();
    entries = fill_cells(h, options, polygons, image.bytes(), room);
    image.cut(h.entries_at);
    if (entries >= kWholeCell) return {};
    if (entries <= room) break;
    room = entries;
  }
  image.place(static_cast<int64_t>(sizeof(CellEntry) * entries));
  h.size = image.end();
  if (h.size / kAlignment > UINT32_MAX) return {};
  h.entries = static_cast<uint32_t>(entries);

  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= kAlignment);
  std::memcpy(image.bytes(), &h, sizeof h);
  std::memcpy(image.bytes() + h.prepared_at, polygons.at.data(), sizeof(int64_t) * polygons.at.size());
  return image.take();
}

}  // namespace strom::geo
