#include "geo/build_cell_index.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "geo/cells_of_edge.hpp"
#include "geo/cells_of_polygon.hpp"
#include "geo/prepare_polygon.hpp"

namespace strom::geo {

namespace {

constexpr int64_t kLeastCells = 64, kMostCells = int64_t{1} << 26;
constexpr int32_t kMostColumns = 1 << 15;
constexpr int64_t kAlignment = static_cast<int64_t>(sizeof(Point));  // of prepared polygons, in the image

/// The geometries of one task.
struct Share {
  size_t first = 0, end = 0;
  base::LargeVector<char> prepared;  // one image behind the other
  std::vector<int64_t> offsets;      // in `prepared`
  std::vector<Box> boxes;            // empty: no point lies in it
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
  share->offsets.push_back(static_cast<int64_t>(share->prepared.size()));
  share->boxes.push_back(Box::empty());
  if (geometry.bytes == nullptr) return;
  const Rings rings = form == GeometryForm::kSerialized ? read_rings(geometry.bytes, geometry.size)
                                                        : read_wkb_rings(geometry.bytes, geometry.size);
  if (share->any && rings.srid != share->srid) share->mixed_srid = true;
  share->srid = rings.srid;
  share->any = true;
  Box box = rings.box;
  if (!rings.decidable &&
      !(read_box(geometry, form, &box) && fits_floats({box.min_x, box.min_y}) && fits_floats({box.max_x, box.max_y}))) {
    share->everywhere = true;
    box = Box::empty();
  }
  const std::vector<char> image = prepare_polygon(rings, Raster::kNone);
  if (rings.decidable && !box.is_empty()) box.min_x = PreparedPolygon(image.data()).header().left;
  share->boxes.back() = box;
  if (!box.is_empty()) share->box.add(box);
  share->prepared.insert(share->prepared.end(), image.begin(), image.end());
  share->prepared.resize((share->prepared.size() + kAlignment - 1) / kAlignment * kAlignment);
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
int64_t count_entries(const std::vector<Share>& shares, base::LargeVector<uint32_t>* cells) {
  int64_t entries = 1;
  for (const Share& share : shares)
    for (const PlacedEntry& placed : share.entries)
      for (uint32_t i = 0; i < placed.cells; ++i) {
        uint32_t& cell = (*cells)[placed.cell + i];
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
void scatter(const std::vector<Share>& shares, const base::LargeVector<uint32_t>& counts, uint32_t* cells,
             CellEntry* entries) {
  entries[0] = {};
  uint32_t end = 1;
  for (size_t i = 0; i < counts.size(); ++i) {
    cells[i] = counts[i];
    if (counts[i] == 0 || (counts[i] & kWholeCell) != 0) continue;
    end += counts[i];
    cells[i] = end;
    for (uint32_t k = 1; k <= counts[i]; ++k) entries[end - k].last = k == 1;
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

}  // namespace

void run_in_turn(int tasks, const std::function<void(int)>& task) {
  for (int i = 0; i < tasks; ++i) task(i);
}

base::LargeVector<uint64_t> build_cell_index(std::span<const GeometryBytes> geometries,
                                             const CellIndexOptions& options) {
  std::vector<Share> shares(static_cast<size_t>(std::max(options.tasks, 1)));
  const auto tasks = static_cast<int>(shares.size());
  options.run(tasks, [&](int task) {
    Share& share = shares[static_cast<size_t>(task)];
    share.first = geometries.size() * static_cast<size_t>(task) / shares.size();
    share.end = geometries.size() * (static_cast<size_t>(task) + 1) / shares.size();
    size_t bytes = 0;
    for (size_t i = share.first; i < share.end; ++i) bytes += static_cast<size_t>(geometries[i].size);
    share.prepared.reserve(bytes * 2);  // memory is taken when it is written
    for (size_t i = share.first; i < share.end; ++i) prepare(geometries[i], options.form, &share);
  });

  CellIndexHeader h{};
  h.version = CellIndex::kVersion;
  h.polygons = static_cast<uint32_t>(geometries.size());
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
  const auto place = [&](int64_t bytes) {
    const int64_t at = h.size;
    h.size += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  };
  place(sizeof h);
  h.prepared_at = place(static_cast<int64_t>(sizeof(int64_t) * geometries.size()));
  std::vector<int64_t> prepared(shares.size());
  for (size_t i = 0; i < shares.size(); ++i) prepared[i] = place(static_cast<int64_t>(shares[i].prepared.size()));

  options.run(tasks, [&](int task) {
    Share& share = shares[static_cast<size_t>(task)];
    share.entries.reserve(static_cast<size_t>(share.edges));
    CellsOfPolygon cells(h, &share.entries);
    for (size_t i = share.first; i < share.end; ++i) {
      if (share.boxes[i - share.first].is_empty()) continue;
      const int64_t offset = share.offsets[i - share.first];
      const PreparedPolygon polygon(share.prepared.data() + offset);
      const int64_t points = prepared[static_cast<size_t>(task)] + offset + polygon.header().points_at;
      cells.add(static_cast<uint32_t>(i), polygon, share.boxes[i - share.first],
                static_cast<uint32_t>(points / kAlignment));
    }
  });

  base::LargeVector<uint32_t> counts(static_cast<size_t>(h.columns) * static_cast<size_t>(h.rows), 0);
  const int64_t entries = count_entries(shares, &counts);
  h.cells_at = place(static_cast<int64_t>(sizeof(uint32_t) * counts.size()));
  h.entries_at = place(static_cast<int64_t>(sizeof(CellEntry)) * entries);
  if (entries >= kWholeCell || h.polygons >= kWholeCell || h.size / kAlignment > UINT32_MAX) return {};
  h.entries = static_cast<uint32_t>(entries);

  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= kAlignment);
  base::LargeVector<uint64_t> image(static_cast<size_t>(h.size) / sizeof(uint64_t) + 1);
  char* bytes = reinterpret_cast<char*>(image.data());
  std::memcpy(bytes, &h, sizeof h);
  auto* offsets = reinterpret_cast<int64_t*>(bytes + h.prepared_at);
  options.run(tasks, [&](int task) {
    const Share& share = shares[static_cast<size_t>(task)];
    std::copy(share.prepared.begin(), share.prepared.end(), bytes + prepared[static_cast<size_t>(task)]);
    for (size_t i = share.first; i < share.end; ++i)
      offsets[i] = prepared[static_cast<size_t>(task)] + share.offsets[i - share.first];
  });
  scatter(shares, counts, reinterpret_cast<uint32_t*>(bytes + h.cells_at),
          reinterpret_cast<CellEntry*>(bytes + h.entries_at));
  return image;
}

}  // namespace strom::geo
