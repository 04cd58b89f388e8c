// Joins by where points lie in polygons, probing side. geo::CellIndex tells for each probing row in which build rows'
// polygons its point lies. Build rows are tried in ascending order. Single source.
#pragma once

#include "engine/block/candidates.hpp"
#include "engine/block/join_table.hpp"
#include "engine/block/registers.hpp"
#include "geo/cell_index.hpp"
#include "geo/serialized.hpp"

namespace strom::engine::op {

using namespace block;

/// True when a point with this answer is a match of the table's join.
STROM_INLINE bool is_match(const SpatialTable& table, geo::Answer answer) {
  return (table.accepts >> static_cast<int>(answer) & 1) != 0;
}

/// The points of a tile's rows: from two registers of coordinates, or from one register of geometries.
class TilePoints {
 public:
  STROM_INLINE TilePoints(const TileState& s, const SpatialTable& table, const uint16_t* keys)
      : table_(table), index_(table.cells), by_coordinates_(keys[0] == 2) {
    first_flags_ = s.regs[keys[1]].flags;
    if (by_coordinates_) {
      x_ = values<double>(s, keys[1]);
      y_ = values<double>(s, keys[2]);
      second_flags_ = s.regs[keys[2]].flags;
    } else {
      geometries_ = values<StrView>(s, keys[1]);
    }
  }

  /// Reads the point of row i. Flags: kNullFlag where the row has no point, kErrorFlag where PostGIS has to decide.
  STROM_INLINE uint8_t read(int i, geo::Point* point) const {
    uint8_t flag = 0;
    if (first_flags_ != nullptr) flag |= first_flags_[i];
    if (second_flags_ != nullptr) flag |= second_flags_[i];
    if (flag != 0) return flag;
    const geo::CellIndexHeader& header = index_.header();
    int32_t srid = table_.srid;
    if (by_coordinates_) {
      *point = {x_[i], y_[i]};
    } else {
      geo::SerializedGeometry geometry;
      if (!geo::SerializedGeometry::open(geometries_[i].ptr, geometries_[i].len, &geometry)) return kErrorFlag;
      if (!geo::read_point(geometry, point)) return kErrorFlag;
      srid = geometry.srid();
    }
    // PostGIS raises an error for geometries of different systems.
    if (header.polygons > 0 && (header.mixed_srid != 0 || header.srid != srid)) return kErrorFlag;
    return index_.is_undecided(*point) ? kErrorFlag : 0;
  }

 private:
  const SpatialTable& table_;
  const geo::CellIndex index_;
  const bool by_coordinates_;
  const uint8_t *first_flags_ = nullptr, *second_flags_ = nullptr;
  const double *x_ = nullptr, *y_ = nullptr;
  const StrView* geometries_ = nullptr;
};

/// The first build row that the point matches, and whether there are more. All polygons of the cell are checked:
/// kErrorFlag when PostGIS has to decide about one of them.
STROM_INLINE uint8_t first_match(const SpatialTable& table, const geo::CellIndex& index, uint32_t cell,
                                 geo::Point point, uint32_t candidate, uint32_t* row, bool* has_more) {
  while (candidate != geo::CellIndex::kNoCandidate) {
    const uint32_t polygon = index.polygon_of(candidate);
    const geo::Answer answer = index.answer(cell, point, &candidate);
    if (answer == geo::Answer::kUncertain) return kErrorFlag;
    if (!is_match(table, answer)) continue;
    if (*row == kNoRow)
      *row = polygon;
    else
      *has_more = true;
  }
  return 0;
}

/// Fetches the edges of a cell's first entries, which usually belong to one or two polygons.
template <class P>
STROM_INLINE void fetch_edges(const P& p, const geo::CellIndex& index, uint32_t candidate) {
  constexpr uint32_t kFetched = 3;
  constexpr uint32_t kPointsOfLine = 4;
  for (uint32_t i = 0; i < kFetched; ++i) {
    const geo::CellEntry& entry = index.entries()[candidate + i];
    if (entry.kind == geo::EntryKind::kEdges) {
      p.prefetch(index.edge(entry));
      if (entry.edges >= kPointsOfLine) p.prefetch(index.edge(entry) + kPointsOfLine);
    }
    if (entry.last) return;
  }
}

/// How many rows ahead the CPU fetches cells, entries and edges. A device runs other threads meanwhile.
inline constexpr int kProbedAhead = 128;

/// kFindCandidate of a join by points: registers as TileOp says.
template <class P>
STROM_KERNEL void find_in_cells(const P& p, TileState& s, const TileInstr& instr) {
  const SpatialTable& table = s.joins[instr.imm].spatial;
  const geo::CellIndex index(table.cells);
  const TilePoints points(s, table, s.code->lists + instr.c);
  auto* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  uint8_t* out_flags = s.storage[instr.dst].flags;
  auto* more = static_cast<uint8_t*>(s.storage[instr.b].data);
  auto* point = static_cast<geo::Point*>(s.scratch_values);
  auto* cell = reinterpret_cast<uint32_t*>(s.scratch_positions);
  unsigned errors = 0;
  const int block = P::kDevice ? s.count : kProbedAhead;
  for (int base = 0; base < s.count; base += block) {
    const int count = s.count - base < block ? s.count - base : block;
    p.for_each(count, [&](int k) {
      const int i = base + k;
      out_flags[i] = points.read(i, point + i);
      cell[i] = out_flags[i] == 0 ? index.cell_of(point[i]) : geo::CellIndex::kNoCell;
      if (cell[i] != geo::CellIndex::kNoCell) p.prefetch(index.cells() + cell[i]);
    });
    p.for_each(count, [&](int k) {
      const int i = base + k;
      out[i] = cell[i] == geo::CellIndex::kNoCell ? geo::CellIndex::kNoCandidate : index.first_candidate(cell[i]);
      if (!P::kDevice && index.has_entry(out[i])) p.prefetch(index.entries() + out[i]);
    });
    if constexpr (!P::kDevice)
      for (int i = base; i < base + count; ++i)
        if (index.has_entry(out[i])) fetch_edges(p, index, out[i]);
    p.for_each(count, [&](int k) {
      const int i = base + k;
      const uint32_t candidate = out[i];
      uint32_t row = kNoRow;
      bool has_more = false;
      uint8_t flag = out_flags[i] & kErrorFlag;
      if (cell[i] != geo::CellIndex::kNoCell)
        flag = first_match(table, index, cell[i], point[i], candidate, &row, &has_more);
      out[i] = flag == 0 ? row : kNoRow;
      more[i] = has_more;
      out_flags[i] = flag;
      errors |= flag;
    });
  }
  own_candidates(p, s, instr, errors);
}

/// kNextCandidate of a join by points.
template <class P>
STROM_KERNEL void next_in_cells(const P& p, TileState& s, const TileInstr& instr) {
  const SpatialTable& table = s.joins[instr.imm].spatial;
  const geo::CellIndex index(table.cells);
  const TilePoints points(s, table, s.code->lists + instr.c);
  const uint32_t* rows = values<uint32_t>(s, instr.a);
  const uint8_t* more = values<uint8_t>(s, instr.b);
  auto* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  p.for_each(s.count, [&](int i) {
    out[i] = kNoRow;
    if (rows[i] == kNoRow || more[i] == 0) return;
    geo::Point point;
    if (points.read(i, &point) != 0) return;
    const uint32_t cell = index.cell_of(point);
    if (cell == geo::CellIndex::kNoCell) return;
    uint32_t candidate = index.first_candidate(cell);
    while (candidate != geo::CellIndex::kNoCandidate && index.polygon_of(candidate) <= rows[i])
      candidate = index.next_candidate(candidate);
    while (candidate != geo::CellIndex::kNoCandidate && out[i] == kNoRow) {
      const uint32_t polygon = index.polygon_of(candidate);
      if (is_match(table, index.answer(cell, point, &candidate))) out[i] = polygon;
    }
  });
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

}  // namespace strom::engine::op
