// Adds rows to an Arrow file, transaction after transaction, until its file system is taken away, or says what is in
// the file. For test/tap/arrow_power_cuts.py.
//   arrow_append_loop write FILE SEED [flush]   prints the number of rows after each commit; `flush`: dirty pages go to
//                                               the disk at once, and the journal, for other files, all the time
//   arrow_append_loop check FILE                prints the number of rows, all of which are right
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include "append_samples.hpp"
#include "format/append_lock.hpp"
#include "format/arrow/write/file_appender.hpp"
#include "format/arrow/write/writer.hpp"
#include "format/staged_file.hpp"

using namespace strom;
using namespace strom::format;
using namespace strom::format::arrow;

namespace {

int fail(const Status& status) {
  (void)fprintf(stderr, "%s: %s\n", status.message().c_str(), status.detail().c_str());
  return 1;
}

/// The number of rows, which are 0, 1, 2 and so on; -1 when they are not.
int64_t count_rows(const std::string& path, Status* status) {
  const auto reader = FileReader::open(path);
  *status = reader.status();
  if (!reader.is_ok()) return -1;
  const Rows rows = rows_of(*reader.value());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == static_cast<int32_t>(i)) continue;
    *status = Status(ErrorCode::kCorruptFile, "row " + std::to_string(i) + " is " + std::to_string(rows[i]));
    return -1;
  }
  return static_cast<int64_t>(rows.size());
}

Status create(const std::string& path) {
  STROM_ASSIGN(auto file, StagedFile::create(path, true));
  STROM_ASSIGN(auto writer, FileWriter::create(std::move(file), test_schema(), false));
  return writer->finish();
}

/// A transaction of some batches; false: it was given up.
Result<bool> add(const std::string& path, int64_t* rows, std::mt19937& random) {
  STROM_ASSIGN(auto lock, AppendLock::take(path));
  AppendOptions options;
  if (random() % 3 == 0) options.most_span = 20'000;
  if (random() % 8 == 0) options.rewrite_above = 100'000;
  STROM_ASSIGN(const auto appender, FileAppender::open(path, std::move(lock), options));
  appender->add_statistics({0});
  const int batches = 1 + static_cast<int>(random() % 3);
  int64_t added = 0;
  for (int i = 0; i < batches; ++i) {
    const int count = random() % 2 ? 1 + static_cast<int>(random() % 5) : 1 + static_cast<int>(random() % 3000);
    const auto columns = make_rows(appender->schema(), static_cast<int>(*rows + added), count);
    Compressor compressor({random() % 4 ? Codec::kNone : Codec::kLz4, 0});
    STROM_ASSIGN(const auto batch, encode_batch(columns, count, compressor));
    STROM_TRY(appender->write(batch, Statistics(appender->statistics_columns()).of(columns), i + 1 == batches));
    added += count;
  }
  if (random() % 6 == 0) return false;
  STROM_TRY(appender->prepare());
  STROM_TRY(appender->commit());
  appender->settle();
  *rows += added;
  return true;
}

void flush_pages(const std::string& path, const std::atomic<bool>& stop) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && !stop) (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
  if (fd >= 0) close(fd);
}

/// Whatever the journal knows of other files at a moment becomes durable.
void commit_journal(const std::string& path, const std::atomic<bool>& stop) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  for (off_t size = 1; fd >= 0 && !stop; ++size)
    if (ftruncate(fd, size) != 0 || fsync(fd) != 0) break;
  if (fd >= 0) close(fd);
}

int write_until_it_fails(const std::string& path, uint32_t seed, bool flush) {
  std::mt19937 random(seed);
  if (access(path.c_str(), F_OK) != 0) {
    if (const Status made = create(path); !made.is_ok()) return fail(made);
  }
  std::atomic<bool> stop{false};
  std::thread flusher, committer;
  if (flush) {
    flusher = std::thread(flush_pages, path, std::cref(stop));
    committer = std::thread(commit_journal, path + ".noise", std::cref(stop));
  }
  Status status;
  int64_t rows = count_rows(path, &status);
  while (status.is_ok()) {
    const auto added = add(path, &rows, random);
    status = added.status();
    if (!status.is_ok() || !added.value()) continue;
    printf("%ld\n", static_cast<long>(rows));
    (void)fflush(stdout);
  }
  stop = true;
  if (flush) {
    flusher.join();
    committer.join();
  }
  return fail(status);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  if (what == "write" && argc > 3)
    return write_until_it_fails(argv[2], static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)), argc > 4);
  if (what != "check") return 2;
  Status status;
  const int64_t rows = count_rows(argv[2], &status);
  if (!status.is_ok()) return fail(status);
  printf("%ld\n", static_cast<long>(rows));
  return 0;
}
