#include "service/remote_device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/os_error.hpp"

namespace strom::service {

using engine::device::ColumnName;
using engine::device::DeviceRange;
using engine::device::DeviceRegion;
using engine::device::DeviceWork;
using engine::device::FoundColumn;
using engine::device::OfferedColumn;

namespace {

constexpr int kPollMs = 10;
constexpr int kFirstMemoryMs = 5000, kFurtherMemoryMs = 200;
constexpr size_t kRangesPerTask =
    (kMaxMessageBytes - 256 - engine::device::DeviceCache::kMostColumns * sizeof(RunColumn)) / sizeof(RunRange);
constexpr size_t kFilesPerTask = (kMaxMessageBytes - 256) / sizeof(RunFileRange);
constexpr size_t kMostNameBytes = 4096;

/// The service keeps memory that was let go of for those who ask for as much: so that not every size is another one,
/// pages or eighths of a power of two.
size_t common_size(size_t bytes) {
  const size_t step = std::max<size_t>(4096, std::bit_floor(bytes) / 8);
  return bytes > SIZE_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

Submit request(TaskKind kind, std::string arguments, uint64_t memory = 0) {
  return {static_cast<uint16_t>(kind), memory, std::move(arguments)};
}

bool is_task(const Message& message, TaskKind kind) {
  const auto* submit = std::get_if<Submit>(&message);
  return submit != nullptr && submit->task == static_cast<uint16_t>(kind);
}

Status unexpected() {
  return Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: unexpected answer");
}

}  // namespace

class RemoteDevice::Region final : public DeviceRegion {
 public:
  Region(RemoteDevice* device, const Allocated& allocated, char* mirror, size_t size)
      : DeviceRegion(reinterpret_cast<char*>(allocated.address), mirror, size),
        device_(device),
        number_(allocated.region) {}
  ~Region() override {
    device_->release(number_);
    if (host_ != nullptr) munmap(host_, size_);
  }
  uint64_t number() const { return number_; }

 private:
  RemoteDevice* const device_;
  const uint64_t number_;
};

/// Columns that one message has found, let go of with one.
struct RemoteDevice::Pins {
  RemoteDevice* device;
  std::vector<SettledColumn> columns;
  explicit Pins(RemoteDevice* owner) : device(owner) {}
  Pins(const Pins&) = delete;
  Pins& operator=(const Pins&) = delete;
  ~Pins() { device->settle(std::move(columns)); }
};

class RemoteDevice::CachedRegion final : public DeviceRegion {
 public:
  CachedRegion(std::shared_ptr<Pins> pins, uint64_t number, uint64_t address, size_t size)
      : DeviceRegion(reinterpret_cast<char*>(address), nullptr, size), pins_(std::move(pins)), number_(number) {
    pins_->columns.push_back({number, kColumnIsLetGo, "", 0});
  }
  ~CachedRegion() override {
    if (host_ != nullptr) munmap(host_, size_);
    // Before it is let go of.
    if (update_ != 0) pins_->columns.insert(pins_->columns.begin(), {number_, kUpdateIsGivenUp, "", 0});
  }
  uint64_t number() const { return number_; }
  void set_host(char* host) { host_ = host; }
  /// Number by which the session brings the column up to date, or 0.
  uint64_t update() const { return update_; }
  void set_update(uint64_t update) const { update_ = update; }

 private:
  const std::shared_ptr<Pins> pins_;
  const uint64_t number_;
  mutable uint64_t update_ = 0;
};

class RemoteDevice::File final : public engine::device::DeviceFile {
 public:
  File(RemoteDevice* device, uint64_t number) : device_(device), number_(number) {}
  ~File() override { device_->close_file(number_); }
  uint64_t number() const { return number_; }

 private:
  RemoteDevice* const device_;
  const uint64_t number_;
};

Result<std::unique_ptr<RemoteDevice>> RemoteDevice::connect(const ClientOptions& options) {
  STROM_ASSIGN(std::unique_ptr<Client> client, Client::connect(options));
  return std::unique_ptr<RemoteDevice>(new RemoteDevice(std::move(client)));
}

Result<std::unique_ptr<DeviceRegion>> RemoteDevice::allocate(size_t at_least, bool mirrored,
                                                             const KeepGoing& keep_going) {
  const size_t bytes = common_size(at_least);
  Allocate wanted;
  wanted.mirrored = mirrored ? 1 : 0;
  int timeout_ms;
  {
    const std::lock_guard lock(mutex_);
    timeout_ms = regions_ == 0 ? kFirstMemoryMs : kFurtherMemoryMs;
  }
  Result<Reply> reply = ask(request(TaskKind::kAllocate, bytes_of(wanted), bytes), keep_going, timeout_ms);
  // More than the device has at all: nothing to wait for.
  if (!reply.is_ok() && reply.status().code() == ErrorCode::kOutOfMemory)
    return Status(ErrorCode::kOverBudget, reply.status().message());
  if (!reply.is_ok()) return reply.status();
  const auto* finished = std::get_if<Finished>(&reply.value().message);
  if (finished == nullptr) return unexpected();
  std::string_view values = finished->values;
  Allocated allocated;
  STROM_TRY(take(&values, &allocated));
  char* mirror = nullptr;
  {
    const std::lock_guard lock(mutex_);
    ++regions_;
  }
  if (mirrored) {
    void* mapped = reply.value().bulk.is_open()
                       ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reply.value().bulk.get(), 0)
                       : MAP_FAILED;
    if (mapped == MAP_FAILED) {
      const Status status = base::os_error(errno, "could not map memory of the GPU service");
      release(allocated.region);
      return status;
    }
    mirror = static_cast<char*>(mapped);
  }
  return std::unique_ptr<DeviceRegion>(new Region(this, allocated, mirror, bytes));
}

/// Nobody waits for the answer.
void RemoteDevice::release(uint64_t region) {
  Release gone;
  gone.region = region;
  const std::lock_guard lock(mutex_);
  --regions_;
  if (lost_.is_ok()) (void)client_->submit(request(TaskKind::kRelease, bytes_of(gone)));
}

// ---- Columns that stay ----

/// Nobody waits for an answer, and none comes. A service that does not hear of it would keep them for this session.
void RemoteDevice::settle(std::vector<SettledColumn> columns) {
  const std::lock_guard lock(mutex_);
  if (lost_.is_ok() && !columns.empty()) lost_ = client_->tell(SettleColumns{std::move(columns)});
}

Result<std::vector<FoundColumn>> RemoteDevice::find(const std::vector<ColumnName>& names, const KeepGoing& keep_going) {
  return find_all(names, false, keep_going);
}

Result<std::vector<FoundColumn>> RemoteDevice::find_older(const std::vector<ColumnName>& names,
                                                          const KeepGoing& keep_going) {
  return find_all(names, true, keep_going);
}

Result<std::vector<FoundColumn>> RemoteDevice::find_all(const std::vector<ColumnName>& names, bool only_older,
                                                        const KeepGoing& keep_going) {
  std::vector<FoundColumn> found;
  for (size_t i = 0; i < names.size(); i += kColumnsPerMessage) {
    FindColumns request;
    request.only_older = only_older;
    for (size_t k = i; k < std::min(names.size(), i + kColumnsPerMessage); ++k) {
      request.names.push_back(names[k].name);
      request.generations.push_back(names[k].generation);
    }
    STROM_TRY(find_some(request, &found, keep_going));
  }
  return found;
}

Status RemoteDevice::find_some(const FindColumns& request, std::vector<FoundColumn>* found,
                               const KeepGoing& keep_going) {
  STROM_ASSIGN(Columns columns, ask_for<Columns>(request, keep_going));
  const auto pins = std::make_shared<Pins>(this);
  for (ColumnRow& row : columns.rows) {
    FoundColumn& column = found->emplace_back();
    column.is_wanted = row.state == kColumnIsWanted;
    if (row.state != kColumnIsCached && row.state != kColumnIsOlder) continue;
    auto region = std::make_unique<CachedRegion>(pins, row.number, row.address, row.bytes);
    region->set_update(row.update);
    column.region = std::move(region);
    column.shape = std::move(row.shape);
    column.is_older = row.state == kColumnIsOlder;
    column.generation = row.generation;
  }
  return columns.rows.size() == request.names.size() ? Status::ok() : unexpected();
}

Result<std::vector<std::unique_ptr<DeviceRegion>>> RemoteDevice::make_room(const std::vector<OfferedColumn>& columns,
                                                                           const KeepGoing& keep_going) {
  std::vector<std::unique_ptr<DeviceRegion>> rooms;
  for (size_t i = 0; i < columns.size(); i += kColumnsPerMessage)
    STROM_TRY(make_some_room(&columns[i], std::min(columns.size() - i, kColumnsPerMessage), &rooms, keep_going));
  return rooms;
}

Status RemoteDevice::make_some_room(const OfferedColumn* columns, size_t count,
                                    std::vector<std::unique_ptr<DeviceRegion>>* rooms, const KeepGoing& keep_going) {
  std::string arguments;
  for (size_t i = 0; i < count; ++i) {
    const OfferedColumn& column = columns[i];
    arguments +=
        bytes_of(RoomRequest{column.bytes, column.number, static_cast<uint16_t>(column.name.size()),
                             static_cast<uint16_t>(column.label.size()), column.is_mirrored ? uint64_t{1} : 0});
    arguments += column.name + column.label;
  }
  STROM_ASSIGN(const Finished finished,
               ask_for<Finished>(request(TaskKind::kMakeRoom, std::move(arguments)), keep_going));
  std::string_view values = finished.values;
  for (size_t i = 0; i < count; ++i) {
    RoomGrant grant;
    STROM_TRY(take(&values, &grant));
    rooms->push_back(grant.number == 0 ? nullptr
                                       : std::make_unique<CachedRegion>(std::make_shared<Pins>(this), grant.number,
                                                                        grant.address, columns[i].bytes));
  }
  for (size_t i = 0; i < count; ++i) {
    auto* room = static_cast<CachedRegion*>((rooms->end() - static_cast<long>(count - i))->get());
    if (room != nullptr && columns[i].is_mirrored) STROM_TRY(map_mirror(room, true, keep_going));
  }
  return {};
}

/// Maps what a region that was just found or made has on the host.
Status RemoteDevice::map_mirror(CachedRegion* region, bool is_written, const KeepGoing& keep_going) {
  STROM_ASSIGN(const Reply reply,
               ask(request(TaskKind::kMirror, bytes_of(AskMirror{region->number()})), keep_going, -1));
  if (!reply.bulk.is_open()) return unexpected();
  void* mapped =
      mmap(nullptr, region->size(), is_written ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, reply.bulk.get(), 0);
  if (mapped == MAP_FAILED) return base::os_error(errno, "could not map memory of the GPU service");
  region->set_host(static_cast<char*>(mapped));
  return {};
}

Result<FoundColumn> RemoteDevice::find_mirrored(const std::string& name, const KeepGoing& keep_going) {
  std::vector<FoundColumn> found;
  STROM_TRY(find_some({{name}, {0}}, &found, keep_going));
  if (found[0].region != nullptr)
    STROM_TRY(map_mirror(static_cast<CachedRegion*>(found[0].region.get()), false, keep_going));
  return std::move(found[0]);
}

void RemoteDevice::publish(const DeviceRegion& region, const std::string& shape, uint64_t generation) {
  const auto& cached = static_cast<const CachedRegion&>(region);
  settle({{cached.number(), kColumnIsPublished, cached.update() == 0 ? shape : "", generation}});
  cached.set_update(0);
}

// ---- Work ----

Status RemoteDevice::run_some(const DeviceWork& work, size_t in_begin, size_t in_end, size_t out_begin, size_t out_end,
                              bool launch, const KeepGoing& keep_going) {
  Run run;
  if (launch) {
    run.states = reinterpret_cast<uint64_t>(work.states);
    run.results = reinterpret_cast<uint64_t>(work.results);
    run.count = static_cast<uint32_t>(work.count);
    run.stop = reinterpret_cast<uint64_t>(work.stop);
    run.pages = reinterpret_cast<uint64_t>(work.pages);
    run.page_count = work.page_count;
    run.copies = reinterpret_cast<uint64_t>(work.copies);
    run.copy_count = work.copy_count;
  }
  run.in = static_cast<uint32_t>(in_end - in_begin);
  run.out = static_cast<uint32_t>(out_end - out_begin);
  if (launch) run.cached = static_cast<uint32_t>(work.fills.size() + work.cached.size() + work.updated.size());
  std::string arguments = bytes_of(run);
  const auto place = [](const DeviceRange& range) {
    return RunRange{static_cast<const Region*>(range.region)->number(), range.offset, range.bytes};
  };
  const auto add = [&](const DeviceRange& range) { arguments += bytes_of(place(range)); };
  std::for_each(work.in.begin() + static_cast<long>(in_begin), work.in.begin() + static_cast<long>(in_end), add);
  std::for_each(work.out.begin() + static_cast<long>(out_begin), work.out.begin() + static_cast<long>(out_end), add);
  for (size_t i = 0; launch && i < work.fills.size(); ++i) {
    const DeviceRange& from = work.fills[i].from;
    const bool is_own = from.region == work.fills[i].to;
    arguments += bytes_of(RunColumn{static_cast<const CachedRegion*>(work.fills[i].to)->number(),
                                    is_own ? RunRange{0, from.offset, from.bytes} : place(from), 0});
  }
  for (size_t i = 0; launch && i < work.cached.size(); ++i)
    arguments += bytes_of(RunColumn{static_cast<const CachedRegion*>(work.cached[i])->number(), {}, 0});
  for (size_t i = 0; launch && i < work.updated.size(); ++i) {
    const auto* updated = static_cast<const CachedRegion*>(work.updated[i]);
    if (updated->update() == 0) return Status(ErrorCode::kInternal, "a column is written to that others may write to");
    arguments += bytes_of(RunColumn{updated->number(), {}, updated->update()});
  }
  return ask(request(TaskKind::kRun, std::move(arguments)), keep_going, -1).status();
}

/// What the service says of the file, in words.
Result<std::string> RemoteDevice::open_file(int descriptor, const std::string& name, bool only_asks, OpenedFile* opened,
                                            const KeepGoing& keep_going) {
  OpenFile wanted;
  wanted.only_asks = only_asks ? 1 : 0;
  STROM_ASSIGN(const Reply reply, ask(request(TaskKind::kOpenFile, bytes_of(wanted) + name.substr(0, kMostNameBytes)),
                                      keep_going, -1, {descriptor}));
  std::string_view values = std::get<Finished>(reply.message).values;
  STROM_TRY(take(&values, opened));
  return std::string(values);
}

Result<std::shared_ptr<const engine::device::DeviceFile>> RemoteDevice::open_file(int descriptor,
                                                                                  const std::string& name,
                                                                                  const KeepGoing& keep_going) {
  OpenedFile opened;
  STROM_TRY(open_file(descriptor, name, false, &opened, keep_going).status());
  return std::shared_ptr<const engine::device::DeviceFile>(std::make_shared<const File>(this, opened.file));
}

Result<RemoteDevice::FileAnswer> RemoteDevice::ask_about_file(int descriptor, const std::string& name,
                                                              const KeepGoing& keep_going) {
  OpenedFile opened;
  STROM_ASSIGN(const std::string words, open_file(descriptor, name, true, &opened, keep_going));
  const size_t end = std::min(words.find('\n'), words.size());
  return FileAnswer{static_cast<StorageWay>(opened.way), opened.direct_io == 1, words.substr(0, end),
                    words.substr(std::min(words.size(), end + 1))};
}

/// Nobody waits for the answer.
void RemoteDevice::close_file(uint64_t file) {
  const std::lock_guard lock(mutex_);
  if (lost_.is_ok()) (void)client_->submit(request(TaskKind::kCloseFile, bytes_of(CloseFile{file})));
}

Status RemoteDevice::read_files(const DeviceWork& work, const KeepGoing& keep_going) {
  for (size_t begin = 0; begin < work.files.size(); begin += kFilesPerTask) {
    Run run;
    run.files = static_cast<uint32_t>(std::min(kFilesPerTask, work.files.size() - begin));
    std::string arguments = bytes_of(run);
    for (size_t i = begin; i < begin + run.files; ++i) {
      const engine::device::DeviceFileRange& from = work.files[i];
      const RunRange to{static_cast<const Region*>(from.region)->number(), from.offset, from.bytes};
      arguments += bytes_of(RunFileRange{static_cast<const File&>(*from.file).number(), from.file_offset, to});
    }
    STROM_TRY(ask(request(TaskKind::kRun, std::move(arguments)), keep_going, -1).status());
  }
  return {};
}

/// In as many tasks as the ranges need.
Status RemoteDevice::run(const DeviceWork& work, const KeepGoing& keep_going) {
  STROM_TRY(read_files(work, keep_going));
  size_t in = 0;
  for (; work.in.size() - in > kRangesPerTask / 2; in += kRangesPerTask / 2)
    STROM_TRY(run_some(work, in, in + kRangesPerTask / 2, 0, 0, false, keep_going));
  size_t out = std::min(work.out.size(), kRangesPerTask / 2);
  STROM_TRY(run_some(work, in, work.in.size(), 0, out, true, keep_going));
  for (; out < work.out.size();) {
    const size_t end = std::min(work.out.size(), out + kRangesPerTask);
    STROM_TRY(run_some(work, 0, 0, out, end, false, keep_going));
    out = end;
  }
  return {};
}

Result<std::vector<DeviceRow>> RemoteDevice::devices(const KeepGoing& keep_going) {
  STROM_ASSIGN(Devices devices, ask_for<Devices>(AskDevices{}, keep_going));
  return std::move(devices.rows);
}

bool RemoteDevice::is_alive() {
  const std::lock_guard lock(mutex_);
  if (!lost_.is_ok() || is_reading_) return lost_.is_ok();
  // Answers that nobody waits for are read here, too.
  for (;;) {
    Result<std::optional<Reply>> reply = client_->poll();
    if (!reply.is_ok()) lost_ = reply.status();
    if (!reply.is_ok() || !reply.value()) return lost_.is_ok();
    take_reply(std::move(*reply.value()));
  }
}

/// Answers that come later are dropped.
void RemoteDevice::abandon(uint32_t tag, const Message& request) {
  const std::lock_guard lock(mutex_);
  awaited_.erase(tag);
  if (!lost_.is_ok()) return;
  const bool is_search = std::holds_alternative<FindColumns>(request);
  if (is_search || is_task(request, TaskKind::kAllocate) || is_task(request, TaskKind::kMakeRoom) ||
      is_task(request, TaskKind::kOpenFile))
    unwanted_[tag] = request;
  if (!is_search) (void)client_->cancel(tag);
}

/// Under the lock: gives the answer to who waits for it. Memory and files that came too late for that go back.
void RemoteDevice::take_reply(Reply reply) {
  const auto waiting = awaited_.find(reply.tag);
  if (waiting != awaited_.end()) {
    waiting->second.reply = std::move(reply);
    waiting->second.changed.notify_one();
    return;
  }
  const auto unwanted = unwanted_.extract(reply.tag);
  if (unwanted.empty()) return;
  SettleColumns columns;
  if (const auto* found = std::get_if<Columns>(&reply.message))
    for (const ColumnRow& row : found->rows)
      if (row.number != 0) {
        if (row.update != 0) columns.columns.push_back({row.number, kUpdateIsGivenUp, "", 0});
        columns.columns.push_back({row.number, kColumnIsLetGo, "", 0});
      }
  if (const auto* finished = std::get_if<Finished>(&reply.message)) {
    std::string_view values = finished->values;
    RoomGrant grant;
    if (is_task(unwanted.mapped(), TaskKind::kMakeRoom))
      while (take(&values, &grant).is_ok())
        if (grant.number != 0) columns.columns.push_back({grant.number, kColumnIsLetGo, "", 0});
    Allocated allocated;
    if (is_task(unwanted.mapped(), TaskKind::kAllocate) && take(&values, &allocated).is_ok())
      (void)client_->submit(request(TaskKind::kRelease, bytes_of(Release{allocated.region})));
    OpenedFile opened;
    if (is_task(unwanted.mapped(), TaskKind::kOpenFile) && take(&values, &opened).is_ok() && opened.file != 0)
      (void)client_->submit(request(TaskKind::kCloseFile, bytes_of(CloseFile{opened.file})));
  }
  if (!columns.columns.empty()) (void)client_->tell(columns);
}

/// Reads for all threads until this one's answer is there, for kPollMs at most. Then another one of those that wait
/// goes on with it; all of them, when the connection is lost.
void RemoteDevice::read_until(const Awaited& mine, std::unique_lock<std::mutex>* lock) {
  is_reading_ = true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPollMs);
  while (!mine.reply && lost_.is_ok() && std::chrono::steady_clock::now() < end) {
    lock->unlock();
    Result<std::optional<Reply>> read = client_->wait(kPollMs);
    lock->lock();
    if (!read.is_ok()) {
      lost_ = read.status();
    } else if (read.value()) {
      take_reply(std::move(*read.value()));
    }
  }
  is_reading_ = false;
  for (auto& [tag, other] : awaited_) {
    if (!other.waits || other.reply) continue;
    other.changed.notify_one();
    if (lost_.is_ok()) break;
  }
}

/// The answer, if it comes within kPollMs: read by this thread, or by another one that waits.
Result<std::optional<Reply>> RemoteDevice::wait_a_moment(uint32_t tag) {
  std::unique_lock lock(mutex_);
  Awaited& mine = awaited_.at(tag);
  mine.waits = true;
  if (is_reading_)
    mine.changed.wait_for(lock, std::chrono::milliseconds(kPollMs),
                          [&] { return mine.reply.has_value() || !lost_.is_ok() || !is_reading_; });
  mine.waits = false;
  if (!mine.reply && lost_.is_ok() && !is_reading_) read_until(mine, &lock);
  if (!mine.reply) {
    if (!lost_.is_ok()) return lost_;
    return std::optional<Reply>();
  }
  std::optional<Reply> reply = std::move(mine.reply);
  awaited_.erase(tag);
  return reply;
}

Result<Reply> RemoteDevice::ask(const Message& request, const KeepGoing& keep_going, int timeout_ms,
                                const std::vector<int>& descriptors) {
  uint32_t tag;
  {
    const std::lock_guard lock(mutex_);
    if (!lost_.is_ok()) return lost_;
    STROM_ASSIGN(tag, client_->request(request, descriptors));
    awaited_[tag];
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  struct Waiting {  // also for a `keep_going` that throws
    RemoteDevice* device;
    uint32_t tag;
    const Message& request;
    bool is_answered = false;
    ~Waiting() {
      if (!is_answered) device->abandon(tag, request);
    }
  } waiting{this, tag, request};
  for (;;) {
    STROM_ASSIGN(std::optional<Reply> reply, wait_a_moment(tag));
    if (reply) {
      waiting.is_answered = true;
      if (const auto* failed = std::get_if<Failed>(&reply->message)) return status_of(*failed);
      return std::move(*reply);
    }
    if (!keep_going()) return Status(ErrorCode::kCancelled, "stopped");
    if (timeout_ms >= 0 && std::chrono::steady_clock::now() > end)
      return Status(ErrorCode::kOverBudget, "no memory of the GPU became free in time");
  }
}

template <class Answer>
Result<Answer> RemoteDevice::ask_for(const Message& request, const KeepGoing& keep_going) {
  STROM_ASSIGN(Reply reply, ask(request, keep_going, -1));
  auto* answer = std::get_if<Answer>(&reply.message);
  if (answer == nullptr) return unexpected();
  return std::move(*answer);
}

}  // namespace strom::service
