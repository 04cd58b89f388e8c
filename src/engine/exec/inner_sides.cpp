#include "engine/exec/inner_sides.hpp"

#include <algorithm>

#include "engine/device/cached_columns.hpp"
#include "engine/exec/needed_sides.hpp"
#include "engine/exec/pipeline_run.hpp"
#include "engine/exec/run_maker.hpp"
#include "engine/op/join/join_name.hpp"

namespace strom::engine::exec {

using registry::Phys;

namespace {

std::vector<Phys> phys_of(const plan::Program& program, const std::vector<plan::NodeId>& nodes) {
  std::vector<Phys> phys;
  phys.reserve(nodes.size());
  for (const plan::NodeId id : nodes) phys.push_back(program.nodes[id].type.phys());
  return phys;
}

}  // namespace

InnerSides::InnerSides(const plan::Program& program, const std::vector<const op::ChunkSource*>& sources,
                       const Options& options)
    : program_(program),
      sources_(sources),
      options_(options),
      tables_(program.joins.size()),
      inner_(program.joins.size()),
      rows_scanned_(program.joins.size(), 0) {}

uint32_t InnerSides::join_of(uint32_t index) const {
  uint32_t join = 0;
  while (join < program_.joins.size() && program_.joins[join].build_pipeline != index) ++join;
  return join;
}

// Devices may have cached the table in earlier queries.
Status InnerSides::build(uint32_t index, const RunMaker& runs, BuildListener& listener,
                         const InterruptCheck& interrupt) {
  const uint32_t join = join_of(index);
  std::vector<device::Device*> devices;
  if (is_main_join(join)) devices = runs.devices_for(*sources_[program_.pipelines.back().source]);
  const std::shared_ptr<device::CachedJoin> cached = cacheable(join, devices);
  if (cached != nullptr) {
    STROM_ASSIGN(const bool is_there, take_cached(join, cached, devices, listener, interrupt));
    if (is_there) return {};
  }
  STROM_ASSIGN(const bool is_as_read, make_table(index, runs, listener, interrupt));
  if (!devices.empty()) ++device_joins_.built;
  if (cached == nullptr || !options_.device_keeps_joins || !is_as_read || origin_of(join).name != cached->name())
    return {};
  cached->set_built(rows_scanned_[join]);
  tables_[join]->set_cached(cached);
  return {};
}

Status InnerSides::leave_empty(uint32_t join, BuildListener& listener) {
  tables_[join] = new_table(join);
  listener.take_fallback_rows(program_.joins[join].build_pipeline, {});
  return tables_[join]->finish(options_.join_memory_budget, options_.threads);
}

std::unique_ptr<op::JoinBuild> InnerSides::new_table(uint32_t join) const {
  const plan::Join& made = program_.joins[join];
  return std::make_unique<op::JoinBuild>(phys_of(program_, made.inner_keys), phys_of(program_, made.payload),
                                         op::join_needs(program_, join), inner_[join].current());
}

// The name under which the finished table of the whole inner side is cached; empty: it is not cached.
columnar::RowsOrigin InnerSides::origin_of(uint32_t join) const {
  const op::BuildText made =
      op::build_text(program_, join, op::join_needs(program_, join), options_.single_byte_encoding);
  if (made.text.empty()) return {};
  columnar::RowsOrigin origin =
      sources_[program_.pipelines[program_.joins[join].build_pipeline].source]->origin(made.columns);
  if (origin.name.empty()) return origin;
  origin.name = "j" + made.text + origin.name;
  if (origin.name.size() > device::DeviceCache::kMostMirroredNameBytes) origin.name.clear();
  return origin;
}

// nullptr: the join table is not to be cached.
std::shared_ptr<device::CachedJoin> InnerSides::cacheable(uint32_t join,
                                                          const std::vector<device::Device*>& devices) const {
  const auto keeps = [](device::Device* device) { return device->cache() != nullptr; };
  if (inner_[join].measured || std::none_of(devices.begin(), devices.end(), keeps)) return nullptr;
  columnar::RowsOrigin origin = origin_of(join);
  return origin.name.empty() ? nullptr : std::make_shared<device::CachedJoin>(std::move(origin));
}

// True: a device has `cached`, which is now the join's table.
Result<bool> InnerSides::take_cached(uint32_t join, const std::shared_ptr<device::CachedJoin>& cached,
                                     const std::vector<device::Device*>& devices, BuildListener& listener,
                                     const InterruptCheck& interrupt) {
  const auto keep_going = [&interrupt] {
    interrupt();
    return true;
  };
  const std::vector<Phys> keys = phys_of(program_, program_.joins[join].inner_keys);
  const std::vector<Phys> payload = phys_of(program_, program_.joins[join].payload);
  STROM_ASSIGN(std::optional<op::JoinImage> image, cached->find(devices, keys, payload, keep_going));
  if (!image) return false;
  rows_scanned_[join] = image->scanned_rows;
  tables_[join] =
      std::make_unique<op::JoinBuild>(keys, payload, op::join_needs(program_, join), std::move(*image), cached);
  ++device_joins_.cached;
  listener.take_fallback_rows(program_.joins[join].build_pipeline, {});
  return true;
}

// Builds the table. One that does not fit is measured and divided. Returns true when the table has all rows and none of
// them was a fallback row.
Result<bool> InnerSides::make_table(uint32_t index, const RunMaker& runs, BuildListener& listener,
                                    const InterruptCheck& interrupt) {
  /// Announces the running pipeline for progress().
  struct Building {
    Building(BuildListener& told, const PipelineRun& run, uint32_t pipeline) : listener(told) {
      listener.begin_build(run, pipeline);
    }
    ~Building() { listener.end_build(); }
    BuildListener& listener;
  };
  const uint32_t join = join_of(index);
  const plan::Join& made = program_.joins[join];
  const bool divisible =
      !made.inner_keys.empty() && is_main_join(join) && (!is_spatial(join) || plan::joins_pairs(made.kind));
  op::InnerPartitions& inner = inner_[join];
  for (;;) {
    tables_[join].reset();
    tables_[join] = new_table(join);
    op::JoinBuild& build = *tables_[join];
    STROM_ASSIGN(const std::unique_ptr<PipelineRun> run, runs.make(index, &build));
    if (divisible && !inner.measured) run->measure_beyond_budget();
    {
      const Building building(listener, *run, index);
      STROM_TRY(run->run_to_end(interrupt));
    }
    std::vector<op::FallbackRow> fallback = run->take_fallback_rows();
    if (!fallback.empty() && !listener.takes_fallback_rows())
      return Status(ErrorCode::kInternal, "there are fallback rows of an inner side and nobody takes them");
    if (!fallback.empty() && can_fail(program_, index)) {
      STROM_ASSIGN(const bool counts, listener.do_fallback_rows_count(join, interrupt));
      if (!counts) fallback.clear();
    }
    listener.take_fallback_rows(index, fallback);
    if (divisible && !inner.measured && build.sizes() == nullptr && !build.fits(options_.join_memory_budget))
      build.measure();
    if (const op::BucketSizes* sizes = build.sizes()) {
      inner = {sizes->parts(options_.join_memory_budget, most_parts(join)), 0, true, sizes->rows()};
      continue;
    }
    rows_scanned_[join] = run->rows();
    STROM_TRY(build.finish(options_.join_memory_budget, options_.threads));
    run->take_time();
    listener.add_run(*run, index);
    return fallback.empty() && build.partition().is_whole();
  }
}

int64_t InnerSides::memory() const {
  int64_t bytes = 0;
  for (const auto& table : tables_)
    if (table) bytes += table->memory();
  return bytes;
}

double InnerSides::match_fraction(uint32_t join) const {
  const auto rows = static_cast<double>(inner_[join].measured ? inner_[join].rows : tables_[join]->rows());
  const double scanned = static_cast<double>(std::max<int64_t>(1, rows_scanned_[join]));
  // The inner side is the smaller one, and its keys are only some of the outer side's, even without a filter.
  const auto range = static_cast<double>(tables_[join]->table().direct.range);
  const bool smaller = plan::ends_probing(program_.joins[join].kind) && range > 0;
  return std::min(rows / scanned, smaller ? rows / range : 1);
}

void InnerSides::share_texts(op::TextStore* texts) const {
  for (uint32_t join = 0; join < inner_.size(); ++join)
    if (is_divided(join) && tables_[join]) texts->share(tables_[join]->texts());
}

void InnerSides::lookup(uint32_t join, const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const {
  tables_[join]->lookup(trimmed_keys(join, keys), rows);
}

plan::Constant InnerSides::payload(uint32_t join, uint32_t ordinal, int64_t row) const {
  const op::HostColumn& column = tables_[join]->payload(ordinal);
  plan::Constant value{program_.nodes[program_.joins[join].payload[ordinal]].type, column.is_null(row), -1, {}};
  if (value.is_null) return value;
  if (column.phys == Phys::kStr) {
    const auto* text = static_cast<const registry::StrView*>(column.at(row));
    value.bytes.assign(text->ptr, static_cast<size_t>(text->len));
  } else {
    value.bytes.assign(static_cast<const char*>(column.at(row)), static_cast<size_t>(registry::phys_size(column.phys)));
  }
  return value;
}

bool InnerSides::is_in_part(uint32_t join, const std::vector<plan::Constant>& keys) const {
  return !is_divided_by_key(join) || tables_[join]->is_in_partition(trimmed_keys(join, keys));
}

// A row of the outer side probes one part only. In spatial joins it probes all parts.
bool InnerSides::is_divided_by_key(uint32_t join) const {
  return !is_spatial(join) && !tables_[join]->partition().is_whole();
}

bool InnerSides::is_spatial(uint32_t join) const { return program_.joins[join].spatial != plan::SpatialMatch::kNone; }

int64_t InnerSides::add_row(uint32_t join, const std::vector<plan::Constant>& keys,
                            const std::vector<plan::Constant>& payload) {
  const std::vector<plan::Constant> trimmed = trimmed_keys(join, keys);
  if (!tables_[join]->is_in_partition(trimmed)) return -1;
  tables_[join]->append_row(trimmed, payload);
  return tables_[join]->rows() - 1;
}

bool InnerSides::has_further_parts() const {
  return std::any_of(main_joins().begin(), main_joins().end(),
                     [this](uint32_t join) { return has_further_part(join); });
}

// Every combination of the inner sides' parts is one pass over the outer side. This goes to the next part of the first
// join that has one, and to the first part of the joins before it. So the parts of a join change while those of later
// joins stay.
std::vector<uint32_t> InnerSides::next_parts() {
  std::vector<bool> changed(inner_.size(), false);
  for (const uint32_t join : main_joins()) {
    op::InnerPartitions& inner = inner_[join];
    changed[join] = inner.parts.size() > 1;
    if (has_further_part(join)) {
      ++inner.at;
      break;
    }
    inner.at = 0;
  }
  std::vector<uint32_t> pipelines;
  for (uint32_t i = 0; i + 1 < program_.pipelines.size(); ++i)
    if (changed[join_of(i)]) pipelines.push_back(i);
  return pipelines;
}

// Passes are made over the last pipeline; tables that other pipelines probe must be there as a whole.
bool InnerSides::is_main_join(uint32_t join) const {
  return std::find(main_joins().begin(), main_joins().end(), join) != main_joins().end();
}

// The most parts that the inner side of `join` may have, so that all combinations of parts are at most kMostPasses.
size_t InnerSides::most_parts(uint32_t join) const {
  size_t others = 1;
  for (const uint32_t other : main_joins())
    if (other != join) others *= inner_[other].parts.size();
  return std::max<size_t>(1, kMostPasses / others);
}

// Keys of type char(n) are held without padding.
std::vector<plan::Constant> InnerSides::trimmed_keys(uint32_t join, std::vector<plan::Constant> keys) const {
  const size_t compared = is_spatial(join) ? 0 : keys.size();
  for (size_t i = 0; i < compared; ++i) {
    if (program_.nodes[program_.joins[join].inner_keys[i]].type.type != registry::TypeId::kBpchar) continue;
    while (!keys[i].bytes.empty() && keys[i].bytes.back() == ' ') keys[i].bytes.pop_back();
  }
  return keys;
}

}  // namespace strom::engine::exec
