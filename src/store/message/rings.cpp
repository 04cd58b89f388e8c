#include "store/message/rings.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/os_error.hpp"

namespace strom::store::message {

std::optional<size_t> RingWriter::write(std::string_view bytes) {
  const uint64_t used = sent_ - __atomic_load_n(&words_->taken, __ATOMIC_ACQUIRE);
  if (used > kRingBytes) return std::nullopt;
  const size_t count = std::min<size_t>(bytes.size(), kRingBytes - used);
  const uint64_t at = sent_ % kRingBytes, part = std::min<uint64_t>(count, kRingBytes - at);
  std::memcpy(bytes_ + at, bytes.data(), part);
  std::memcpy(bytes_, bytes.data() + part, count - part);
  sent_ += count;
  __atomic_store_n(&words_->sent, sent_, __ATOMIC_RELEASE);
  return count;
}

bool RingWriter::has_room() const {
  return sent_ - __atomic_load_n(&words_->taken, __ATOMIC_ACQUIRE) <= kRingBytes / 2;
}

bool RingWriter::has_to_wake() {
  // Either this side sees that the other one sleeps, or the other side sees the sent bytes before it sleeps.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return __atomic_load_n(&words_->sleeps, __ATOMIC_RELAXED) != 0 &&
         __atomic_exchange_n(&words_->sleeps, 0U, __ATOMIC_ACQ_REL) != 0;
}

std::optional<size_t> RingReader::read(std::string* to) {
  const uint64_t count = __atomic_load_n(&words_->sent, __ATOMIC_ACQUIRE) - taken_;
  if (count == 0) return 0;
  if (count > kRingBytes) return std::nullopt;
  const uint64_t at = taken_ % kRingBytes, part = std::min<uint64_t>(count, kRingBytes - at);
  to->append(reinterpret_cast<const char*>(bytes_) + at, part);
  to->append(reinterpret_cast<const char*>(bytes_), count - part);
  taken_ += count;
  __atomic_store_n(&words_->taken, taken_, __ATOMIC_RELEASE);
  return count;
}

bool RingReader::has_more() const { return __atomic_load_n(&words_->sent, __ATOMIC_ACQUIRE) != taken_; }

void RingReader::begin_sleep() {
  __atomic_store_n(&words_->sleeps, 1U, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void RingReader::end_sleep() { __atomic_store_n(&words_->sleeps, 0U, __ATOMIC_RELAXED); }

void RingReader::sleep(int milliseconds) {
  constexpr int kMilli = 1000;
  constexpr long kNanosOfMilli = 1'000'000;
  const struct timespec limit{milliseconds / kMilli, milliseconds % kMilli * kNanosOfMilli};
  syscall(SYS_futex, &words_->sleeps, FUTEX_WAIT, 1, &limit, nullptr, 0);
}

void wake(uint32_t* bed) { syscall(SYS_futex, bed, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

Rings::~Rings() {
  if (memory_ != nullptr) munmap(memory_, kRingsFileBytes);
}

Status Rings::make(base::Descriptor* descriptor) {
  *descriptor = base::Descriptor(memfd_create("pg_strom messages", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor->is_open() || ftruncate(descriptor->get(), kRingsFileBytes) != 0)
    return base::os_error(errno, "could not make memory for messages");
  int error;
  do error = posix_fallocate(descriptor->get(), 0, kRingsFileBytes);
  while (error == EINTR);
  if (error != 0) return base::os_error(error, "could not get memory for messages");
  // The client has the file as well, and must not truncate it.
  if (fcntl(descriptor->get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return base::os_error(errno, "could not seal memory for messages");
  return map(*descriptor);
}

Status Rings::map(const base::Descriptor& descriptor) {
  struct stat info{};
  if (fstat(descriptor.get(), &info) != 0) return base::os_error(errno, "could not look at memory for messages");
  if (static_cast<uint64_t>(info.st_size) != kRingsFileBytes)
    return {ErrorCode::kProtocolViolation, "memory for messages has another size"};
  void* memory = mmap(nullptr, kRingsFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
  if (memory == MAP_FAILED) return base::os_error(errno, "could not map memory for messages");
  memory_ = static_cast<uint8_t*>(memory);
  return Status::ok();
}

}  // namespace strom::store::message
