// Joins by distance and by overlapping boxes, probing side. geo::TreeIndex tells for each probing row which build rows
// it matches. Build rows are tried in the tree's order. Single source.
#pragma once

#include "engine/block/candidates.hpp"
#include "engine/block/join_table.hpp"
#include "engine/block/registers.hpp"
#include "geo/float_box.hpp"
#include "geo/packed_tree.hpp"

namespace strom::engine::op {

using namespace block;

/// The queries of a tile's rows to a tree: registers of a geometry or of two coordinates, followed by a distance.
class TreeQueries {
 public:
  STROM_INLINE TreeQueries(const TileState& s, const TreeTable& table, const uint16_t* keys)
      : table_(table), index_(table.image) {
    by_coordinates_ = static_cast<Phys>(s.code->register_phys[keys[1]]) == Phys::kF64;
    const int place = by_coordinates_ ? 2 : 1;
    if (by_coordinates_) {
      x_ = values<double>(s, keys[1]);
      y_ = values<double>(s, keys[2]);
    } else {
      geometries_ = values<StrView>(s, keys[1]);
    }
    if (keys[0] > place) distances_ = values<double>(s, keys[place + 1]);
    for (int k = 0; k < kMostKeys; ++k) flags_[k] = k < keys[0] ? s.regs[keys[k + 1]].flags : nullptr;
  }

  /// A row's query.
  struct Query {
    geo::NearQuery near;
    geo::Box box;
  };
  /// Flags: kNullFlag where nothing matches, kErrorFlag where PostGIS has to decide.
  STROM_INLINE uint8_t read(int i, Query* query) const {
    uint8_t flag = 0;
    for (const uint8_t* flags : flags_)
      if (flags != nullptr) flag |= flags[i];
    if (flag != 0) return flag;
    if (index_.header().everywhere != 0) return kErrorFlag;
    return table_.by_distance ? read_near(i, &query->near) : read_box(i, &query->box);
  }
  /// The first item from `item` on that matches the row.
  STROM_INLINE uint32_t find(const Query& query, uint32_t item) const {
    return table_.by_distance ? index_.points().find_near(query.near, item)
                              : index_.boxes().find_overlapping(query.box, item);
  }
  /// True when PostGIS has to decide about one of the rows that are near.
  STROM_INLINE bool is_doubtful(const Query& query) const {
    return table_.by_distance && index_.boxes().find_near(query.near, 0) != geo::PackedTree::kNone;
  }
  STROM_INLINE uint32_t row_of(uint32_t item) const {
    return table_.by_distance ? index_.points().row(item) : index_.boxes().row(item);
  }

  /// Fetches points for a later look at them; for joins by distance.
  template <class P>
  STROM_INLINE void fetch_points(const P& p, uint32_t item) const {
    const geo::PackedTree tree = index_.points();
    const auto* lines = reinterpret_cast<const char*>(tree.points_of(item));
    for (size_t line = 0; line < sizeof(geo::PointGroup); line += kLineBytes) p.prefetch(lines + line);
    p.prefetch(tree.rows() + item);
  }
  /// The item from which find() may begin.
  STROM_INLINE uint32_t first_group(const Query& query) const { return index_.points().first_group_near(query.near); }
  STROM_INLINE const geo::PackedTree points() const { return index_.points(); }
  STROM_INLINE bool may_fetch() const { return table_.by_distance && index_.header().points.has_reach == 0; }

 private:
  STROM_INLINE uint8_t read_near(int i, geo::NearQuery* query) const {
    const geo::TreeIndexHeader& header = index_.header();
    geo::Point point{0, 0};
    int32_t srid = table_.srid;
    uint8_t flag = 0;
    if (by_coordinates_) {
      point = {x_[i], y_[i]};
    } else {
      geo::SerializedGeometry geometry;
      if (!geo::SerializedGeometry::open(geometries_[i].ptr, geometries_[i].len, &geometry)) return kErrorFlag;
      if (!geo::read_point(geometry, &point)) flag = kErrorFlag;
      srid = geometry.srid();
    }
    // PostGIS raises an error for geometries of different systems, and for distances below 0.
    if (header.any != 0 && (header.mixed_srid != 0 || header.srid != srid)) return kErrorFlag;
    const double distance = distances_ != nullptr ? distances_[i] : 0;
    if (flag != 0 || !geo::NearQuery::is_distance(distance) || !geo::is_finite(point)) return kErrorFlag;
    // With such points, or geometries that are no points, PostGIS's products overflow, so they may be near from
    // anywhere.
    if (!geo::fits_floats(point) && index_.boxes().items() > 0) return kErrorFlag;
    *query = geo::NearQuery::of(point, distance);
    return 0;
  }
  STROM_INLINE uint8_t read_box(int i, geo::Box* box) const {
    if (by_coordinates_) {
      const geo::Point point{x_[i], y_[i]};
      if (!geo::is_finite(point)) return kErrorFlag;
      *box = geo::float_box_of(point);
      return 0;
    }
    geo::SerializedGeometry geometry;
    if (!geo::SerializedGeometry::open(geometries_[i].ptr, geometries_[i].len, &geometry)) return kErrorFlag;
    const geo::BoxAnswer answer = geo::float_box(geometry, box);
    return answer == geo::BoxAnswer::kBox ? 0 : answer == geo::BoxAnswer::kNone ? kNullFlag : kErrorFlag;
  }

  static constexpr int kMostKeys = 3;
  static constexpr size_t kLineBytes = 64;
  const TreeTable& table_;
  const geo::TreeIndex index_;
  bool by_coordinates_;
  const uint8_t* flags_[kMostKeys];
  const double *x_ = nullptr, *y_ = nullptr, *distances_ = nullptr;
  const StrView* geometries_ = nullptr;
};

/// Rows that the CPU searches for in turns. A device runs other threads meanwhile.
inline constexpr int kSearchedAhead = 64;

/// The searches of a block of rows, each from an item on. Each search looks at a group of points, which has been
/// fetched. A search that finds nothing there fetches the next group, and looks at it when the others have had their
/// turn.
class TreeSearches {
 public:
  STROM_INLINE explicit TreeSearches(const TreeQueries& queries) : queries_(queries), tree_(queries.points()) {}

  STROM_INLINE TreeQueries::Query* query(int k) { return &query_[k]; }
  template <class P>
  STROM_INLINE void begin(const P& p, int k, uint32_t item) {
    item_[k] = item;
    if (item == geo::PackedTree::kNone) return;
    queries_.fetch_points(p, item);
    searching_[count_++] = static_cast<uint8_t>(k);
  }
  /// Begins after an item, which may be in a group that is not near.
  template <class P>
  STROM_INLINE void begin_behind(const P& p, int k, uint32_t item) {
    const bool in_group = (item + 1) % geo::kTreeWidth != 0;
    begin(p, k, in_group ? item + 1 : tree_.next_group_near(query_[k].near, item));
  }
  template <class P>
  STROM_INLINE void run(const P& p) {
    while (count_ > 0) {
      const int count = count_;
      count_ = 0;
      for (int s = 0; s < count; ++s) {
        const int k = searching_[s];
        const uint32_t from = item_[k];
        item_[k] = tree_.find_in_group(query_[k].near, from);
        if (item_[k] == geo::PackedTree::kNone) begin(p, k, tree_.next_group_near(query_[k].near, from));
      }
    }
  }
  /// The item that row k found.
  STROM_INLINE uint32_t item(int k) const { return item_[k]; }

 private:
  const TreeQueries& queries_;
  const geo::PackedTree tree_;
  TreeQueries::Query query_[kSearchedAhead];
  uint32_t item_[kSearchedAhead];
  uint8_t searching_[kSearchedAhead];
  int count_ = 0;
};

/// kFindCandidate of a join by a tree: registers as TileOp says.
template <class P>
STROM_KERNEL void find_in_tree(const P& p, TileState& s, const TileInstr& instr) {
  const TreeTable& table = s.joins[instr.imm].tree;
  const TreeQueries queries(s, table, s.code->lists + instr.c);
  auto* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  uint8_t* out_flags = s.storage[instr.dst].flags;
  auto* items = static_cast<uint32_t*>(s.storage[instr.b].data);
  unsigned errors = 0;
  const auto read = [&](int i, TreeQueries::Query* query) {
    uint8_t flag = queries.read(i, query);
    if (flag == 0 && queries.is_doubtful(*query)) flag = kErrorFlag;
    out_flags[i] = flag & kErrorFlag;
    errors |= flag & kErrorFlag;
    return flag == 0;
  };
  const auto take = [&](int i, uint32_t item) {
    out[i] = item != geo::PackedTree::kNone ? queries.row_of(item) : kNoRow;
    items[i] = item;
  };
  if (!P::kDevice && queries.may_fetch()) {
    for (int base = 0; base < s.count; base += kSearchedAhead) {
      const int count = s.count - base < kSearchedAhead ? s.count - base : kSearchedAhead;
      TreeSearches searches(queries);
      for (int k = 0; k < count; ++k)
        searches.begin(
            p, k, read(base + k, searches.query(k)) ? queries.first_group(*searches.query(k)) : geo::PackedTree::kNone);
      searches.run(p);
      for (int k = 0; k < count; ++k) take(base + k, searches.item(k));
    }
  } else {
    p.for_each(s.count, [&](int i) {
      TreeQueries::Query query{};
      take(i, read(i, &query) ? queries.find(query, 0) : geo::PackedTree::kNone);
    });
  }
  own_candidates(p, s, instr, errors);
}

/// kNextCandidate of a join by a tree.
template <class P>
STROM_KERNEL void next_in_tree(const P& p, TileState& s, const TileInstr& instr) {
  const TreeTable& table = s.joins[instr.imm].tree;
  const TreeQueries queries(s, table, s.code->lists + instr.c);
  const uint32_t* rows = values<uint32_t>(s, instr.a);
  // The register lies in the segment's own buffer, with the rows that stay there.
  uint32_t* items = values<uint32_t>(s, instr.b);
  auto* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  const auto goes_on = [&](int i) { return rows[i] != kNoRow; };
  const auto take = [&](int i, uint32_t item) {
    out[i] = item != geo::PackedTree::kNone ? queries.row_of(item) : kNoRow;
    items[i] = item;
  };
  if (!P::kDevice && queries.may_fetch()) {
    for (int base = 0; base < s.count; base += kSearchedAhead) {
      const int count = s.count - base < kSearchedAhead ? s.count - base : kSearchedAhead;
      TreeSearches searches(queries);
      for (int k = 0; k < count; ++k) {
        if (goes_on(base + k) && queries.read(base + k, searches.query(k)) == 0)
          searches.begin_behind(p, k, items[base + k]);
        else
          searches.begin(p, k, geo::PackedTree::kNone);
      }
      searches.run(p);
      for (int k = 0; k < count; ++k) take(base + k, searches.item(k));
    }
  } else {
    p.for_each(s.count, [&](int i) {
      TreeQueries::Query query{};
      const bool searched = goes_on(i) && queries.read(i, &query) == 0;
      take(i, searched ? queries.find(query, items[i] + 1) : geo::PackedTree::kNone);
    });
  }
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

}  // namespace strom::engine::op
