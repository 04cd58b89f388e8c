#include "pg/node/thread_slots.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
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

bool lock_byte(int file, int position) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = position;
  lock.l_len = 1;
  return fcntl(file, F_OFD_SETLK, &lock) == 0;
}

}  // namespace

int wanted_threads() {
  const int setting = guc::pg_strom::cpu_threads;
  return setting > 0 ? setting : std::min(online_cores(), kMostDefaultThreads);
}

ThreadSlots::ThreadSlots(int wanted) {
  if (wanted <= 0 || DataDir == nullptr) return;
  const std::string path = std::string(DataDir) + kFileName;
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file_ < 0) return;
  const int limit = slot_limit();
  const int first = static_cast<int>(static_cast<unsigned>(getpid()) % static_cast<unsigned>(limit));
  for (int i = 0; i < limit && count_ < wanted; ++i)
    if (lock_byte(file_, (first + i) % limit)) ++count_;
}

ThreadSlots::~ThreadSlots() {
  if (file_ >= 0) close(file_);  // releases the locks
}

}  // namespace strom::pg::node
