// See mapped_file.hpp. The SIGBUS handler searches a fixed table of mappings: it takes no lock and allocates nothing,
// because it runs in whichever thread touched the missing page.
#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/os_error.hpp"

namespace strom::base {

namespace {

// The kernel's default vm.max_map_count is just below this, so that the table is not what runs out first.
constexpr int32_t kMaxMappings = 65536;

/// One mapping, [begin, end). Free slots hold kNoAddress and 0, which no address is between.
struct Slot {
  std::atomic<uintptr_t> begin;
  std::atomic<uintptr_t> end;
  std::atomic<bool> poisoned;
};
constexpr uintptr_t kNoAddress = ~uintptr_t{0};

// Zero-initialised, so that untouched parts cost no memory; slots below `slots_used` have been set up.
Slot slots[kMaxMappings];
std::atomic<int32_t> slots_used{0};
static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::mutex slots_mutex;  // guards free_slots and growth of slots_used; never taken by the handler
std::vector<int32_t>& free_slots() {
  static auto* list = new std::vector<int32_t>();  // never destroyed: mappings may be released during exit
  return *list;
}

// Mappings by address, for find(); guarded by slots_mutex.
std::map<uintptr_t, const MappedFile*>& mappings() {
  static auto* map = new std::map<uintptr_t, const MappedFile*>();  // never destroyed, either
  return *map;
}

struct sigaction previous_action;
size_t page_size;

/// Slot whose mapping holds `address`, or nullptr. That slot cannot change meanwhile, since the faulting thread keeps
/// its mapping alive; other slots can, hence begin is read again after end.
Slot* find_slot(uintptr_t address) {
  const int32_t count = slots_used.load(std::memory_order_acquire);
  for (int32_t i = 0; i < count; ++i) {
    Slot& slot = slots[i];
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (address < begin) continue;
    const uintptr_t end = slot.end.load(std::memory_order_acquire);
    if (address < end && slot.begin.load(std::memory_order_acquire) == begin) return &slot;
  }
  return nullptr;
}

/// Puts zero pages from the faulting page to the end of the mapping. If a page lies behind the end of file, so do all
/// later ones, and one replacement makes few kernel mappings.
bool replace_missing_pages(uintptr_t address) {
  Slot* slot = find_slot(address);
  if (slot == nullptr) return false;
  slot->poisoned.store(true, std::memory_order_release);
  const uintptr_t from = address & ~(uintptr_t{page_size} - 1);
  const size_t bytes = slot->end.load(std::memory_order_relaxed) - from;
  // The bare system call: sanitizers intercept mmap() with code that is not safe in a signal handler.
  const long mapped = syscall(SYS_mmap, from, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0L);
  return mapped != -1;
}

void pass_on(int signal_number, siginfo_t* info, void* context) {
  if (previous_action.sa_flags & SA_SIGINFO) {
    previous_action.sa_sigaction(signal_number, info, context);
    return;
  }
  const bool from_kernel = info->si_code > 0;
  if (previous_action.sa_handler == SIG_IGN && !from_kernel) return;
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal_number);
    return;
  }
  // Default action, taken when this handler returns and the signal is no longer blocked. A real fault cannot be
  // ignored: the kernel kills then, too.
  struct sigaction default_action = {};
  default_action.sa_handler = SIG_DFL;
  sigaction(signal_number, &default_action, nullptr);
  raise(signal_number);
}

void on_sigbus(int signal_number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const bool from_kernel = info->si_code > 0;  // si_addr means nothing in a signal that a process sent
  if (!from_kernel || !replace_missing_pages(reinterpret_cast<uintptr_t>(info->si_addr))) {
    pass_on(signal_number, info, context);
  }
  errno = saved_errno;
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, nullptr, &previous_action);  // known before ours can run
    sigaction(SIGBUS, &action, nullptr);
  });
}

/// -1 when the table is full.
int32_t acquire_slot(uintptr_t begin, uintptr_t end) {
  std::lock_guard lock(slots_mutex);
  int32_t index = slots_used.load(std::memory_order_relaxed);
  const bool grow = free_slots().empty();
  if (grow && index == kMaxMappings) return -1;
  if (!grow) {
    index = free_slots().back();
    free_slots().pop_back();
  } else {
    // Room for every slot there is, so that release_slot() never allocates.
    if (free_slots().capacity() <= static_cast<size_t>(index))
      free_slots().reserve(2 * static_cast<size_t>(index) + 64);
  }
  Slot& slot = slots[index];
  slot.poisoned.store(false, std::memory_order_relaxed);
  slot.begin.store(kNoAddress, std::memory_order_relaxed);
  slot.end.store(end, std::memory_order_release);
  slot.begin.store(begin, std::memory_order_release);
  if (grow) slots_used.store(index + 1, std::memory_order_release);
  return index;
}

void release_slot(int32_t index) {
  std::lock_guard lock(slots_mutex);
  slots[index].begin.store(kNoAddress, std::memory_order_release);
  slots[index].end.store(0, std::memory_order_release);
  free_slots().push_back(index);
}

// PostgreSQL counts on most of the descriptors that a process may have.
constexpr int kMostDescriptors = 64;
std::atomic<int> kept_descriptors{0};

/// `fd` where it may stay open, else -1 and it is closed.
int keep_descriptor(int fd) {
  if (kept_descriptors.fetch_add(1) < kMostDescriptors) return fd;
  kept_descriptors.fetch_sub(1);
  close(fd);
  return -1;
}

int64_t nanoseconds(const struct timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

FileIdentity identity_of(const struct stat& info) {
  return {static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino), static_cast<int64_t>(info.st_size),
          nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)};
}

std::string quoted(const char* before, const std::string& path) { return std::string(before) + " \"" + path + "\""; }

Status not_regular(const std::string& path) {
  return Status(ErrorCode::kIoError, quoted("could not open", path) + ": it is not a regular file");
}

}  // namespace

Result<FileIdentity> identify_file(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return os_error(errno, quoted("could not open file", path));
  if (!S_ISREG(info.st_mode)) return not_regular(path);
  return identity_of(info);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for its other end.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return os_error(errno, quoted("could not open file", path));
  struct stat info;
  void* address = MAP_FAILED;
  int error_number = 0;
  if (fstat(fd, &info) != 0) {
    error_number = errno;
  } else if (S_ISREG(info.st_mode) && info.st_size > 0) {
    address = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) error_number = errno;
  }
  if (error_number != 0 || !S_ISREG(info.st_mode)) close(fd);
  if (error_number != 0) return os_error(error_number, quoted("could not map file", path));
  if (!S_ISREG(info.st_mode)) return not_regular(path);

  auto file = std::shared_ptr<MappedFile>(new MappedFile(path, identity_of(info)));
  file->shows_residency_ = info.st_uid == geteuid() || access(path.c_str(), W_OK) == 0;
  file->descriptor_ = keep_descriptor(fd);
  if (address != MAP_FAILED) {
    install_handler();
    madvise(address, static_cast<size_t>(info.st_size), MADV_RANDOM);
    const auto begin = reinterpret_cast<uintptr_t>(address);
    // To the end of the last page: vector loads may run past the last byte.
    const uintptr_t end = (begin + static_cast<uintptr_t>(info.st_size) + page_size - 1) & ~(uintptr_t{page_size} - 1);
    file->slot_ = acquire_slot(begin, end);
    if (file->slot_ < 0) {
      munmap(address, static_cast<size_t>(info.st_size));
      return Status(ErrorCode::kOverBudget, quoted("could not map file", path) + ": too many files are mapped");
    }
    file->data_ = static_cast<const uint8_t*>(address);
    std::lock_guard lock(slots_mutex);
    mappings()[begin] = file.get();
  }
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
    kept_descriptors.fetch_sub(1);
  }
  if (slot_ < 0) return;
  {
    std::lock_guard lock(slots_mutex);
    mappings().erase(reinterpret_cast<uintptr_t>(data_));
  }
  release_slot(slot_);  // before the address range can belong to somebody else
  munmap(const_cast<uint8_t*>(data_), static_cast<size_t>(identity_.size));
}

std::shared_ptr<const MappedFile> MappedFile::find(const void* data, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  std::lock_guard lock(slots_mutex);
  auto next = mappings().upper_bound(address);
  if (next == mappings().begin()) return nullptr;
  const MappedFile* file = (--next)->second;
  const uintptr_t offset = address - next->first;
  const auto size = static_cast<uintptr_t>(file->size());
  return offset <= size && bytes <= size - offset ? file->weak_from_this().lock() : nullptr;
}

namespace {

/// The first of these pages that is not in memory; `end` when all are. nullopt when the kernel does not tell.
std::optional<uintptr_t> first_missing(uintptr_t begin, uintptr_t end) {
  while (begin < end) {
    constexpr size_t kPages = 1024;
    unsigned char resident[kPages];
    const size_t pages = std::min(kPages, (end - begin) / page_size);
    if (mincore(reinterpret_cast<void*>(begin), pages * page_size, resident) != 0) return std::nullopt;
    const auto* const missing =
        std::find_if(resident, resident + pages, [](unsigned char page) { return (page & 1) == 0; });
    begin += static_cast<uintptr_t>(missing - resident) * page_size;
    if (missing != resident + pages) break;
  }
  return begin;
}

struct Pages {
  uintptr_t begin, end;
};
Pages pages_of(const uint8_t* data, size_t bytes) {
  const auto mask = static_cast<uintptr_t>(page_size) - 1;
  return {reinterpret_cast<uintptr_t>(data) & ~mask, (reinterpret_cast<uintptr_t>(data) + bytes + mask) & ~mask};
}

}  // namespace

void MappedFile::will_need(const uint8_t* data, int64_t bytes) const {
  auto [begin, end] = pages_of(data, static_cast<size_t>(bytes));
  if (shows_residency_) begin = first_missing(begin, end).value_or(begin);  // a seventh of what the advice costs
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_WILLNEED);
}

bool MappedFile::is_resident(const uint8_t* data, size_t bytes) const {
  const auto [begin, end] = pages_of(data, bytes);
  return shows_residency_ && first_missing(begin, end) == end;
}

int MappedFile::new_descriptor() const {
  if (descriptor_ >= 0) return fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat info;
  if (fd < 0) return -1;
  if (fstat(fd, &info) == 0 && identity_of(info).device == identity_.device &&
      identity_of(info).inode == identity_.inode)
    return fd;
  close(fd);
  return -1;
}

bool MappedFile::is_poisoned() const { return slot_ >= 0 && slots[slot_].poisoned.load(std::memory_order_acquire); }

FileIdentity MappedFile::identity_now() const {
  struct stat info;
  const int failed = descriptor_ >= 0 ? fstat(descriptor_, &info) : stat(path_.c_str(), &info);
  return failed != 0 ? FileIdentity() : identity_of(info);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::reopen() const {
  const std::string path = descriptor_ >= 0 ? "/proc/self/fd/" + std::to_string(descriptor_) : path_;
  auto mapping = open(path);
  if (mapping.status().code() == ErrorCode::kFileNotFound) return std::shared_ptr<const MappedFile>();
  STROM_TRY(mapping.status());
  const FileIdentity& now = mapping.value()->identity();
  if (now.device != identity_.device || now.inode != identity_.inode) return std::shared_ptr<const MappedFile>();
  return mapping;
}

Status MappedFile::check_unchanged() const {
  if (is_poisoned()) {
    return Status(ErrorCode::kFileChanged, quoted("file", path_) + " changed while it was being read")
        .with_detail("A part of the file vanished, or could not be read from its device.");
  }
  struct stat info;
  const int failed = descriptor_ >= 0 ? fstat(descriptor_, &info) : stat(path_.c_str(), &info);
  if (failed != 0) return Status::ok();  // unlinked: the mapping keeps the file
  const FileIdentity now = identity_of(info);
  if (now.device != identity_.device || now.inode != identity_.inode) return Status::ok();  // replaced
  // Not ctime: linking, unlinking and chmod change it and leave the bytes alone.
  if (now.size == identity_.size && now.mtime_ns == identity_.mtime_ns) return Status::ok();
  return Status(ErrorCode::kFileChanged, quoted("file", path_) + " changed while it was being read")
      .with_detail("Its size was " + std::to_string(identity_.size) + " bytes and is " + std::to_string(now.size) +
                   " bytes now; its modification time " +
                   (now.mtime_ns == identity_.mtime_ns ? "is the same." : "differs."));
}

}  // namespace strom::base
