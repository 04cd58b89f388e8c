#include "geo/build_cell_index.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
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

/// The geometries of one task.
struct Share {
  size_t first = 0, end = 0;
  char* prepared = nullptr;      // one image behind the other, with room for the most that there can be
  int64_t prepared_size = 0;     // bytes
  std::vector<int64_t> offsets;  // in `prepared`
  std::vector<Box> boxes;        // empty: no point lies in it
  Box box = Box::empty();
  int64_t edges = 0;
  int32_t srid = 0;
  bool any = false, mixed_srid = false, everywhere = false;
  PlacedEntries entries;
};

/// The box of a geometry that PostGIS decides about: points outside are outside for it, too. False: it has none.
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

void prepare(const GeometryBytes& geometry, GeometryForm form, Share* share) {
  share->offsets.push_back(share->prepared_size);
  share->boxes.push_back(Box::empty());
  if (geometry.bytes == nullptr) return;
  const Rings rings = form == GeometryForm::kSerialized ? read_rings(geometry.bytes, geometry.size)
                                                        : read_wkb_rings(geometry.bytes, geometry.size);
  if (share->any && rings.srid != share->srid) share->mixed_srid = true;
  share->srid = rings.srid;
  share->any = true;
  Box box = rings.box;
  if (!rings.decidable && !(read_box(geometry, form, &box) && box.fits_floats())) {
    share->everywhere = true;
    box = Box::empty();
  }
  const std::vector<char> image = prepare_polygon(rings, Raster::kNone);
  if (rings.decidable && !box.is_empty()) box.min_x = PreparedPolygon(image.data()).header().left;
  share->boxes.back() = box;
  if (!box.is_empty()) share->box.add(box);
  std::memcpy(share->prepared + share->prepared_size, image.data(), image.size());
  share->prepared_size += aligned(static_cast<int64_t>(image.size()));
  share->edges += static_cast<int64_t>(rings.points.size());
}

/// Boxes of polygons that lie over a place, on average.
double depth_of(const std::vector<Share>& shares, const Box& box) {
  const auto area_of = [](const Box& one) { return (one.max_x - one.min_x) * (one.max_y - one.min_y); };
  double covered = 0;
  for (const Share& share : shares)
    for (const Box& one : share.boxes)
      if (!one.is_empty()) covered += area_of(one);
  const double depth = box.is_empty() ? 0 : covered / area_of(box);
  return is_finite(depth) ? depth : 1;
}

/// Columns and rows of about square cells.
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

/// Counts the entries that cells need, those of a single whole cell being none: `cells` has kWholeCell and the polygon,
/// or the number of entries. Returns the number of all, with the one that is not used.
int64_t count_entries(const std::vector<Share>& shares, std::span<uint32_t> cells) {
  int64_t entries = 1;
  std::fill(cells.begin(), cells.end(), 0);
  for (const Share& share : shares)
    for (const PlacedEntry& placed : share.entries)
      for (uint32_t i = 0; i < placed.cells; ++i) {
        uint32_t& cell = cells[placed.cell + i];
        if (cell == 0 && placed.entry.kind == EntryKind::kWhole) {
          cell = kWholeCell | placed.entry.polygon;
          continue;
        }
        if ((cell & kWholeCell) != 0) {
          cell = 1;
          ++entries;
        }
        ++cell;
        ++entries;
      }
  return entries;
}

/// From counts to first entries, and the entries into the order of their cells, polygons in order within.
void scatter(const std::vector<Share>& shares, std::span<uint32_t> cells, CellEntry* entries) {
  entries[0] = {};
  uint32_t end = 1;
  for (uint32_t& cell : cells) {
    const uint32_t count = cell;
    if (count == 0 || (count & kWholeCell) != 0) continue;
    end += count;
    cell = end;
    for (uint32_t k = 1; k <= count; ++k) entries[end - k].last = k == 1;
  }
  for (size_t s = shares.size(); s-- > 0;)  // backwards, so that what is left are the first entries
    for (size_t i = shares[s].entries.size(); i-- > 0;) {
      const PlacedEntry& placed = shares[s].entries[i];
      for (uint32_t k = 0; k < placed.cells; ++k) {
        uint32_t& cell = cells[placed.cell + k];
        if ((cell & kWholeCell) != 0) continue;
        CellEntry entry = placed.entry;
        entry.last = entries[--cell].last;
        entries[cell] = entry;
      }
    }
}

/// Grows an image by parts. What has not been written takes no memory.
class Image {
 public:
  int64_t place(int64_t bytes) { return std::exchange(end_, end_ + aligned(bytes)); }
  void reserve() { words_.resize(std::max(words_.size(), words_of(end_))); }
  /// Gives back what is behind.
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

/// Makes the prepared polygons, behind what the image has, without gaps between those of different tasks.
void prepare_all(std::span<const GeometryBytes> geometries, const CellIndexOptions& options, std::vector<Share>* shares,
                 Image* image) {
  const int64_t begin = image->end();
  size_t bytes = 0;
  std::vector<int64_t> places;
  for (Share& share : *shares) {
    const auto task = static_cast<size_t>(&share - shares->data());
    share.first = geometries.size() * task / shares->size();
    share.end = geometries.size() * (task + 1) / shares->size();
    size_t most = 0;
    for (size_t i = share.first; i < share.end; ++i) {
      most += most_prepared_bytes(static_cast<size_t>(geometries[i].size));
      bytes += static_cast<size_t>(geometries[i].size);
    }
    places.push_back(image->place(static_cast<int64_t>(most)));
  }
  // Cells and entries come behind. Room for as many as there are as a rule, so that nothing moves then.
  constexpr double kBytesOfEdge = 2 * sizeof(CellEntry), kBytesOfCell = sizeof(uint32_t);
  const double edges = static_cast<double>(bytes) / sizeof(Point);
  const int64_t end = image->end();
  image->place(static_cast<int64_t>(edges * (kBytesOfEdge + options.cells_of_edge * kBytesOfCell)) + (1 << 16));
  image->reserve();
  for (Share& share : *shares) share.prepared = image->bytes() + places[static_cast<size_t>(&share - shares->data())];
  image->cut(end);
  options.run(static_cast<int>(shares->size()), [&](int task) {
    Share& share = (*shares)[static_cast<size_t>(task)];
    for (size_t i = share.first; i < share.end; ++i) prepare(geometries[i], options.form, &share);
  });
  image->cut(begin);
  for (Share& share : *shares) {
    char* at = image->bytes() + image->place(share.prepared_size);
    std::memmove(at, share.prepared, static_cast<size_t>(share.prepared_size));
    share.prepared = at;
  }
}

}  // namespace

void run_in_turn(int tasks, const std::function<void(int)>& task) {
  for (int i = 0; i < tasks; ++i) task(i);
}

base::LargeVector<uint64_t> build_cell_index(std::span<const GeometryBytes> geometries,
                                             const CellIndexOptions& options) {
  std::vector<Share> shares(static_cast<size_t>(std::max(options.tasks, 1)));
  const auto tasks = static_cast<int>(shares.size());
  CellIndexHeader h{};
  h.version = CellIndex::kVersion;
  h.polygons = static_cast<uint32_t>(geometries.size());
  Image image;
  image.place(sizeof h);
  h.prepared_at = image.place(static_cast<int64_t>(sizeof(int64_t) * geometries.size()));
  prepare_all(geometries, options, &shares, &image);

  Box box = Box::empty();
  int64_t edges = 0;
  bool any = false;
  for (const Share& share : shares) {
    if (!share.box.is_empty()) box.add(share.box);
    edges += share.edges;
    h.everywhere |= share.everywhere;
    if (!share.any) continue;
    h.mixed_srid |= share.mixed_srid || (any && share.srid != h.srid);
    h.srid = share.srid;
    any = true;
  }
  constexpr double kUsualDepth = 4;  // a cell has an entry for each polygon, so those that cover each other get fewer
  choose_grid(box, edges, options.cells_of_edge / std::max(1.0, depth_of(shares, box) / kUsualDepth), &h);
  if (image.end() / kAlignment > UINT32_MAX) return {};

  options.run(tasks, [&](int task) {
    Share& share = shares[static_cast<size_t>(task)];
    share.entries.reserve(static_cast<size_t>(share.edges));
    CellsOfPolygon cells(h, &share.entries);
    for (size_t i = share.first; i < share.end; ++i) {
      if (share.boxes[i - share.first].is_empty()) continue;
      const char* at = share.prepared + share.offsets[i - share.first];
      const PreparedPolygon polygon(at);
      const int64_t points = at - image.bytes() + polygon.header().points_at;
      cells.add(static_cast<uint32_t>(i), polygon, share.boxes[i - share.first],
                static_cast<uint32_t>(points / kAlignment));
    }
  });

  const size_t count = static_cast<size_t>(h.columns) * static_cast<size_t>(h.rows);
  h.cells_at = image.place(static_cast<int64_t>(sizeof(uint32_t) * count));
  image.reserve();
  const int64_t entries = count_entries(shares, {reinterpret_cast<uint32_t*>(image.bytes() + h.cells_at), count});
  h.entries_at = image.place(static_cast<int64_t>(sizeof(CellEntry)) * entries);
  h.size = image.end();
  if (entries >= kWholeCell || h.polygons >= kWholeCell || h.size / kAlignment > UINT32_MAX) return {};
  h.entries = static_cast<uint32_t>(entries);
  image.reserve();

  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= kAlignment);
  char* bytes = image.bytes();
  std::memcpy(bytes, &h, sizeof h);
  auto* offsets = reinterpret_cast<int64_t*>(bytes + h.prepared_at);
  int64_t prepared = h.prepared_at + aligned(static_cast<int64_t>(sizeof(int64_t) * geometries.size()));
  for (const Share& share : shares) {
    for (size_t i = share.first; i < share.end; ++i) offsets[i] = prepared + share.offsets[i - share.first];
    prepared += share.prepared_size;
  }
  scatter(shares, {reinterpret_cast<uint32_t*>(bytes + h.cells_at), count},
          reinterpret_cast<CellEntry*>(bytes + h.entries_at));
  return image.take();
}

}  // namespace strom::geo
