#include "service/shared_memory.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/blocked_signals.hpp"
#include "base/os_error.hpp"
#include "service/local_device.hpp"

namespace strom::service {
namespace {

constexpr size_t kCopyBytes = size_t{8} << 20;

Status no_room(uint64_t bytes) {
  return Status(ErrorCode::kOverBudget, "the GPU has no memory for an export")
      .with_detail(std::to_string(bytes) + " bytes are needed.")
      .with_hint("Drop exports by pgstrom.arrow_fdw_put_gpu_buffer(), or export to the server's memory: GPU -1.");
}

}  // namespace

Result<size_t> read_file(int file, uint8_t* buffer, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    const ssize_t bytes = pread(file, buffer + done, size - done, static_cast<off_t>(offset + done));
    if (bytes == 0) break;
    if (bytes < 0 && errno != EINTR) return base::os_error(errno, "could not read a file for the GPU");
    if (bytes > 0) done += static_cast<size_t>(bytes);
  }
  return done;
}

SharedMemory::SharedMemory(const device::Device* device, MemoryLender* lender, std::function<bool(uint64_t)> give_back)
    : device_(device), lender_(lender), give_back_(std::move(give_back)) {}

SharedMemory::~SharedMemory() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  if (!watcher_.joinable()) return;
  (void)eventfd_write(changed_.get(), 1);
  watcher_.join();
}

Result<device::DeviceMemory> SharedMemory::allocate(uint64_t bytes) {
  for (uint64_t missing = lender_->lend(bytes); missing > 0; missing = lender_->lend(bytes))
    if (!give_back_(missing)) return no_room(bytes);
  if (!lender_->pin(bytes)) {
    lender_->take_back(bytes);
    return no_room(bytes);
  }
  auto memory = allocate_if_free(*device_, bytes);
  // The device may have no memory in one piece.
  while (memory.status().code() == ErrorCode::kOverBudget && give_back_(bytes))
    memory = allocate_if_free(*device_, bytes);
  if (memory.is_ok()) return memory;
  give(bytes);
  return memory.status().code() == ErrorCode::kOverBudget ? no_room(bytes) : memory.status();
}

void SharedMemory::give(uint64_t bytes) {
  lender_->unpin(bytes);
  lender_->take_back(bytes);
}

Status SharedMemory::fill(const device::DeviceMemory& memory, int file, uint64_t bytes, const KeepGoing& keep_going) {
  STROM_ASSIGN(const device::PinnedMemory buffer, device_->allocate_pinned(kCopyBytes));
  STROM_ASSIGN(const device::Stream stream, device_->create_stream());
  for (uint64_t done = 0; done < bytes;) {
    if (!keep_going()) return Status(ErrorCode::kCancelled, "canceled on the GPU");
    const size_t wanted = std::min<uint64_t>(kCopyBytes, bytes - done);
    STROM_ASSIGN(const size_t read, read_file(file, static_cast<uint8_t*>(buffer.get()), wanted, done));
    if (read < wanted) return Status(ErrorCode::kFileChanged, "a file for the GPU is shorter than it was");
    STROM_TRY(stream.copy_in(static_cast<char*>(memory.get()) + done, buffer.get(), read));
    STROM_TRY(stream.finish());
    done += read;
  }
  return {};
}

Result<Shared> SharedMemory::add(int file, uint64_t bytes, Descriptor lease, const KeepGoing& keep_going) {
  // The rest of its last granule would be somebody else's.
  constexpr uint64_t kGranule = device::kShareGranule;
  if (bytes > INT64_MAX - kGranule) return no_room(bytes);
  Shared shared;
  shared.bytes = (bytes + kGranule - 1) / kGranule * kGranule;
  STROM_ASSIGN(device::DeviceMemory memory, allocate(shared.bytes));
  Status status = fill(memory, file, bytes, keep_going);
  if (status.is_ok()) {
    const auto handle = device_->share(memory);
    status = handle.status();
    if (handle.is_ok()) std::memcpy(shared.handle, handle.value().data(), sizeof shared.handle);
  }
  const std::lock_guard lock(mutex_);
  if (status.is_ok() && !watcher_.joinable()) {
    changed_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!changed_.is_open()) {
      status = base::os_error(errno, "could not watch over shared memory of the GPU");
    } else {
      const base::BlockedSignals blocked;
      watcher_ = std::thread([this] { watch(); });
    }
  }
  if (!status.is_ok()) {
    memory = {};
    give(shared.bytes);
    return status;
  }
  pieces_.push_back({std::move(memory), shared.bytes, std::move(lease)});
  (void)eventfd_write(changed_.get(), 1);
  return shared;
}

/// A thread of its own: pipes close at any time.
void SharedMemory::watch() {
  // Errors show when something is released.
  (void)device_->use();
  std::vector<pollfd> waited;
  for (;;) {
    waited.assign(1, {changed_.get(), POLLIN, 0});
    {
      const std::lock_guard lock(mutex_);
      if (ends_) return;
      // No events: what a process writes into the pipe does not matter.
      for (const Piece& piece : pieces_) waited.push_back({piece.lease.get(), 0, 0});
    }
    if (poll(waited.data(), waited.size(), -1) < 0) continue;
    eventfd_t ignored = 0;
    if (waited[0].revents != 0) (void)eventfd_read(changed_.get(), &ignored);
    release_closed();
  }
}

void SharedMemory::release_closed() {
  std::vector<Piece> closed;
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = pieces_.size(); i-- > 0;) {
      pollfd lease = {pieces_[i].lease.get(), 0, 0};
      if (poll(&lease, 1, 0) <= 0) continue;
      closed.push_back(std::move(pieces_[i]));
      pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (Piece& piece : closed) {
    piece.memory = {};
    give(piece.bytes);
  }
}

}  // namespace strom::service
