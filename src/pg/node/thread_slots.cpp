#include "pg/node/thread_slots.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "pg/boundary/postgres.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::node {

namespace {

constexpr int kMostDefaultThreads = 16;
constexpr int kThreadsPerCore = 4;                                   // for all sessions together
constexpr const char kFileName[] = "/pg_stat_tmp/pg_strom.threads";  // a folder that base backups leave out

int online_cores() {
  static const int cores = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  return cores;
}

int slot_limit() {
  const int limit = guc::pg_strom::max_engine_threads;
  return limit > 0 ? limit : kThreadsPerCore * online_cores();
}

struct flock lock_of(int position) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = position;
  lock.l_len = 1;
  return lock;
}

bool lock_byte(int file, int position) {
  struct flock lock = lock_of(position);
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

/// The number of slots that other sessions hold.
int others_slots(int file) {
  int count = 0;
  for (int i = 0; i < slot_limit(); ++i) {
    struct flock lock = lock_of(i);
    if (fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) ++count;
  }
  return count;
}

/// Threads of the machine that run or want to, this one included; 0: unknown. Takes some microseconds.
int running_threads() {
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  const ssize_t bytes = read(file, text, sizeof(text) - 1);
  close(file);
  text[std::max<ssize_t>(bytes, 0)] = 0;
  int running = 0;
  return std::sscanf(text, "%*f %*f %*f %d", &running) == 1 ? running : 0;  // NOLINT(cert-err34-c)
}

}  // namespace

int wanted_threads() {
  const int setting = guc::pg_strom::cpu_threads;
  return setting > 0 ? setting : std::min(online_cores(), kMostDefaultThreads);
}

int most_threads() { return guc::pg_strom::cpu_threads > 0 ? wanted_threads() : kThreadsPerCore * wanted_threads(); }

ThreadSlots::ThreadSlots(int wanted) {
  if (wanted <= 0 || DataDir == nullptr) return;
  const std::string path = std::string(DataDir) + kFileName;
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file_ >= 0) take(wanted);
}

void ThreadSlots::take(int wanted) {
  const int limit = slot_limit();
  const int first = static_cast<int>(static_cast<unsigned>(getpid()) % static_cast<unsigned>(limit));
  for (int i = 0; i < limit && count_ < wanted; ++i)
    if (lock_byte(file_, (first + i) % limit)) ++count_;
}

void ThreadSlots::take_more() {
  if (file_ < 0 || most_threads() == wanted_threads()) return;
  int running = running_threads();
  if (running <= online_cores()) return;
  // Each slot of another session stands for its thread, and for the session's own.
  running -= 2 * others_slots(file_);
  take(std::min(running / online_cores() * wanted_threads(), most_threads()) - 1);
}

ThreadSlots::~ThreadSlots() {
  if (file_ >= 0) close(file_);  // releases the locks
}

}  // namespace strom::pg::node
