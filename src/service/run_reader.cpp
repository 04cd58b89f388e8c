#include "service/run_reader.hpp"

#include <string>
#include <utility>

namespace strom::service {

namespace {

constexpr uint32_t kMostStates = 1 << 16, kMostPages = 1 << 20, kMostCopies = 1 << 24;

}  // namespace

Status invalid_task(const char* what) {
  return Status(ErrorCode::kProtocolViolation, std::string("invalid task of the GPU service: ") + what);
}

Status RunReader::read(std::string_view arguments) {
  Run run;
  STROM_TRY(take(&arguments, &run));
  if (arguments.size() != (uint64_t{run.in} + run.out) * sizeof(RunRange) + uint64_t{run.cached} * sizeof(RunColumn) +
                              uint64_t{run.files} * sizeof(RunFileRange) ||
      run.count > kMostStates)
    return invalid_task("sizes");
  STROM_TRY(read_ranges(run, &arguments));
  STROM_TRY(read_columns(run, &arguments));
  STROM_TRY(read_files(run, &arguments));
  return read_tiles(run);
}

/// nullptr: the session has no such range.
const SharedRegion* RunReader::region_of(const RunRange& range) const {
  const std::shared_ptr<SharedRegion> region = memory_->find(session_, range.region);
  const bool fits = region != nullptr && range.offset <= region->size() && range.bytes <= region->size() - range.offset;
  return fits ? region.get() : nullptr;
}

Result<engine::device::DeviceRange> RunReader::mirrored(const RunRange& range) const {
  const SharedRegion* region = region_of(range);
  if (region == nullptr || region->host() == nullptr) return invalid_task("range");
  return engine::device::DeviceRange{region, range.offset, range.bytes};
}

Status RunReader::read_ranges(const Run& run, std::string_view* arguments) {
  for (uint32_t i = 0; i < run.in + run.out; ++i) {
    RunRange range;
    STROM_TRY(take(arguments, &range));
    STROM_ASSIGN((i < run.in ? work_.in : work_.out).emplace_back(), mirrored(range));
  }
  return Status::ok();
}

Status RunReader::read_columns(const Run& run, std::string_view* arguments) {
  for (uint32_t i = 0; i < run.cached; ++i) {
    RunColumn column;
    STROM_TRY(take(arguments, &column));
    const ColumnStore::Region& to =
        cached_.emplace_back(column.update != 0 ? columns_->update(session_, column.number, column.update)
                                                : columns_->use(session_, column.number, column.from.bytes > 0));
    if (to == nullptr || column.from.bytes > to->size() || (column.update != 0 && column.from.bytes != 0))
      return invalid_task("column");
    if (column.from.bytes == 0) continue;
    const bool is_own = column.from.region == 0 && to->host() != nullptr && column.from.offset == 0;
    engine::device::DeviceRange from{to.get(), 0, column.from.bytes};
    if (!is_own) {
      STROM_ASSIGN(from, mirrored(column.from));
    }
    work_.fills.push_back({to.get(), from});
  }
  return Status::ok();
}

Status RunReader::read_files(const Run& run, std::string_view* arguments) {
  for (uint32_t i = 0; i < run.files; ++i) {
    RunFileRange range;
    STROM_TRY(take(arguments, &range));
    const SharedRegion* region = region_of(range.to);
    std::shared_ptr<const StoredFile> file = files_->find(session_, range.file);
    constexpr uint64_t kMostOffset = INT64_MAX;
    if (region == nullptr || file == nullptr || range.file_offset > kMostOffset - range.to.bytes)
      return invalid_task("range of a file");
    work_.files.push_back({std::move(file), range.file_offset, region, range.to.offset, range.to.bytes});
  }
  return Status::ok();
}

Status RunReader::read_tiles(const Run& run) {
  const auto holds = [this](uint64_t address, uint64_t bytes) { return memory_->holds(session_, address, bytes); };
  if (run.count > 0 && (!holds(run.states, uint64_t{run.count} * sizeof(engine::block::TileState)) ||
                        !holds(run.results, uint64_t{run.count} * sizeof(engine::block::RunResult)) ||
                        (run.stop != 0 && !holds(run.stop, sizeof(int32_t)))))
    return invalid_task("address");
  if (run.pages != 0 &&
      (run.page_count == 0 || run.page_count > kMostPages || !holds(run.pages, sizeof(engine::block::PageTask))))
    return invalid_task("pages");
  if (run.copy_count > kMostCopies ||
      (run.copy_count > 0 && !holds(run.copies, run.copy_count * sizeof(engine::block::BlockCopy))))
    return invalid_task("copies");
  work_.copies = reinterpret_cast<const engine::block::BlockCopy*>(run.copies);
  work_.copy_count = static_cast<uint32_t>(run.copy_count);
  work_.states = reinterpret_cast<engine::block::TileState*>(run.states);
  work_.results = reinterpret_cast<engine::block::RunResult*>(run.results);
  work_.count = static_cast<int>(run.count);
  work_.stop = reinterpret_cast<int32_t*>(run.stop);
  work_.pages = reinterpret_cast<const engine::block::PageTask*>(run.pages);
  work_.page_count = run.page_count;
  return Status::ok();
}

}  // namespace strom::service
