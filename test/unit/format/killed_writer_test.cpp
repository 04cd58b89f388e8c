// What a writer of a staged file leaves when it is killed: nothing, or what the next one removes. File systems that
// lack something are played by a filter of system calls.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>

#include "format/staged_file.hpp"
#include "format/temporary_name.hpp"

namespace strom::format {
namespace {

namespace fs = std::filesystem;

enum class FileSystem { kUsual, kWithoutUnnamed, kWithoutLinks };

const char* name_of(FileSystem system) {
  switch (system) {
    case FileSystem::kUsual: return "usual";
    case FileSystem::kWithoutUnnamed: return "without_unnamed";
    case FileSystem::kWithoutLinks: return "without_links";
  }
  return "?";
}

/// System calls fail from here on, in this process: opening files without names, or giving them names.
void lack(FileSystem system) {
  if (system == FileSystem::kUsual) return;
  constexpr uint32_t kUnnamed = O_TMPFILE & ~O_DIRECTORY;
  constexpr auto kNumber = offsetof(struct seccomp_data, nr);
  constexpr auto kFlags = offsetof(struct seccomp_data, args) + 2 * sizeof(uint64_t);
  struct sock_filter unnamed[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kUnnamed, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_filter links[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_linkat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {std::size(unnamed), unnamed};
  if (system == FileSystem::kWithoutLinks) program = {std::size(links), links};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(9);
}

/// A process of its own on such a file system.
pid_t start(FileSystem system, const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    lack(system);
    _exit(work() ? 0 : 1);
  }
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child ? status : -1;
}

bool write_file(const std::string& path, bool overwrite, size_t size) {
  auto file = StagedFile::create(path, overwrite);
  std::string bytes(size, 'x');
  return file.is_ok() && file.value()->append({{bytes.data(), bytes.size()}}).is_ok() && file.value()->commit().is_ok();
}

/// More than a file keeps in memory at a time.
std::string large() {
  std::string bytes;
  bytes.resize(70'000'001, 'y');
  return bytes;
}

class KilledWriter : public testing::TestWithParam<FileSystem> {
 protected:
  void SetUp() override {
    char name[] = "/var/tmp/strom_killed_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path() const { return folder_ / "file"; }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }
  std::string content() const {
    std::ifstream stream(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path folder_;
};

TEST_P(KilledWriter, leaves_nothing_behind_the_next_one) {
  constexpr int kKills = 300;
  constexpr size_t kSize = 200'000;
  std::mt19937 random(11);
  size_t most = 0, left = 0;
  for (int i = 0; i < kKills; ++i) {
    const pid_t child = start(GetParam(), [&] {
      while (write_file(path(), true, kSize)) {
      }
      return false;
    });
    usleep(random() % 6000);
    kill(child, SIGKILL);
    ASSERT_TRUE(WIFSIGNALED(status_of(child)));
    const size_t others = files() - (fs::exists(path()) ? 1 : 0);
    most = std::max(most, others);
    left += others > 0 ? 1 : 0;
    if (fs::exists(path())) {
      ASSERT_EQ(fs::file_size(path()), kSize);
    }
  }
  // Each removes what those before it have left; and where there are files without names, few leave any.
  EXPECT_LE(most, 1u);
  if (GetParam() == FileSystem::kUsual)
    EXPECT_LT(left, 60u);
  else
    EXPECT_GT(left, 20u);
  ASSERT_EQ(status_of(start(GetParam(), [&] { return write_file(path(), true, 7); })), 0);
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(content(), "xxxxxxx");
}

TEST_P(KilledWriter, and_living_ones_lose_nothing) {
  int ready[2], go[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(go), 0);
  char byte = 'a';
  const pid_t living = start(GetParam(), [&] {
    auto file = StagedFile::create(path(), true).value();
    char buffer[] = "living";
    if (!file->append({{buffer, 6}}).is_ok() || write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
      return false;
    return file->commit().is_ok();
  });
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(status_of(start(GetParam(), [&] { return write_file(path(), true, 3); })), 0);
  EXPECT_EQ(content(), "xxx");
  ASSERT_EQ(write(go[1], &byte, 1), 1);
  EXPECT_EQ(status_of(living), 0);
  EXPECT_EQ(content(), "living");
  EXPECT_EQ(files(), 1u);
  for (const int fd : {ready[0], ready[1], go[0], go[1]}) close(fd);
}

TEST_P(KilledWriter, crowds_do_not_take_each_others_files) {
  std::vector<pid_t> children;
  children.reserve(6);
  for (int i = 0; i < 6; ++i) {
    children.push_back(start(GetParam(), [&, i] {
      for (int k = 0; k < 40; ++k) {
        if (!write_file(path() + std::to_string(i), true, 1000)) return false;
      }
      return true;
    }));
  }
  for (int i = 0; i < 60; ++i) {  // new processes, which look through the folder
    const pid_t child = start(GetParam(), [&] { return write_file(path(), true, 10); });
    ASSERT_EQ(status_of(child), 0);
  }
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(files(), 7u);
}

TEST_P(KilledWriter, files_are_as_on_any_file_system) {
  ASSERT_EQ(status_of(start(GetParam(), [&] { return write_file(path(), false, 5); })), 0);
  EXPECT_NE(status_of(start(GetParam(), [&] { return write_file(path(), false, 6); })), 0);
  EXPECT_EQ(content(), "xxxxx");
  struct stat info;
  ASSERT_EQ(chmod(path().c_str(), 0640), 0);
  ASSERT_EQ(status_of(start(GetParam(), [&] { return write_file(path(), true, 100); })), 0);
  ASSERT_EQ(stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_EQ(info.st_nlink, 1u);
  // One that is made while another is: the first to commit wins, without `overwrite`.
  fs::remove(path());
  ASSERT_EQ(status_of(start(GetParam(),
                            [&] {
                              auto first = StagedFile::create(path(), false).value(),
                                   second = StagedFile::create(path(), false).value();
                              return first->commit().is_ok() && second->commit().code() == ErrorCode::kFileExists;
                            })),
            0);
  // A large one, whose last bytes are gathered in memory when it is committed.
  ASSERT_EQ(status_of(start(GetParam(),
                            [&] {
                              auto file = StagedFile::create(path(), true, PageCache::kSpare).value();
                              std::string bytes = large();
                              return file->append({{bytes.data(), bytes.size()}}).is_ok() && file->commit().is_ok();
                            })),
            0);
  EXPECT_TRUE(content() == large());
  EXPECT_EQ(files(), 1u);
}

TEST_P(KilledWriter, nothing_appears_after_abandon_all) {
  const pid_t child = start(GetParam(), [&] {
    auto file = StagedFile::create(path(), true).value();
    StagedFile::abandon_all();
    alarm(1);  // commit() waits for ever
    (void)file->commit();
    return true;
  });
  const int status = status_of(child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
  EXPECT_EQ(files(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, KilledWriter,
                         testing::Values(FileSystem::kUsual, FileSystem::kWithoutUnnamed, FileSystem::kWithoutLinks),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(TemporaryName, is_known_again) {
  for (const char* path : {"a", "/x/y.arrow", "folder/.hidden", "b.strom-1-2-3.tmp"}) {
    const std::string name = temporary_name(path);
    EXPECT_TRUE(is_temporary_name(fs::path(name).filename())) << name;
    EXPECT_EQ(folder_of(name), folder_of(path));
    EXPECT_NE(name, temporary_name(path));
  }
  EXPECT_TRUE(is_temporary_name(fs::path(temporary_name(std::string(255, 'n'))).filename()));
  for (const char* name :
       {"", ".", "..", ".a.tmp", ".a.strom-.tmp", ".a.strom-1-2.tmp", "a.strom-1-2-3.tmp", ".a.strom-1-2-3",
        ".a.strom-1-2-3.tmp.bak", ".a.strom-x-2-3.tmp", ".a.strom-1-2-3g.tmp", ".strom-1-2-3.tmp", ".a.strom-1--3.tmp"})
    EXPECT_FALSE(is_temporary_name(name)) << name;
}

}  // namespace
}  // namespace strom::format
