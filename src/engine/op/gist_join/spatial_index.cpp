#include "engine/op/gist_join/spatial_index.hpp"

#include <algorithm>
#include <system_error>
#include <thread>

#include "base/blocked_signals.hpp"
#include "engine/op/gist_join/spatial_keys.hpp"
#include "engine/op/gist_join/write_probes.hpp"
#include "engine/op/join/join_limit.hpp"
#include "geo/build_cell_index.hpp"

namespace strom::engine::op {

using block::JoinTable;
using geo::Answer;
using registry::StrView;

namespace {

/// Most cells that are searched for a fallback row. With more cells, all rows become its candidates.
constexpr int64_t kMostCells = 1 << 16;

uint8_t bit(Answer answer) { return static_cast<uint8_t>(1u << static_cast<int>(answer)); }

uint8_t accepted(plan::SpatialMatch match) {
  switch (match) {
    case plan::SpatialMatch::kInside: return bit(Answer::kInside);
    case plan::SpatialMatch::kInsideOrOn: return bit(Answer::kInside) | bit(Answer::kBoundary);
    case plan::SpatialMatch::kOn: return bit(Answer::kBoundary);
    case plan::SpatialMatch::kNone:
    case plan::SpatialMatch::kNear:
    case plan::SpatialMatch::kOverlaps: break;
  }
  return 0;
}

/// Runs task(0) … task(tasks - 1), each on its own thread if one can be started.
void run_on_threads(int tasks, const std::function<void(int)>& task) {
  std::vector<std::thread> threads;
  const base::BlockedSignals blocked;
  int begun = 1;
  try {
    for (; begun < tasks; ++begun) threads.emplace_back(task, begun);
  } catch (const std::system_error&) {  // no more threads can be started
  }
  task(0);
  for (; begun < tasks; ++begun) task(begun);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int64_t SpatialIndex::wanted_memory() const {
  int64_t bytes = 0;
  for (int64_t row = 0; row < rows_.count; ++row) bytes += index_row_memory(needs_.spatial, rows_.key_bytes(row));
  return bytes;
}

Status SpatialIndex::build(const std::vector<uint32_t>&, int threads, JoinTable* table) {
  // Fewer polygons take less time than a thread's start.
  constexpr int64_t kRowsOfThread = 64;
  std::vector<geo::GeometryBytes> geometries;
  for (int64_t row = 0; row < rows_.count; ++row) {
    const auto* key = static_cast<const StrView*>(rows_.keys[0].at(row));
    const bool is_null = rows_.keys[0].is_null(row);
    geometries.push_back({is_null ? nullptr : key->ptr, is_null ? 0 : key->len});
  }
  geo::CellIndexOptions options;
  options.tasks = static_cast<int>(std::clamp<int64_t>(rows_.count / kRowsOfThread, 1, threads));
  options.run = run_on_threads;
  image_ = geo::build_cell_index(geometries, options);
  if (image_.empty()) return Status(ErrorCode::kUnsupported, "inner side of a spatial join has too many edges");
  cells_ = reinterpret_cast<const char*>(image_.data());
  table->kind = block::JoinTableKind::kSpatial;
  table->unique = rows_.count <= 1 || needs_.any_match;
  table->spatial = {cells_, static_cast<uint64_t>(geo::CellIndex(cells_).header().size), needs_.srid,
                    accepted(needs_.spatial)};
  return Status::ok();
}

void SpatialIndex::add_arrays(const JoinTable& table, std::vector<TableArray>* arrays) {
  arrays->push_back({offsetof(JoinTable, spatial.cells), table.spatial.cells_bytes});
}

/// Rows with a polygon that reaches a cell of the box. False: the box has too many cells.
bool SpatialIndex::find_in_box(const geo::Box& box, std::set<uint32_t>* rows) const {
  const geo::CellIndex index(cells_);
  const geo::CellIndexHeader& h = index.header();
  if (!h.box.overlaps(box)) return true;
  const geo::Point low{geo::larger(box.min_x, h.box.min_x), geo::larger(box.min_y, h.box.min_y)};
  const geo::Point high{geo::smaller(box.max_x, h.box.max_x), geo::smaller(box.max_y, h.box.max_y)};
  const auto columns = static_cast<uint32_t>(h.columns);
  const uint32_t first = index.cell_of(low), last = index.cell_of(high);
  if (int64_t{last / columns - first / columns + 1} * (last % columns - first % columns + 1) > kMostCells) return false;
  for (uint32_t row = first / columns; row <= last / columns; ++row)
    for (uint32_t column = first % columns; column <= last % columns; ++column) {
      const uint32_t cell = row * columns + column;
      for (uint32_t candidate = index.first_candidate(cell); candidate != geo::CellIndex::kNoCandidate;
           candidate = index.next_candidate(candidate))
        rows->insert(index.polygon_of(candidate));
    }
  return true;
}

void SpatialIndex::find(const std::vector<HostColumn>& keys, std::vector<int64_t>* found) const {
  const geo::CellIndexHeader& h = geo::CellIndex(cells_).header();
  geo::Box box;
  std::set<uint32_t> rows;
  const SpatialKeys spatial(keys, needs_.srid);
  const bool same_srid = h.mixed_srid == 0 && spatial.srid(0) == h.srid;
  if (same_srid && h.everywhere == 0 && spatial.box(0, &box) && find_in_box(box, &rows)) {
    found->insert(found->end(), rows.begin(), rows.end());
    return;
  }
  for (int64_t row = 0; row < rows_.count; ++row)
    if (!rows_.keys[0].is_null(row)) found->push_back(row);
}

int SpatialIndex::write_candidates(JoinWriter* writer, size_t position, int rows) const {
  return write_first_probe(writer, position, rows);
}

int SpatialIndex::write_following(JoinWriter* writer, size_t position, int rows) const {
  return write_next_probe(writer, position, rows);
}

}  // namespace strom::engine::op
