#include "geo/prepare_polygon.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include "geo/cells_of_edge.hpp"

namespace strom::geo {

namespace {

constexpr uint32_t kMostStripes = 1 << 20;
constexpr int64_t kMostRunsOfEdge = 4;  // on average; long edges would fill many stripes

/// The runs of each stripe, in order of rings.
class Stripes {
 public:
  Stripes(const Rings& rings, const PreparedPolygon& polygon) : rings_(rings), polygon_(polygon) {}

  int64_t count() {
    int64_t runs = 0;
    for_each_edge([&](uint32_t, uint32_t, uint32_t stripe, bool continues) { runs += !continues && stripe != kNone; });
    return runs;
  }
  /// `starts` has one entry more than there are stripes.
  void fill(uint32_t* starts, uint32_t stripes, EdgeRun* runs) {
    std::fill(starts, starts + stripes + 1, 0);
    for_each_edge([&](uint32_t, uint32_t, uint32_t stripe, bool continues) { starts[stripe + 1] += !continues; });
    for (uint32_t i = 0; i < stripes; ++i) starts[i + 1] += starts[i];
    std::vector<uint32_t> next(starts, starts + stripes);
    for_each_edge([&](uint32_t point, uint32_t ring, uint32_t stripe, bool continues) {
      if (continues)
        ++runs[next[stripe] - 1].count;
      else
        runs[next[stripe]++] = {point, 1, ring};
    });
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// f(first point, ring, stripe, continues) for each stripe of each edge. `continues`: the ring's previous edge is in
  /// the stripe, too.
  template <class F>
  void for_each_edge(F&& f) {
    for (uint32_t r = 0; r < rings_.rings.size(); ++r) {
      const PreparedRing& ring = rings_.rings[r];
      uint32_t before_low = 1, before_high = 0;
      uint32_t b = polygon_.stripe_of(rings_.points[ring.first_point].y);
      for (uint32_t i = ring.first_point; i + 1 < ring.first_point + ring.count; ++i) {
        const uint32_t a = std::exchange(b, polygon_.stripe_of(rings_.points[i + 1].y));
        const uint32_t low = std::min(a, b), high = std::max(a, b);
        for (uint32_t stripe = low; stripe <= high; ++stripe)
          f(i, r, stripe, before_low <= stripe && stripe <= before_high);
        before_low = low;
        before_high = high;
      }
    }
  }

  const Rings& rings_;
  const PreparedPolygon& polygon_;
};

bool has_doubtful_edges(const Rings& rings) {
  bool any = false;
  for (const PreparedRing& ring : rings.rings) {
    const Point* points = rings.points.data() + ring.first_point;
    for (uint32_t i = 0; i + 1 < ring.count; ++i) any |= is_doubtful(points[i], points[i + 1]);
  }
  return any;
}

double scale_of(double extent, double count) {
  constexpr double kLeastExtent = 1e-100;
  return extent > kLeastExtent ? count / extent : 0;
}

uint8_t raster_bits_for(size_t points) {
  uint8_t bits = 6;
  while (bits < 8 && (size_t{1} << (2 * bits)) < 64 * points) ++bits;
  return bits;
}

/// Fills the cells that no edge touches. One point answers for all neighbouring cells of a row.
void fill_raster(const PreparedPolygon& polygon, uint8_t* cells) {
  const PreparedHeader& h = polygon.header();
  const int32_t side = 1 << h.raster_bits;
  constexpr uint8_t kUnknown = 0xFE;
  std::memset(cells, kUnknown, static_cast<size_t>(side) * side);
  const auto in_cells = [&](Point p) {
    return Point{(p.x - h.box.min_x) * h.cell_scale_x, (p.y - h.box.min_y) * h.cell_scale_y};
  };
  for (uint32_t r = 0; r < h.rings; ++r) {
    const PreparedRing& ring = polygon.rings()[r];
    for (uint32_t i = ring.first_point; i + 1 < ring.first_point + ring.count; ++i)
      for_cells_of_edge({side, 0, side - 1}, in_cells(polygon.points()[i]), in_cells(polygon.points()[i + 1]),
                        [&](int32_t row, int32_t first, int32_t last) {
                          if (is_doubtful(polygon.points()[i], polygon.points()[i + 1])) first = 0;
                          std::memset(cells + row * side + first, PreparedPolygon::kBorder, last - first + 1);
                        });
  }
  for (int32_t row = 0; row < side; ++row) {
    uint8_t known = PreparedPolygon::kBorder;
    for (int32_t column = 0; column < side; ++column) {
      uint8_t& cell = cells[row * side + column];
      if (cell == kUnknown) {
        if (known == PreparedPolygon::kBorder) {
          const Point middle{h.box.min_x + (column + 0.5) / h.cell_scale_x, h.box.min_y + (row + 0.5) / h.cell_scale_y};
          known = static_cast<uint8_t>(polygon.locate_by_edges(middle));
        }
        cell = known;
      } else {
        known = PreparedPolygon::kBorder;
      }
    }
  }
}

/// The most stripes of a polygon. A polygon of few points behind an index has one stripe, because few points get past
/// the index.
uint32_t most_stripes(size_t points, Raster raster) {
  constexpr size_t kFewPoints = 512;
  if (raster == Raster::kNone && points <= kFewPoints) return 1;
  return static_cast<uint32_t>(std::min<size_t>(kMostStripes, points / 4 + 4));
}

/// The header of an image: sizes and places.
PreparedHeader lay_out(const Rings& rings, Raster raster) {
  PreparedHeader h{};
  h.magic = PreparedHeader::kMagic;
  h.srid = rings.srid;
  h.version = PreparedPolygon::kVersion;
  h.box = rings.box;
  h.size = sizeof h;
  h.decidable = rings.decidable;
  if (!rings.decidable || rings.rings.empty()) {
    h.box = Box::empty();
    return h;
  }
  h.rings = static_cast<uint32_t>(rings.rings.size());
  h.points = static_cast<uint32_t>(rings.points.size());
  // For points just to the left of the polygon, PostGIS's rounded arithmetic can miss that an edge is to the right.
  constexpr double kNear = 1e-14;
  h.left = h.box.min_x - kNear * (h.box.max_x - h.box.min_x);
  // PostGIS compares boxes of floats first, so it looks at no edge for points that are farther to the left.
  if (has_doubtful_edges(rings)) h.left -= float_rounding(h.box);
  const double width = h.box.max_x - h.box.min_x, height = h.box.max_y - h.box.min_y;
  h.cell_scale_x = scale_of(width, 1), h.cell_scale_y = scale_of(height, 1);
  const uint8_t bits = raster_bits_for(rings.points.size());
  if (raster == Raster::kWith && h.cell_scale_x > 0 && h.cell_scale_y > 0 &&
      std::min(width, height) > least_cell(h.box) * (1 << bits)) {
    h.raster_bits = bits;
    h.cell_scale_x = scale_of(width, 1 << h.raster_bits);
    h.cell_scale_y = scale_of(height, 1 << h.raster_bits);
  }
  const PreparedPolygon sizes(reinterpret_cast<const char*>(&h));  // computes the stripe of a height
  Stripes stripes(rings, sizes);
  int64_t runs = h.rings;
  for (h.stripes = most_stripes(h.points, raster); h.stripes > 1; h.stripes /= 2) {
    h.stripe_scale = scale_of(height, h.stripes);
    runs = stripes.count();
    if (runs <= kMostRunsOfEdge * h.points) break;
  }
  if (h.stripes == 1) {
    h.stripe_scale = scale_of(height, 1);
    runs = h.rings;
  }
  h.runs = static_cast<uint32_t>(runs);
  const auto place = [&](size_t bytes) {
    const int64_t at = h.size;
    h.size += static_cast<int64_t>((bytes + 15) & ~size_t{15});
    return at;
  };
  h.size = 0;
  place(sizeof h);
  h.points_at = place(sizeof(Point) * h.points);
  h.rings_at = place(sizeof(PreparedRing) * h.rings);
  h.stripes_at = place(sizeof(uint32_t) * (h.stripes + 1));
  h.runs_at = place(sizeof(EdgeRun) * h.runs);
  h.cells_at = place(h.raster_bits == 0 ? 0 : size_t{1} << (2 * h.raster_bits));
  return h;
}

/// One stripe has a run for each ring.
void fill_only_stripe(const Rings& rings, uint32_t* starts, EdgeRun* runs) {
  starts[0] = 0;
  starts[1] = static_cast<uint32_t>(rings.rings.size());
  for (uint32_t r = 0; r < starts[1]; ++r) runs[r] = {rings.rings[r].first_point, rings.rings[r].count - 1, r};
}

void write(const PreparedHeader& h, const Rings& rings, char* image) {
  std::memcpy(image, &h, sizeof h);
  if (h.rings == 0) return;
  std::memset(image + sizeof h, 0, static_cast<size_t>(h.points_at) - sizeof h);
  std::memcpy(image + h.points_at, rings.points.data(), sizeof(Point) * h.points);
  std::memcpy(image + h.rings_at, rings.rings.data(), sizeof(PreparedRing) * h.rings);
  std::memset(image + h.stripes_at, 0, static_cast<size_t>(h.size - h.stripes_at));  // padding between parts, too
  auto* starts = reinterpret_cast<uint32_t*>(image + h.stripes_at);
  auto* runs = reinterpret_cast<EdgeRun*>(image + h.runs_at);
  if (h.stripes == 1)
    fill_only_stripe(rings, starts, runs);
  else
    Stripes(rings, PreparedPolygon(image)).fill(starts, h.stripes, runs);
  if (h.raster_bits != 0) fill_raster(PreparedPolygon(image), reinterpret_cast<uint8_t*>(image + h.cells_at));
}

}  // namespace

double float_rounding(const Box& box) {
  constexpr double kRounding = 1e-6, kLeast = 1e-37;
  const double reach = std::max({std::abs(box.min_x), std::abs(box.max_x), std::abs(box.min_y), std::abs(box.max_y)});
  return reach * kRounding + kLeast;
}

double least_cell(const Box& box) {
  constexpr double kSteps = 64 * std::numeric_limits<double>::epsilon();
  return kSteps * std::max({std::abs(box.min_x), std::abs(box.max_x), std::abs(box.min_y), std::abs(box.max_y)});
}

size_t most_prepared_bytes(size_t points, size_t rings) {
  constexpr size_t kPadding = 16, kParts = 4;
  const size_t stripes = most_stripes(points, Raster::kNone);
  const size_t runs = stripes == 1 ? rings : kMostRunsOfEdge * points;
  return sizeof(PreparedHeader) + sizeof(Point) * points + sizeof(PreparedRing) * rings +
         sizeof(uint32_t) * (stripes + 1) + sizeof(EdgeRun) * runs + kPadding * kParts;
}

size_t prepare_polygon(const Rings& rings, Raster raster, char* room) {
  const PreparedHeader h = lay_out(rings, raster);
  write(h, rings, room);
  return static_cast<size_t>(h.size);
}

std::vector<char> prepare_polygon(const Rings& rings, Raster raster) {
  const PreparedHeader h = lay_out(rings, raster);
  std::vector<char> image(static_cast<size_t>(h.size));
  write(h, rings, image.data());
  return image;
}

}  // namespace strom::geo
