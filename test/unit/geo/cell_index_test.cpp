// Points in many polygons by the index of cells, against the prepared polygon of each.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

#include "geo/build_cell_index.hpp"
#include "geo/cells_of_edge.hpp"
#include "geo/prepare_polygon.hpp"
#include "geometry_bytes.hpp"

using namespace strom::geo;
using namespace strom::geo::test;

namespace {

using Polygons = std::vector<std::vector<Polygon>>;

class Index {
 public:
  explicit Index(const Polygons& polygons, int tasks = 1, double cells_of_edge = 0.75) {
    for (const auto& polygon : polygons) bytes_.push_back(serialized(polygon));
    for (const std::string& bytes : bytes_) geometries_.push_back({bytes.data(), static_cast<int64_t>(bytes.size())});
    build(tasks, cells_of_edge);
  }
  void build(int tasks, double cells_of_edge) {
    CellIndexOptions options;
    options.tasks = tasks;
    options.cells_of_edge = cells_of_edge;
    options.run = [](int count, const std::function<void(int)>& task) {
      std::vector<std::thread> threads;
      threads.reserve(static_cast<size_t>(count));
      for (int i = 0; i < count; ++i) threads.emplace_back(task, i);
      for (std::thread& thread : threads) thread.join();
    };
    image_ = build_cell_index(geometries_, options);
    prepared_.clear();
    for (const GeometryBytes& geometry : geometries_)
      prepared_.push_back(prepare_polygon(read_rings(geometry.bytes, geometry.size), Raster::kNone));
  }
  void add(const std::string& bytes) { geometries_.push_back({bytes.data(), static_cast<int64_t>(bytes.size())}); }
  void add_null() { geometries_.push_back({nullptr, 0}); }

  CellIndex index() const { return CellIndex(reinterpret_cast<const char*>(image_.data())); }
  std::vector<Answer> answers(Point p) const {
    std::vector<Answer> answers(geometries_.size(), Answer::kOutside);
    index().for_each_polygon(p, [&](uint32_t polygon, Answer answer) { answers[polygon] = answer; });
    return answers;
  }
  std::vector<Answer> expected(Point p) const {
    std::vector<Answer> answers;
    answers.reserve(prepared_.size());
    for (const std::vector<char>& image : prepared_) answers.push_back(PreparedPolygon(image.data()).locate(p));
    return answers;
  }

 private:
  std::vector<std::string> bytes_;
  std::vector<GeometryBytes> geometries_;
  strom::base::LargeVector<uint64_t> image_;
  std::vector<std::vector<char>> prepared_;
};

/// A star of many points, perhaps with a hole.
std::vector<Polygon> random_star(std::mt19937_64* random, double extent) {
  std::uniform_real_distribution<double> unit(0, 1);
  const Point middle{extent * unit(*random), extent * unit(*random)};
  const double size = extent * std::pow(unit(*random), 3) / 4;
  const int points = 3 + static_cast<int>((*random)() % 60);
  const auto ring = [&](double inner, double outer) {
    Ring ring;
    for (int i = 0; i < points; ++i) {
      const double angle = 2 * M_PI * i / points, radius = size * (inner + (outer - inner) * unit(*random));
      ring.push_back({middle.x + radius * std::cos(angle), middle.y + radius * std::sin(angle)});
    }
    ring.push_back(ring[0]);
    return ring;
  };
  Polygon polygon{ring(0.5, 1)};
  if ((*random)() % 3 == 0) polygon.push_back(ring(0.1, 0.45));
  return {polygon};
}

/// Coordinates of a coarse grid: rings that touch, overlap and cross themselves.
std::vector<Polygon> random_scribble(std::mt19937_64* random, double unit) {
  std::vector<Polygon> parts;
  for (uint64_t part = 0; part <= (*random)() % 2; ++part) {
    Polygon polygon;
    for (uint64_t ring = 0; ring <= (*random)() % 2; ++ring) {
      Ring points;
      for (uint64_t i = 0; i < 3 + (*random)() % 8; ++i)
        points.push_back({unit * static_cast<double>((*random)() % 8), unit * static_cast<double>((*random)() % 8)});
      points.push_back(points[0]);
      polygon.push_back(std::move(points));
    }
    parts.push_back(std::move(polygon));
  }
  return parts;
}

TEST(CellIndex, IsTheSameAsPreparedPolygons) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-0.1, 1.1);
  for (int round = 0; round < 20; ++round) {
    const double extent = round % 4 == 0 ? 1e-3 : round % 4 == 1 ? 1e6 : 10;
    Polygons polygons;
    for (int i = 0; i < 100; ++i) polygons.push_back(random_star(&random, extent));
    const Index index(polygons, 1 + round % 3, round % 5 == 0 ? 50 : 0.75);
    for (int i = 0; i < 3000; ++i) {
      Point p{extent * unit(random), extent * unit(random)};
      if (i % 3 == 0) {  // on a vertex, or beside one
        const Ring& ring = polygons[random() % polygons.size()][0][0];
        p = ring[random() % ring.size()];
        if (i % 2 == 0) p.x = std::nextafter(p.x, i % 4 == 0 ? 1e9 : -1e9);
      }
      ASSERT_EQ(index.answers(p), index.expected(p)) << round << " " << i;
    }
  }
}

TEST(CellIndex, IsTheSameFarFromTheOrigin) {
  std::mt19937_64 random(8);
  constexpr double kFar = 1e15;
  for (int round = 0; round < 50; ++round) {
    Polygons polygons;
    for (int i = 0; i < 6; ++i) {
      polygons.push_back(random_scribble(&random, 0.375));
      for (Polygon& part : polygons.back())
        for (Ring& ring : part)
          for (Point& point : ring) point.x += kFar;
    }
    const Index index(polygons, 1, 20);
    for (int i = 0; i < 500; ++i) {
      const Point p{kFar + static_cast<double>(random() % 30) / 8, static_cast<double>(random() % 1000) / 333};
      ASSERT_EQ(index.answers(p), index.expected(p)) << round << " " << i;
    }
  }
}

TEST(CellIndex, StaysSmallOverPolygonsThatCoverEachOther) {
  Ring ring;
  for (int i = 0; i <= 500; ++i) ring.push_back({std::cos(i % 500 * M_PI / 250), std::sin(i % 500 * M_PI / 250)});
  const Polygons polygons(300, {{ring}});
  const Index index(polygons, 1, 2);
  EXPECT_LT(index.index().header().entries, uint32_t{20} * 500 * 300);
  EXPECT_EQ(index.answers({0.5, 0.5}), index.expected({0.5, 0.5}));
  EXPECT_EQ(index.answers({0.8, 0.8}), index.expected({0.8, 0.8}));
}

TEST(CellIndex, IsTheSameForInvalidPolygons) {
  std::mt19937_64 random(6);
  int answers[4] = {};
  for (int round = 0; round < 300; ++round) {
    const double unit = round % 4 == 0 ? std::ldexp(1.1, -40) : round % 4 == 1 ? 1e8 / 3 : 1.1;
    Polygons polygons;
    for (int i = 0; i < 6; ++i) polygons.push_back(random_scribble(&random, unit));
    const Index index(polygons, 1, round % 3 == 0 ? 0.1 : round % 3 == 1 ? 0.75 : 20);
    for (int i = 0; i < 500; ++i) {
      Point p{unit * (static_cast<double>(random() % 33) / 4 - 0.5), unit * static_cast<double>(random() % 33) / 4};
      if (i % 3 == 0) p.x = std::nextafter(p.x, i % 2 == 0 ? 1e9 : -1e9);
      if (i % 7 == 0) p.y += unit * static_cast<double>(random() % 1000) / 1000;
      const std::vector<Answer> expected = index.expected(p);
      ASSERT_EQ(index.answers(p), expected) << round << " " << i;
      for (const Answer answer : expected) ++answers[static_cast<int>(answer)];
    }
  }
  for (const int count : answers) EXPECT_GT(count, 1000);
}

/// Corners and edges go exactly through the anchors of cells, whose windings are found from where edges cross.
TEST(CellIndex, IsTheSameWhereAnchorsLieOnEdges) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 150; ++round) {
    Polygons polygons{{{rectangle(-1, -1, 9, 9)}}};
    for (int i = 0; i < 3; ++i) polygons.push_back(random_scribble(&random, 1.1));  // one more would change the grid
    const CellIndexHeader grid = Index(polygons, 1, 4).index().header();
    const CellIndex cells(reinterpret_cast<const char*>(&grid));
    std::vector<Point> anchors;
    for (size_t i = 1; i < polygons.size(); ++i)
      for (Polygon& part : polygons[i])
        for (Ring& ring : part)
          for (Point& point : ring) {
            point = cells.anchor_of(cells.cell_of(point));
            anchors.push_back(point);
          }
    const Index index(polygons, 1 + round % 3, 4);
    ASSERT_EQ(index.index().header().columns, grid.columns);
    ASSERT_EQ(index.index().header().rows, grid.rows);
    for (int i = 0; i < 500; ++i) {
      Point p{static_cast<double>(random() % 1000) / 111, static_cast<double>(random() % 1000) / 111};
      const Point a = anchors[random() % anchors.size()], b = anchors[random() % anchors.size()];
      if (i % 4 == 0) p = a;
      if (i % 4 == 1) p.y = a.y;
      if (i % 4 == 2) p = {a.x + (b.x - a.x) / 2, a.y + (b.y - a.y) / 2};
      ASSERT_EQ(index.answers(p), index.expected(p)) << round << " " << i;
    }
  }
}

/// Many rows of cells, and polygons that reach a few of them or all; long edges, with more entries than there is room
/// for at first.
TEST(CellIndex, IsTheSameForLargePolygons) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 6; ++round) {
    Polygons polygons;
    Ring wide, spikes;
    for (int i = 0; i < 2000; ++i) {
      const double angle = 2 * M_PI * i / 2000, wave = 5 + 4 * std::sin(angle * 50) * unit(random);
      wide.push_back({10 + wave * std::cos(angle), 10 + wave * std::sin(angle)});
      const double far = i % 2 == 0 ? 0.1 : 9;
      spikes.push_back({10 + far * std::cos(angle), 10 + far * std::sin(angle)});
    }
    wide.push_back(wide[0]);
    spikes.push_back(spikes[0]);
    polygons.push_back({{wide, random_star(&random, 20)[0][0]}});
    if (round % 2 == 0) polygons.push_back({{spikes}});
    for (int i = 0; i < 300; ++i) polygons.push_back(random_star(&random, 20));
    const Index index(polygons, 1 + round % 3, 4);
    EXPECT_GT(index.index().header().rows, 50);
    if (round % 2 == 0) {
      EXPECT_GT(index.index().header().entries, uint32_t{3} * 16000);
    }
    for (int i = 0; i < 1000; ++i) {
      Point p{20 * unit(random), 20 * unit(random)};
      if (i % 4 == 0) p = wide[random() % wide.size()];
      ASSERT_EQ(index.answers(p), index.expected(p)) << round << " " << i;
    }
  }
}

TEST(CellIndex, HasWholeCells) {
  Polygons polygons;
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 4; ++column)
      polygons.push_back({{rectangle(column * 10.0, row * 10.0, column * 10.0 + 10, row * 10.0 + 10)}});
  const Index index(polygons, 2, 50);
  const CellIndex cells = index.index();
  const CellIndexHeader& h = cells.header();
  int whole = 0;
  for (uint32_t cell = 0; cell < static_cast<uint32_t>(h.columns * h.rows); ++cell)
    whole += (cells.first_candidate(cell) & kWholeCell) != 0;
  EXPECT_GT(whole, h.columns * h.rows / 2);
  for (uint32_t i = 1; i < h.entries; ++i) ASSERT_EQ(cells.entries()[i].kind, EntryKind::kEdges);
  EXPECT_EQ(index.answers({25, 15})[6], Answer::kInside);
  EXPECT_EQ(index.answers({20, 15})[5], Answer::kBoundary);
  EXPECT_EQ(index.answers({20, 15})[6], Answer::kBoundary);
}

TEST(CellIndex, HasWhatIsNoPolygon) {
  Index index({{{rectangle(0, 0, 10, 10)}}, {{{{20, 20}, {30, 20}, {30, 30}, {20, 30}}}}, {}, {{}}});
  const std::string point = serialized_point({50, 50});
  index.add_null();
  index.add(point);
  index.build(1, 0.75);
  EXPECT_FALSE(index.index().is_undecided({5, 5}));
  EXPECT_TRUE(index.index().is_undecided({5, NAN}));
  const auto list = [&](Point p) {
    std::string list;
    index.index().for_each_polygon(p, [&](uint32_t polygon, Answer answer) {
      list += std::to_string(polygon) + "iBu"[static_cast<int>(answer) - 1];
    });
    return list;
  };
  EXPECT_EQ(list({5, 5}), "0i");
  EXPECT_EQ(list({25, 25}), "1u");  // a ring that is not closed
  EXPECT_EQ(list({50, 50}), "5u");
  EXPECT_EQ(list({15, 15}), "");
  EXPECT_EQ(list({1e9, 15}), "");
  const std::string infinite = serialized({{rectangle(0, 0, INFINITY, 1)}});
  index.add(infinite);
  index.build(1, 0.75);
  EXPECT_TRUE(index.index().is_undecided({5, 5}));
}

TEST(CellIndex, KnowsSrids) {
  const auto header = [](const std::vector<int32_t>& srids) {
    std::vector<std::string> bytes;
    std::vector<GeometryBytes> geometries;
    bytes.reserve(srids.size());
    geometries.reserve(srids.size());
    for (const int32_t srid : srids) bytes.push_back(serialized({{rectangle(0, 0, 1, 1)}}, {2, srid}));
    for (const std::string& one : bytes) geometries.push_back({one.data(), static_cast<int64_t>(one.size())});
    CellIndexOptions options;
    options.tasks = 2;
    return *reinterpret_cast<const CellIndexHeader*>(build_cell_index(geometries, options).data());
  };
  EXPECT_EQ(header({4326, 4326, 4326}).srid, 4326);
  EXPECT_FALSE(header({4326, 4326, 4326}).mixed_srid);
  EXPECT_TRUE(header({4326, 4326, 0}).mixed_srid);
  EXPECT_TRUE(header({0, 4326}).mixed_srid);
  EXPECT_EQ(header({}).entries, 1u);
}

/// The short way to the cell of an edge says what the long one says.
TEST(CellsOfEdge, OneCell) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> unit(0, 1);
  int found = 0;
  for (int i = 0; i < 20000; ++i) {
    const Point a{unit(random) * 8, unit(random) * 8};
    Point b{a.x + unit(random) - 0.5, a.y + unit(random) - 0.5};
    if (i % 5 == 0) b.x = std::floor(b.x) + (i % 2 == 0 ? 1e-7 : 0);
    if (i % 7 == 0) b = a;
    int32_t column, row;
    if (!is_in_one_cell(a, b, &column, &row)) continue;
    ++found;
    for_cells_of_edge({8, 0, 7}, a, b, [&](int32_t of_row, int32_t first, int32_t last) {
      EXPECT_EQ(of_row, row);
      EXPECT_EQ(first, column);
      EXPECT_EQ(last, column);
    });
  }
  EXPECT_GT(found, 5000);
}

}  // namespace
