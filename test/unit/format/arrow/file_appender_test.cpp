// Record batches added in place: the file is the old or the new one at every moment, whatever is killed or cut off, and
// readers that have it open go on reading.
#include "format/arrow/write/file_appender.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "append_samples.hpp"
#include "format/arrow/metadata/footer_note.hpp"
#include "format/arrow/read/reader.hpp"
#include "format/arrow/read/reader_cache.hpp"

namespace strom::format::arrow {
namespace {

namespace fs = std::filesystem;

Rows rows_in(const std::string& path) {
  const auto reader = FileReader::open(path);
  EXPECT_TRUE(reader.is_ok()) << reader.status().message() << ": " << reader.status().detail();
  return reader.is_ok() ? rows_of(*reader.value()) : Rows{-4};
}

Rows numbers(int from, int count) {
  Rows rows;
  for (int i = from; i < from + count; ++i) rows.push_back(i);
  return rows;
}

Rows operator+(Rows a, const Rows& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string bytes_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class FileAppenderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/file_appender_test.XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    path_ = folder_ + "/f.arrow";
    schema_ = test_schema();
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// As others write it: without a mark.
  void create(int rows) {
    auto file = StagedFile::create(path_, true);
    auto writer = FileWriter::create(std::move(file).value(), schema_, false);
    if (rows > 0) {
      const auto columns = make_rows(schema_, 0, rows);
      Compressor none({});
      ASSERT_TRUE(writer.value()->write(encode_batch(columns, rows, none).value()).is_ok());
    }
    ASSERT_TRUE(writer.value()->finish().is_ok());
  }

  Result<std::unique_ptr<FileAppender>> open(const AppendOptions& options = {}) const {
    STROM_ASSIGN(auto lock, AppendLock::take(path_));
    return FileAppender::open(path_, std::move(lock), options);
  }

  static Status add(FileAppender& appender, int from, int count, Codec codec = Codec::kNone, bool is_last = false) {
    const auto columns = make_rows(appender.schema(), from, count);
    Compressor compressor({codec, 0});
    STROM_ASSIGN(const auto batch, encode_batch(columns, count, compressor));
    return appender.write(batch, Statistics(appender.statistics_columns()).of(columns), is_last);
  }

  /// A transaction of several batches.
  Status append(const std::vector<int>& counts, int from, const AppendOptions& options = {}) const {
    STROM_ASSIGN(const auto appender, open(options));
    appender->add_statistics({0});
    for (size_t i = 0; i < counts.size(); ++i) {
      STROM_TRY(add(*appender, from, counts[i], i % 2 ? Codec::kLz4 : Codec::kNone, i + 1 == counts.size()));
      from += counts[i];
    }
    STROM_TRY(appender->prepare());
    STROM_TRY(appender->commit());
    appender->settle();
    return Status::ok();
  }

  std::string folder_, path_;
  Schema schema_;
};

TEST_F(FileAppenderTest, AddsBatchesAndStatistics) {
  create(10);
  ASSERT_TRUE(append({5, 6}, 10).is_ok());
  ASSERT_TRUE(append({100}, 21).is_ok());
  const auto reader = FileReader::open(path_);
  ASSERT_TRUE(reader.is_ok()) << reader.status().detail();
  EXPECT_EQ(rows_of(*reader.value()), numbers(0, 121));
  EXPECT_EQ(reader.value()->batch_count(), 4);
  EXPECT_FALSE(reader.value()->bounds(0, 0).value().has_value());
  EXPECT_TRUE(reader.value()->bounds(3, 0).value().has_value());
}

TEST_F(FileAppenderTest, GivingUpLeavesTheFileAsItWas) {
  create(10);
  for (int round = 0; round < 2; ++round) {
    const std::string before = bytes_in(path_);
    const auto time = fs::last_write_time(path_);
    {
      const auto appender = open();
      ASSERT_TRUE(add(*appender.value(), 50, 1000).is_ok());
      ASSERT_TRUE(round == 0 || appender.value()->prepare().is_ok());
      EXPECT_EQ(rows_in(path_), numbers(0, 10 + 5 * round));
    }
    EXPECT_EQ(bytes_in(path_), before);
    EXPECT_EQ(fs::last_write_time(path_), time);
    if (round == 0) {
      ASSERT_TRUE(append({5}, 10).is_ok());
    }
  }
}

TEST_F(FileAppenderTest, CommitCanBeUndone) {
  create(10);
  const std::string before = bytes_in(path_);
  for (const bool clears : {false, true}) {
    auto appender = open().value();
    if (clears) appender->clear(appender->schema());
    ASSERT_TRUE(add(*appender, 10, 5).is_ok());
    ASSERT_TRUE(appender->prepare().is_ok());
    ASSERT_TRUE(appender->commit().is_ok());
    EXPECT_EQ(rows_in(path_), clears ? numbers(10, 5) : numbers(0, 15));
    appender->undo();
    appender.reset();
    EXPECT_EQ(bytes_in(path_), before);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  }
}

TEST_F(FileAppenderTest, MarksAndReading) {
  create(10);
  const auto appender = open().value();
  const auto start = appender->mark();
  ASSERT_TRUE(add(*appender, 10, 5).is_ok());
  const auto middle = appender->mark();
  ASSERT_TRUE(add(*appender, 100, 5).is_ok());
  const auto pending = FileReader::open_pending(path_, appender->footer().value());
  ASSERT_TRUE(pending.is_ok()) << pending.status().detail();
  EXPECT_EQ(rows_of(*pending.value()), numbers(0, 15) + numbers(100, 5));
  appender->clear(appender->schema());
  ASSERT_TRUE(add(*appender, 200, 5).is_ok());
  EXPECT_EQ(rows_of(*FileReader::open_pending(path_, appender->footer().value()).value()), numbers(200, 5));
  appender->cut(middle);
  EXPECT_EQ(rows_of(*FileReader::open_pending(path_, appender->footer().value()).value()), numbers(0, 15));
  std::vector<ColumnBuilder> columns;
  for (const Field& field : appender->schema().fields) columns.emplace_back(field);
  ASSERT_TRUE(appender->read(start, 0, columns).is_ok());
  ASSERT_TRUE(appender->read(middle, 1, columns).is_ok());
  EXPECT_EQ(columns[0].length(), 15);
  columns[0].truncate(12);
  columns[1].truncate(12);
  auto copy = make_rows(appender->schema(), 0, 0);
  ASSERT_TRUE(append_rows(columns, copy));
  Compressor none({});
  const auto batch = encode_batch(copy, 12, none);
  appender->cut({0, 0});
  ASSERT_TRUE(appender->write(batch.value(), {}, true).is_ok());
  ASSERT_TRUE(appender->prepare().is_ok());
  ASSERT_TRUE(appender->commit().is_ok());
  appender->settle();
  EXPECT_EQ(rows_in(path_), numbers(0, 12));
}

TEST_F(FileAppenderTest, ReadersGoOn) {
  create(10);
  const auto old_reader = FileReader::open(path_).value();  // of a file without a mark
  std::shared_ptr<const FileReader> between;                // of a moment when an append is under way
  ReaderCache cache(10);
  {
    const auto appender = open().value();
    ASSERT_TRUE(add(*appender, 10, 5).is_ok());
    EXPECT_TRUE(old_reader->check_unchanged().is_ok()) << "an append is under way";
    between = FileReader::open(path_).value();
  }
  EXPECT_TRUE(between->check_unchanged().is_ok()) << "it was given up";
  {
    const auto appender = open().value();
    ASSERT_TRUE(add(*appender, 10, 5).is_ok());
    between = FileReader::open(path_).value();
  }
  EXPECT_TRUE(old_reader->check_unchanged().is_ok()) << "it was given up";
  for (int i = 0; i < 3; ++i) {
    const auto reader = cache.open(path_).value();
    EXPECT_EQ(rows_of(*reader), numbers(0, 10 + 5 * i));
    ASSERT_TRUE(append({5}, 10 + 5 * i).is_ok());
    EXPECT_TRUE(reader->check_unchanged().is_ok());
    EXPECT_TRUE(old_reader->check_unchanged().is_ok());
    EXPECT_TRUE(between->check_unchanged().is_ok());
    EXPECT_EQ(rows_of(*reader), numbers(0, 10 + 5 * i));
  }
  EXPECT_EQ(rows_of(*old_reader), numbers(0, 10));
  const auto reader = cache.open(path_).value();
  create(20);  // another file of that name
  EXPECT_TRUE(reader->check_unchanged().is_ok());
  const auto second = FileReader::open(path_).value();
  const int fd = ::open(path_.c_str(), O_WRONLY);
  ASSERT_EQ(pwrite(fd, "x", 1, 500), 1);
  close(fd);
  EXPECT_EQ(second->check_unchanged().code(), ErrorCode::kFileChanged);
}

TEST_F(FileAppenderTest, SmallBatchesAreJoined) {
  create(0);
  int rows = 0;
  for (int i = 0; i < 600; ++i) {
    AppendOptions options;
    options.sync = false;
    const auto appender = open(options).value();
    const auto mark = appender->mark();
    auto columns = make_rows(appender->schema(), rows, 1);
    constexpr int64_t kFull = 1 << 20;
    const size_t small = appender->small_batches(400, kFull);
    std::vector<ColumnBuilder> joined = make_rows(appender->schema(), 0, 0);
    for (size_t batch = mark.batches - small; batch < mark.batches; ++batch)
      ASSERT_TRUE(appender->read(mark, batch, joined).is_ok());
    ASSERT_TRUE(append_rows(columns, joined));
    appender->cut({mark.generation, mark.batches - small});
    Compressor none({});
    ASSERT_TRUE(appender->write(encode_batch(joined, joined[0].length(), none).value(), {}, true).is_ok());
    ASSERT_TRUE(appender->prepare().is_ok());
    ASSERT_TRUE(appender->commit().is_ok());
    appender->settle();
    ++rows;
  }
  const auto reader = FileReader::open(path_).value();
  EXPECT_EQ(rows_of(*reader), numbers(0, rows));
  EXPECT_LT(reader->batch_count(), 40);
}

TEST_F(FileAppenderTest, GarbageIsLeftBehind) {
  create(10);
  AppendOptions options;
  options.rewrite_above = 20'000;
  options.sync = false;
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(append({3}, 10 + 3 * i, options).is_ok());
  EXPECT_EQ(rows_in(path_), numbers(0, 910));
  const auto appender = open().value();
  appender->clear(appender->schema());
  ASSERT_TRUE(appender->prepare().is_ok());
  ASSERT_TRUE(appender->commit().is_ok());
  appender->settle();
  EXPECT_EQ(rows_in(path_), Rows());
  EXPECT_LT(fs::file_size(path_), 2'000u);
}

TEST_F(FileAppenderTest, NotesOfTheFooterStay) {
  create(10);
  const auto set = [&](const std::string& key, const std::string& text) {
    const auto appender = open().value();
    appender->set_note(key, text);
    EXPECT_EQ(appender->note(key), text);
    ASSERT_TRUE(appender->prepare().is_ok());
    ASSERT_TRUE(appender->commit().is_ok());
    appender->settle();
  };
  set("one", "first");
  set("two", std::string(3000, 'x'));
  set("one", "second");
  // Appends of others, and a file that is rewritten without its garbage, keep them.
  AppendOptions options;
  options.rewrite_above = 20'000;
  options.sync = false;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(append({3}, 10 + 3 * i, options).is_ok());
  EXPECT_EQ(rows_in(path_), numbers(0, 310));
  EXPECT_EQ(read_footer_note(path_, "one").value(), "second");
  EXPECT_EQ(read_footer_note(path_, "two").value(), std::string(3000, 'x'));
  EXPECT_EQ(read_footer_note(path_, "three").value(), "");
  EXPECT_FALSE(read_footer_note(folder_ + "/nowhere", "one").is_ok());
}

TEST_F(FileAppenderTest, NoRoomIsAnError) {
  create(10);
  const std::string before = bytes_in(path_);
  signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit limit{before.size() + 20'000, old_limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  Status status;
  for (int i = 0; i < 100 && status.is_ok(); ++i) status = append({10'000}, 10);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(bytes_in(path_), before);
}

// Killed after each system call, and in the middle of a long write.
class KilledOps final : public FileOps {
 public:
  explicit KilledOps(int calls) : calls_(calls) {}
  int write(int fd, std::vector<struct iovec> pieces, int64_t offset) override {
    if (--calls_ == 0 && pieces.size() > 1) {
      pieces.resize(pieces.size() / 2);
      FileOps::write(fd, pieces, offset);
      kill(getpid(), SIGKILL);
    }
    const int result = FileOps::write(fd, std::move(pieces), offset);
    check();
    return result;
  }
  int extend(int fd, const void* bytes, size_t size, int64_t end) override {
    const int result = FileOps::extend(fd, bytes, size, end);
    --calls_;
    check();
    return result;
  }
  int sync(int) override {
    --calls_;
    check();
    return 0;
  }
  int truncate(int fd, int64_t size) override {
    const int result = FileOps::truncate(fd, size);
    --calls_;
    check();
    return result;
  }

 private:
  void check() const {
    if (calls_ <= 0) kill(getpid(), SIGKILL);
  }
  int calls_;
};

TEST_F(FileAppenderTest, SurvivesBeingKilledAtEveryStep) {
  create(10);
  int rows = 10, kills = 0, commits = 0;
  for (int step = 1; kills < 250; step = step % 24 + 1) {
    const pid_t child = fork();
    if (child == 0) {
      KilledOps ops(step);
      AppendOptions options;
      options.ops = &ops;
      options.most_span = kills % 2 ? 2'000 : options.most_span;
      _exit(append({7, 300, 2}, rows, options).is_ok() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    kills += WIFSIGNALED(status);
    const Rows found = rows_in(path_);
    if (found.size() > static_cast<size_t>(rows)) {
      rows += 309;
      ++commits;
    }
    ASSERT_EQ(found, numbers(0, rows)) << "step " << step;
    if (rows > 5'000) {
      create(10);
      rows = 10;
    }
  }
  EXPECT_GT(commits, 5);
  ASSERT_TRUE(append({1}, rows).is_ok());
  EXPECT_EQ(rows_in(path_), numbers(0, rows + 1));
}

/// What reaches a disk whose power goes: what was synced, and any of what was written since, in pages. A file's new
/// size may come without the bytes that were written there: their blocks read as zeros until the file system knows
/// better.
class RecordingOps final : public FileOps {
 public:
  struct Call {
    enum class Kind : uint8_t { kWrite, kExtend, kSync, kTruncate } kind;
    int64_t offset = 0;
    std::string bytes;
  };
  /// Whether the file system writes past its cache: then a longer file has its end.
  explicit RecordingOps(bool is_direct) : is_direct_(is_direct) {}

  int write(int fd, std::vector<struct iovec> pieces, int64_t offset) override {
    std::string bytes;
    for (const auto& piece : pieces) bytes.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
    constexpr size_t kPage = 4096;
    for (size_t at = 0; at < bytes.size();) {
      const size_t room = kPage - (static_cast<size_t>(offset) + at) % kPage;
      calls.push_back({Call::Kind::kWrite, offset + static_cast<int64_t>(at), bytes.substr(at, room)});
      at += room;
    }
    return FileOps::write(fd, std::move(pieces), offset);
  }
  int extend(int fd, const void* bytes, size_t size, int64_t end) override {
    calls.push_back({is_direct_ ? Call::Kind::kExtend : Call::Kind::kWrite, end - static_cast<int64_t>(size),
                     std::string(static_cast<const char*>(bytes), size)});
    return FileOps::extend(fd, bytes, size, end);
  }
  int sync(int) override {
    calls.push_back({Call::Kind::kSync, 0, {}});
    return 0;
  }
  int truncate(int fd, int64_t size) override {
    calls.push_back({Call::Kind::kTruncate, size, {}});
    return FileOps::truncate(fd, size);
  }

  static void apply(const Call& call, std::string& file, bool size_only = false) {
    if (call.kind == Call::Kind::kSync) return;
    if (call.kind == Call::Kind::kTruncate) return file.resize(static_cast<size_t>(call.offset));
    const auto end = static_cast<size_t>(call.offset) + call.bytes.size();
    const bool is_longer = end > file.size();
    if (is_longer) file.resize(end);
    if (size_only && is_longer && call.kind == Call::Kind::kWrite) return;
    std::copy(call.bytes.begin(), call.bytes.end(), file.begin() + call.offset);
  }

  std::vector<Call> calls;

 private:
  const bool is_direct_;
};

Rows rows_in_bytes(const std::string& bytes) {
  std::vector<uint64_t> words(bytes.size() / 8 + 1);
  memcpy(words.data(), bytes.data(), bytes.size());
  const auto reader = FileReader::open_memory("memory", {reinterpret_cast<const uint8_t*>(words.data()), bytes.size()});
  EXPECT_TRUE(reader.is_ok()) << reader.status().detail();
  return reader.is_ok() ? rows_of(*reader.value()) : Rows{-4};
}

class PowerCutTest : public FileAppenderTest, public ::testing::WithParamInterface<bool> {
 protected:
  /// Commits, a transaction that is given up, and one more, on one disk.
  void record(int first, RecordingOps& ops) {
    create(first);
    rows_ = numbers(0, first);
    disk_ = bytes_in(path_);
    AppendOptions options;
    options.ops = &ops;
    options.most_span = first == 0 ? 2'000 : options.most_span;
    history_ = {{0, rows_}};
    for (const int round : {0, 1, 2, 3}) {
      const int from = static_cast<int>(rows_.size());
      if (round == 2) {
        const auto appender = open(options).value();
        ASSERT_TRUE(add(*appender, 1000, 900).is_ok());
      } else {
        ASSERT_TRUE(append({5, 1500, 40}, from, options).is_ok());
        rows_ = rows_ + numbers(from, 1545);
      }
      history_.emplace_back(ops.calls.size(), rows_);
    }
  }

  /// The disk when it knows of calls before `synced` and of some before `prefix`.
  std::string state_of(const RecordingOps& ops, const std::string& durable, size_t synced, size_t prefix, int attempt) {
    std::vector<size_t> kept;
    for (size_t call = synced; call < prefix; ++call)
      if (attempt < 2 || random_() % 2) kept.push_back(call);
    // Writes change places, but none comes back that was cut off.
    const bool cuts = std::any_of(kept.begin(), kept.end(), [&](size_t call) {
      return ops.calls[call].kind == RecordingOps::Call::Kind::kTruncate;
    });
    if (attempt % 2 && !cuts) std::shuffle(kept.begin(), kept.end(), random_);
    std::string state = durable;
    for (const size_t call : kept) RecordingOps::apply(ops.calls[call], state, attempt == 1 || random_() % 3 == 0);
    return state;
  }

  /// The next writer finds the file as a reader does, and readers find what it adds.
  void write_again(const std::string& state, const Rows& found) {
    std::ofstream(path_, std::ios::binary).write(state.data(), static_cast<std::streamsize>(state.size()));
    const int from = static_cast<int>(found.size());
    AppendOptions options;
    options.sync = false;
    ASSERT_TRUE(append({3}, from, options).is_ok());
    EXPECT_EQ(rows_in(path_), found + numbers(from, 3));
  }

  std::mt19937 random_{7};
  Rows rows_;
  std::string disk_;
  std::vector<std::pair<size_t, Rows>> history_;  // by calls: what is in force from there on
};

TEST_P(PowerCutTest, LeavesACommittedState) {
  int states = 0, shorter = 0;
  for (const int first : {0, 10}) {
    RecordingOps ops(GetParam());
    record(first, ops);
    std::string durable = disk_;
    size_t synced = 0;
    for (size_t prefix = 0; prefix <= ops.calls.size(); ++prefix) {
      if (prefix > 0 && ops.calls[prefix - 1].kind == RecordingOps::Call::Kind::kSync) {
        for (; synced < prefix; ++synced) RecordingOps::apply(ops.calls[synced], durable);
      }
      size_t epoch = 0;
      while (epoch + 1 < history_.size() && history_[epoch + 1].first <= prefix) ++epoch;
      const Rows& before = history_[epoch].second;
      const Rows& after = epoch + 1 < history_.size() ? history_[epoch + 1].second : before;
      const Rows& earlier = epoch > 0 ? history_[epoch - 1].second : before;
      const size_t unsynced = prefix - synced;
      for (int i = 0; i < (unsynced == 0 ? 1 : 16); ++i) {
        const std::string state = state_of(ops, durable, synced, prefix, i);
        const Rows found = rows_in_bytes(state);
        ASSERT_TRUE(found == before || found == after || (unsynced > 0 && found == earlier))
            << "after " << prefix << " calls: " << found.size() << " rows";
        ++states;
        shorter += state.back() == 0;
        if (states % 5 == 0 || state.back() == 0) write_again(state, found);
      }
    }
  }
  EXPECT_GT(states, 300);
  EXPECT_EQ(shorter > 0, !GetParam()) << "files whose size came before their end";
}

INSTANTIATE_TEST_SUITE_P(FileSystems, PowerCutTest, ::testing::Bool(),
                         [](const auto& direct) { return direct.param ? "PastTheCache" : "SizeBeforeBytes"; });

}  // namespace
}  // namespace strom::format::arrow
