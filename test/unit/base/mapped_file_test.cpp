// Mapped files: identity, errors, and survival when the file is shrunk, changed or replaced under the mapping.
#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace strom::base {
namespace {

namespace fs = std::filesystem;

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest() {
    std::string name = (fs::temp_directory_path() / "strom_mapped_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~MappedFileTest() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::string make(const char* name, size_t bytes, char fill = 'x') const {
    std::ofstream(path(name), std::ios::binary) << std::string(bytes, fill);
    return path(name);
  }
  static std::shared_ptr<const MappedFile> open_ok(const std::string& path) {
    auto opened = MappedFile::open(path);
    EXPECT_TRUE(opened.is_ok()) << opened.status().message();
    return opened.is_ok() ? opened.value() : nullptr;
  }
  static uint64_t sum(const MappedFile& file) {
    uint64_t total = 0;
    const volatile uint8_t* bytes = file.data();
    for (int64_t i = 0; i < file.size(); ++i) total += bytes[i];
    return total;
  }

  fs::path folder_;
};

TEST_F(MappedFileTest, ShowsTheBytes) {
  const auto file = open_ok(make("a", 10'000));
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->size(), 10'000);
  EXPECT_EQ(sum(*file), 10'000u * 'x');
  EXPECT_TRUE(file->check_unchanged().is_ok());
  struct stat info;
  ASSERT_EQ(stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(file->identity().inode, info.st_ino);
  EXPECT_EQ(file->identity().device, info.st_dev);
  EXPECT_EQ(file->identity().mtime_ns, int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec);
  EXPECT_EQ(identify_file(path("a")).value(), file->identity());
}

TEST_F(MappedFileTest, EmptyFile) {
  const auto file = open_ok(make("empty", 0));
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->size(), 0);
  EXPECT_TRUE(file->check_unchanged().is_ok());
  make("empty", 5);
  EXPECT_EQ(file->check_unchanged().code(), ErrorCode::kFileChanged);
}

TEST_F(MappedFileTest, Errors) {
  EXPECT_EQ(MappedFile::open(path("absent")).status().code(), ErrorCode::kFileNotFound);
  EXPECT_EQ(MappedFile::open(path("absent")).status().message(),
            "could not open file \"" + path("absent") + "\": No such file or directory");
  EXPECT_EQ(MappedFile::open(folder_.string()).status().code(), ErrorCode::kIoError);
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::open(path("fifo")).status().code(), ErrorCode::kIoError);
  EXPECT_EQ(identify_file(path("fifo")).status().code(), ErrorCode::kIoError);
  EXPECT_EQ(identify_file(path("absent")).status().code(), ErrorCode::kFileNotFound);
}

int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST_F(MappedFileTest, KeepsFewDescriptors) {
  const std::string name = make("a", 100);
  const int before = open_descriptors();
  std::vector<std::shared_ptr<const MappedFile>> files;
  files.reserve(500);
  for (int i = 0; i < 500; ++i) files.push_back(open_ok(name));
  EXPECT_LE(open_descriptors(), before + 64);
  for (const auto& file : files) EXPECT_TRUE(file->check_unchanged().is_ok());
  make("a", 50);
  for (const auto& file : files) EXPECT_EQ(file->check_unchanged().code(), ErrorCode::kFileChanged);
  files.clear();
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(MappedFileTest, FoundByAddress) {
  const auto a = open_ok(make("a", 10'000)), b = open_ok(make("b", 5'000)), empty = open_ok(make("c", 0));
  EXPECT_EQ(MappedFile::find(a->data(), 10'000), a);
  EXPECT_EQ(MappedFile::find(a->data() + 9'999, 1), a);
  EXPECT_EQ(MappedFile::find(a->data() + 10'000, 0), a);
  EXPECT_EQ(MappedFile::find(a->data() + 9'999, 2), nullptr);
  EXPECT_EQ(MappedFile::find(a->data() + 1, SIZE_MAX), nullptr);
  EXPECT_EQ(MappedFile::find(b->data() + 100, 100), b);
  EXPECT_EQ(MappedFile::find(nullptr, 0), nullptr);
  EXPECT_EQ(MappedFile::find(this, 1), nullptr);
  const uint8_t* data = b->data();
  auto again = open_ok(path("b"));
  EXPECT_EQ(MappedFile::find(again->data(), 1), again);
  const uint8_t* gone = again->data();
  again.reset();
  EXPECT_EQ(MappedFile::find(gone, 1), nullptr);
  EXPECT_EQ(MappedFile::find(data, 1), b);
}

TEST_F(MappedFileTest, ResidentPages) {
  const auto file = open_ok(make("a", 40'000));
  sum(*file);
  EXPECT_TRUE(file->is_resident(file->data(), 40'000));
  EXPECT_TRUE(file->is_resident(file->data() + 5, 0));
  const auto cold = open_ok(make("b", 400'000));
  const int descriptor = cold->new_descriptor();
  ASSERT_GE(descriptor, 0);
  fsync(descriptor);
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  if (!cold->is_resident(cold->data(), 400'000)) {  // always on what has no storage
    EXPECT_FALSE(cold->is_resident(cold->data() + 100'000, 200'000));
    cold->will_need(cold->data(), 400'000);
    for (int i = 0; i < 500 && !cold->is_resident(cold->data(), 400'000); ++i) usleep(10'000);
    EXPECT_TRUE(cold->is_resident(cold->data(), 400'000));
  }
  close(descriptor);
}

TEST_F(MappedFileTest, NewDescriptors) {
  const auto inode = [](int descriptor) {
    struct stat info = {};
    fstat(descriptor, &info);
    close(descriptor);
    return info.st_ino;
  };
  std::vector<std::shared_ptr<const MappedFile>> files;
  files.reserve(100);
  for (int i = 0; i < 100; ++i) files.push_back(open_ok(make(std::to_string(i).c_str(), 100)));
  for (const auto& file : files) EXPECT_EQ(inode(file->new_descriptor()), file->identity().inode);
  for (int i = 0; i < 100; ++i) {
    make("new", 100);
    fs::rename(path("new"), path(std::to_string(i).c_str()));
  }
  int lost = 0;
  for (const auto& file : files) {
    const int descriptor = file->new_descriptor();
    lost += descriptor < 0;
    if (descriptor < 0) continue;
    EXPECT_EQ(inode(descriptor), file->identity().inode);
  }
  EXPECT_GT(lost, 0);  // of those whose descriptor was closed another file is there
  EXPECT_LT(lost, 100);
}

TEST_F(MappedFileTest, RenamedAndChangedIsNoticed) {
  const auto file = open_ok(make("a", 100));
  fs::rename(path("a"), path("b"));
  EXPECT_TRUE(file->check_unchanged().is_ok());
  make("b", 150);
  EXPECT_EQ(file->check_unchanged().code(), ErrorCode::kFileChanged);
}

TEST_F(MappedFileTest, UnlinkedFileLivesOn) {
  const auto file = open_ok(make("a", 100'000));
  fs::remove(path("a"));
  EXPECT_TRUE(file->check_unchanged().is_ok());
  EXPECT_EQ(sum(*file), 100'000u * 'x');
}

TEST_F(MappedFileTest, ReplacedFileLivesOn) {
  const auto file = open_ok(make("a", 100'000));
  make("b", 50, 'y');
  fs::rename(path("b"), path("a"));
  EXPECT_TRUE(file->check_unchanged().is_ok());
  EXPECT_EQ(sum(*file), 100'000u * 'x');
  EXPECT_FALSE(identify_file(path("a")).value() == file->identity());
}

TEST_F(MappedFileTest, PermissionAndLinkChangesDoNotMatter) {
  const auto file = open_ok(make("a", 100));
  ASSERT_EQ(chmod(path("a").c_str(), 0600), 0);
  ASSERT_EQ(link(path("a").c_str(), path("b").c_str()), 0);
  EXPECT_TRUE(file->check_unchanged().is_ok());
}

TEST_F(MappedFileTest, ChangedInPlaceIsNoticed) {
  const auto file = open_ok(make("a", 100));
  const struct timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path("a").c_str(), times, 0), 0);
  EXPECT_EQ(file->check_unchanged().code(), ErrorCode::kFileChanged);
  EXPECT_FALSE(file->is_poisoned());
}

TEST_F(MappedFileTest, GrownIsNoticed) {
  const auto file = open_ok(make("a", 100));
  ASSERT_EQ(truncate(path("a").c_str(), 200), 0);
  EXPECT_EQ(file->check_unchanged().code(), ErrorCode::kFileChanged);
}

TEST_F(MappedFileTest, ShrunkFileReadsAsZeros) {
  const auto file = open_ok(make("a", 1'000'000));
  const auto other = open_ok(make("b", 1'000'000));
  EXPECT_EQ(sum(*file), 1'000'000u * 'x');
  ASSERT_EQ(truncate(path("a").c_str(), 4096), 0);
  errno = 77;
  EXPECT_EQ(sum(*file), 4096u * 'x');
  EXPECT_EQ(errno, 77);
  EXPECT_TRUE(file->is_poisoned());
  EXPECT_EQ(file->check_unchanged().code(), ErrorCode::kFileChanged);
  EXPECT_FALSE(other->is_poisoned());
  EXPECT_EQ(sum(*other), 1'000'000u * 'x');
}

TEST_F(MappedFileTest, LastPageIsCoveredBehindTheLastByte) {
  const auto file = open_ok(make("a", 4096 + 1));
  ASSERT_EQ(truncate(path("a").c_str(), 0), 0);
  const volatile uint8_t* bytes = file->data();
  EXPECT_EQ(bytes[4096 + 100], 0);
  EXPECT_TRUE(file->is_poisoned());
}

TEST_F(MappedFileTest, PoisonStaysAfterTheFileIsBack) {
  const auto file = open_ok(make("a", 100'000));
  const FileIdentity before = file->identity();
  ASSERT_EQ(truncate(path("a").c_str(), 0), 0);
  EXPECT_EQ(file->data()[50'000], 0);
  make("a", 100'000);
  const struct timespec times[2] = {
      {0, UTIME_OMIT}, {before.mtime_ns / 1'000'000'000, static_cast<long>(before.mtime_ns % 1'000'000'000)}};
  ASSERT_EQ(utimensat(AT_FDCWD, path("a").c_str(), times, 0), 0);
  ASSERT_EQ(identify_file(path("a")).value().mtime_ns, before.mtime_ns);
  EXPECT_EQ(file->check_unchanged().code(), ErrorCode::kFileChanged);
}

TEST_F(MappedFileTest, ManyThreadsReadWhileFilesShrinkAndComeAndGo) {
  constexpr size_t kBytes = 4 << 20;
  constexpr int kThreads = 4, kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    const auto file = open_ok(make("shrinking", kBytes));
    const auto steady = open_ok(make("steady", kBytes));
    std::atomic<bool> stop{false};
    std::atomic<int> started{0};
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        sigset_t all;  // as the engine's workers: everything blocked but faults
        sigfillset(&all);
        for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) sigdelset(&all, fault);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        ++started;
        do {
          const volatile uint8_t* bytes = file->data();
          for (size_t at = i % 2 ? 0 : kBytes; at-- > 0;) (void)bytes[at];
          for (size_t at = 0; at < kBytes; at += 512) ASSERT_TRUE(bytes[at] == 'x' || bytes[at] == 0);
          ASSERT_EQ(steady->data()[kBytes / 2], 'x');
        } while (!stop);
      });
    }
    std::thread churn([&] {  // slots are taken and given back meanwhile
      const std::string small = make("small", 5000);
      while (!stop) EXPECT_TRUE(MappedFile::open(small).is_ok());
    });
    while (started < kThreads) std::this_thread::yield();
    for (size_t bytes = kBytes; bytes > 0; bytes /= 4)
      ASSERT_EQ(truncate(path("shrinking").c_str(), static_cast<off_t>(bytes)), 0);
    ASSERT_EQ(truncate(path("shrinking").c_str(), 0), 0);
    stop = true;
    for (auto& thread : threads) thread.join();
    churn.join();
    EXPECT_EQ(sum(*file), 0u);
    EXPECT_EQ(file->check_unchanged().code(), ErrorCode::kFileChanged);
    EXPECT_TRUE(steady->check_unchanged().is_ok());
    EXPECT_EQ(sum(*steady), kBytes * 'x');
  }
}

using MappedFileDeathTest = MappedFileTest;

/// A fault in a mapping that is not ours must still kill the process, and a handler that was there before must still
/// be called.
void fault_in_foreign_mapping(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR);
  void* foreign = mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 0);
  if (ftruncate(fd, 0) != 0) _exit(1);
  (void)static_cast<volatile uint8_t*>(foreign)[4096];
}

TEST_F(MappedFileDeathTest, ForeignFaultTakesTheDefaultAction) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::string foreign = make("foreign", 8192);
  const std::string ours = make("ours", 100);
  EXPECT_EXIT(
      {
        signal(SIGBUS, SIG_DFL);
        const auto file = open_ok(ours);
        fault_in_foreign_mapping(foreign);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST_F(MappedFileDeathTest, ForeignFaultGoesToTheHandlerBefore) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::string foreign = make("foreign", 8192);
  const std::string ours = make("ours", 100);
  EXPECT_EXIT(
      {
        signal(SIGBUS, [](int) { _exit(42); });
        const auto file = open_ok(ours);
        fault_in_foreign_mapping(foreign);
      },
      testing::ExitedWithCode(42), "");
}

TEST_F(MappedFileDeathTest, SignalSentByAProcessGoesToTheHandlerBefore) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::string ours = make("ours", 100);
  EXPECT_EXIT(
      {
        struct sigaction action = {};
        action.sa_flags = SA_SIGINFO;
        action.sa_sigaction = [](int, siginfo_t* info, void*) { _exit(info->si_code <= 0 ? 43 : 1); };
        sigaction(SIGBUS, &action, nullptr);
        const auto file = open_ok(ours);
        kill(getpid(), SIGBUS);
        sleep(5);
      },
      testing::ExitedWithCode(43), "");
}

}  // namespace
}  // namespace strom::base
