#include "service/device_runner.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/os_error.hpp"
#include "service/protocol.hpp"
#include "service/run_reader.hpp"

namespace strom::service {
namespace {

// Of the memory that is free at the start, what tasks may have: the rest is for streams, kernels' stacks and
// fragmentation.
constexpr uint64_t kTenthsForTasks = 9;

uint64_t microseconds_since(std::chrono::steady_clock::time_point begin) {
  using std::chrono::microseconds;
  return static_cast<uint64_t>(
      std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begin).count());
}

constexpr size_t kMostFiles = 256;  // of a session
/// Of the device's memory, which is kept for the next session. The workers of one query may have gigabytes, and to make
/// these anew took an H100 70 ms, in which nothing else went on.
constexpr uint64_t kIdleShare = 8;
/// Of it, at most, what has a mirror in pinned memory of the host.
constexpr uint64_t kMostIdleMirrors = uint64_t{4} << 30;
/// Of the host's memory, and of what stays on the device, that may be mirrored.
constexpr uint64_t kMirrorShare = 16, kMirroredShare = 2;

uint64_t host_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Result<std::unique_ptr<DeviceRunner>> DeviceRunner::create(std::shared_ptr<const device::Module> module, int number,
                                                           int cache_percent, std::chrono::milliseconds launch_limit,
                                                           StorageOptions storage) {
  if (module->table().fingerprint() != own_fingerprint())
    return Status(ErrorCode::kUnsupported, "device module and GPU service are of different builds")
        .with_hint("Install the files of one build, and restart the server.");
  STROM_ASSIGN(std::unique_ptr<device::Device> device, device::Device::open(std::move(module), number));
  const uint64_t memory = device->facts().free_memory / 10 * kTenthsForTasks;
  const uint64_t cache_limit = memory / 100 * static_cast<uint64_t>(cache_percent);
  const uint64_t idle_limit = memory / kIdleShare;
  const uint64_t idle_mirror_limit = std::min({idle_limit, host_memory() / kMirrorShare, kMostIdleMirrors});
  std::unique_ptr<DeviceRunner> runner(new DeviceRunner(std::move(device), memory, cache_limit, idle_limit,
                                                        idle_mirror_limit, launch_limit, std::move(storage)));
  runner->local_device_.storage().prepare();  // now, and not in the first query
  return runner;
}

void DeviceRunner::set_lender(MemoryLender* lender) {
  const auto create = [this](size_t bytes, bool mirrored) -> Result<ColumnStore::Region> {
    using Mirror = SharedRegion::Mirror;
    STROM_ASSIGN(std::shared_ptr<SharedRegion> region,
                 SharedRegion::create(*device_, bytes, mirrored ? Mirror::kPlain : Mirror::kNone));
    return ColumnStore::Region(std::move(region));
  };
  const uint64_t mirror_limit = std::min(host_memory() / kMirrorShare, cache_limit_ / kMirroredShare);
  columns_ = std::make_unique<ColumnStore>(lender, cache_limit_, mirror_limit, create);
  shared_ = std::make_unique<SharedMemory>(
      device_.get(), lender, [this](uint64_t bytes) { return pool_.drain() || columns_->give_back(bytes); });
}

Result<TaskOutput> DeviceRunner::run(Task& task) {
  STROM_TRY(device_->use());
  switch (static_cast<TaskKind>(task.kind)) {
    case TaskKind::kSelfTest: return self_test(task);
    case TaskKind::kAllocate: return allocate(task);
    case TaskKind::kRelease: return release(task);
    case TaskKind::kRun: return run_tiles(task);
    case TaskKind::kMakeRoom: return make_room(task);
    case TaskKind::kForget: return forget();
    case TaskKind::kOpenFile: return open_file(task);
    case TaskKind::kCloseFile: return close_file(task);
    case TaskKind::kMirror: return mirror(task);
    case TaskKind::kShare: return share(task);
  }
  return Status(ErrorCode::kUnsupported, "the GPU service has no task " + std::to_string(task.kind));
}

void DeviceRunner::end_session(uint32_t session) {
  if (!device_->use().is_ok()) return;
  sessions_.end_session(session);
  columns_->end_session(session);
  files_.end_session(session);
}

// ---- Columns that stay ----

Columns DeviceRunner::find_columns(uint32_t session, const FindColumns& request) {
  return {columns_->find(session, request)};
}

Status DeviceRunner::settle_columns(uint32_t session, const SettleColumns& request) {
  STROM_TRY(device_->use());
  for (const SettledColumn& column : request.columns) {
    if (column.what > kUpdateIsGivenUp || column.shape.size() > engine::device::DeviceCache::kMostShapeBytes)
      return invalid_task("column");
    STROM_TRY(columns_->settle(session, column));
  }
  return {};
}

Cache DeviceRunner::cache(const std::string& after) { return columns_->contents(after); }

Result<TaskOutput> DeviceRunner::make_room(const Task& task) {
  std::string_view arguments = task.arguments;
  std::vector<engine::device::OfferedColumn> columns;
  while (!arguments.empty()) {
    RoomRequest request;
    STROM_TRY(take(&arguments, &request));
    if (request.name_bytes == 0 || request.name_bytes > engine::device::DeviceCache::kMostMirroredNameBytes ||
        request.label_bytes > columnar::BatchOrigin::kMostLabelBytes || columns.size() == kColumnsPerMessage ||
        request.mirrored > 1)
      return invalid_task("column");
    engine::device::OfferedColumn& column = columns.emplace_back();
    column.number = request.column;
    column.bytes = request.bytes;
    column.is_mirrored = request.mirrored == 1;
    STROM_TRY(take(&arguments, request.name_bytes, &column.name));
    STROM_TRY(take(&arguments, request.label_bytes, &column.label));
  }
  STROM_ASSIGN(const std::vector<ColumnStore::Room> rooms, columns_->make_room(task.session, columns));
  TaskOutput output;
  for (const ColumnStore::Room& room : rooms) output.values += bytes_of(RoomGrant{room.number, room.address});
  return output;
}

Result<TaskOutput> DeviceRunner::forget() const {
  TaskOutput output;
  output.values = bytes_of(columns_->reset());
  return output;
}

Result<TaskOutput> DeviceRunner::mirror(const Task& task) const {
  std::string_view arguments = task.arguments;
  AskMirror request;
  STROM_TRY(take(&arguments, &request));
  ColumnStore::Region region = columns_->use(task.session, request.number, true);
  const bool is_written = region != nullptr;
  if (!is_written) region = columns_->use(task.session, request.number, false);
  if (region == nullptr || region->host() == nullptr) return invalid_task("no such join table");
  TaskOutput output;
  STROM_ASSIGN(output.bulk, static_cast<const SharedRegion&>(*region).copy_file(is_written));
  return output;
}

// ---- Memory of sessions, and work ----

Result<TaskOutput> DeviceRunner::allocate(const Task& task) {
  std::string_view arguments = task.arguments;
  Allocate request;
  STROM_TRY(take(&arguments, &request));
  if (task.memory == 0 || request.mirrored > 1) return invalid_task("memory");
  columns_->give_back();
  auto created = pool_.take(task.memory, request.mirrored == 1);
  // The device may be out of memory in one piece.
  while (created.status().code() == ErrorCode::kOverBudget && (pool_.drain() || columns_->give_back(task.memory)))
    created = pool_.take(task.memory, request.mirrored == 1);
  STROM_ASSIGN(std::shared_ptr<SharedRegion> region, std::move(created));
  TaskOutput output;
  STROM_ASSIGN(output.bulk, region->copy_file());
  output.kept = task.memory;
  Allocated allocated;
  allocated.address = reinterpret_cast<uint64_t>(region->device());
  allocated.region = sessions_.add(task.session, std::move(region));
  output.values = bytes_of(allocated);
  return output;
}

Result<TaskOutput> DeviceRunner::release(const Task& task) {
  std::string_view arguments = task.arguments;
  Release request;
  STROM_TRY(take(&arguments, &request));
  const std::shared_ptr<SharedRegion> region = sessions_.remove(task.session, request.region);
  if (region == nullptr) return invalid_task("no such memory");
  TaskOutput output;
  output.returned = region->size();
  return output;
}

Result<TaskOutput> DeviceRunner::run_tiles(const Task& task) {
  RunReader request(task.session, &sessions_, columns_.get(), &files_);
  STROM_TRY(request.read(task.arguments));
  STROM_TRY(local_device_.run(request.work(), [&task] { return !task.stop; }));
  return TaskOutput();
}

Result<TaskOutput> DeviceRunner::open_file(const Task& task) {
  std::string_view arguments = task.arguments;
  OpenFile request;
  STROM_TRY(take(&arguments, &request));
  if (task.descriptors.size() != 1 || request.only_asks > 1) return invalid_task("a file needs a descriptor");
  STROM_ASSIGN(std::shared_ptr<const StoredFile> file,
               local_device_.storage().open(task.descriptors[0].get(), std::string(arguments)));
  OpenedFile opened;
  opened.way = static_cast<uint32_t>(file->way());
  opened.direct_io = file->takes_direct_io() ? 1 : 0;
  const std::string words =
      request.only_asks == 0 ? "" : local_device_.storage().cufile_state() + "\n" + file->why_not();
  if (request.only_asks == 0) {
    opened.file = files_.add(task.session, std::move(file), kMostFiles);
    if (opened.file == 0) return Status(ErrorCode::kOverBudget, "the session has too many files open");
  }
  TaskOutput output;
  output.values = bytes_of(opened) + words;
  return output;
}

Result<TaskOutput> DeviceRunner::close_file(const Task& task) {
  std::string_view arguments = task.arguments;
  CloseFile request;
  STROM_TRY(take(&arguments, &request));
  if (files_.remove(task.session, request.file) == nullptr) return invalid_task("no such file");
  return TaskOutput();
}

Result<TaskOutput> DeviceRunner::share(Task& task) {
  std::string_view arguments = task.arguments;
  Share request;
  STROM_TRY(take(&arguments, &request));
  if (task.descriptors.size() != 2 || request.bytes == 0) return invalid_task("shared memory needs a file and a pipe");
  STROM_ASSIGN(const Shared shared, shared_->add(task.descriptors[0].get(), request.bytes,
                                                 std::move(task.descriptors[1]), [&task] { return !task.stop; }));
  TaskOutput output;
  output.values = bytes_of(shared) + device_->facts().pci_address;
  return output;
}

Result<TaskOutput> DeviceRunner::self_test(const Task& task) const {
  if (task.descriptors.size() != 1 || task.memory < kSelfTestMemory)
    return invalid_task("a self test needs a file and memory");
  STROM_ASSIGN(const device::DeviceMemory memory, device_->allocate(kSelfTestMemory));
  STROM_ASSIGN(const device::PinnedMemory sent, device_->allocate_pinned(kSelfTestMemory));
  STROM_ASSIGN(const device::PinnedMemory received, device_->allocate_pinned(kSelfTestMemory));
  STROM_ASSIGN(const device::Stream stream, device_->create_stream());
  SelfTest result;
  for (;;) {
    if (task.stop) return Status(ErrorCode::kCancelled, "canceled on the GPU");
    STROM_ASSIGN(const size_t bytes, read_file(task.descriptors[0].get(), static_cast<uint8_t*>(sent.get()),
                                               kSelfTestMemory, result.bytes));
    if (bytes == 0) break;
    auto begin = std::chrono::steady_clock::now();
    STROM_TRY(stream.copy_in(memory.get(), sent.get(), bytes));
    STROM_TRY(stream.finish());
    result.in_us += microseconds_since(begin);
    begin = std::chrono::steady_clock::now();
    STROM_TRY(stream.copy_out(received.get(), memory.get(), bytes));
    STROM_TRY(stream.finish());
    result.out_us += microseconds_since(begin);
    if (std::memcmp(sent.get(), received.get(), bytes) != 0)
      return Status(ErrorCode::kDeviceLost, "the GPU gives other bytes back than it was given");
    result.bytes += bytes;
  }
  TaskOutput output;
  output.values.assign(reinterpret_cast<const char*>(&result), sizeof result);
  return output;
}

}  // namespace strom::service
