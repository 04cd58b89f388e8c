// Files that appear whole: what is in them however it was cut into pieces, through the page cache and past it.
#include "format/staged_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

namespace strom::format {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMega = 1 << 20, kPage = 4096;

class StagedFileTest : public testing::TestWithParam<PageCache> {
 protected:
  // On a disk, if there is one: /tmp may be memory.
  void SetUp() override {
    char name[] = "/var/tmp/strom_staged_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    random_.seed(7);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string random_bytes(size_t size) {
    std::string bytes(size, 0);
    for (size_t i = 0; i + 8 <= size; i += 8) {
      const uint64_t word = random_();
      std::copy_n(reinterpret_cast<const char*>(&word), 8, bytes.data() + i);
    }
    return bytes;
  }
  // Appends the bytes in pieces of up to `most`, several with each call.
  Status append(StagedFile& file, const std::string& bytes, size_t most) {
    for (size_t begin = 0; begin < bytes.size();) {
      std::vector<struct iovec> pieces;
      for (size_t i = random_() % 5 + 1; i > 0 && begin < bytes.size(); --i) {
        const size_t size = std::min(random_() % (most + 1), bytes.size() - begin);
        pieces.push_back({const_cast<char*>(bytes.data()) + begin, size});
        begin += size;
      }
      STROM_TRY(file.append(pieces));
    }
    expected_ += bytes;
    EXPECT_EQ(file.position(), static_cast<int64_t>(expected_.size()));
    return {};
  }
  std::string path() const { return folder_ / "file"; }
  std::string content() const {
    std::ifstream stream(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }
  // Share of the file's pages that are in memory.
  double cached() const {
    const int fd = open(path().c_str(), O_RDONLY);
    const size_t size = fs::file_size(path());
    void* const memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    std::vector<unsigned char> pages((size + kPage - 1) / kPage);
    EXPECT_EQ(mincore(memory, size, pages.data()), 0);
    munmap(memory, size);
    return static_cast<double>(std::count_if(pages.begin(), pages.end(), [](auto page) { return (page & 1) != 0; })) /
           static_cast<double>(pages.size());
  }

  fs::path folder_;
  std::string expected_;
  std::mt19937_64 random_;
};

TEST_P(StagedFileTest, small_and_large_pieces) {
  for (const size_t size : {size_t{0}, size_t{5}, 31 * kMega, 32 * kMega, 50 * kMega + 4097, 64 * kMega}) {
    expected_.clear();
    auto file = StagedFile::create(path(), true, GetParam()).value();
    ASSERT_TRUE(append(*file, random_bytes(size / 3), 300000).is_ok());
    ASSERT_TRUE(append(*file, random_bytes(1000), 7).is_ok());
    ASSERT_TRUE(append(*file, random_bytes(size - size / 3), 10 * kMega).is_ok());
    ASSERT_TRUE(file->commit().is_ok());
    ASSERT_TRUE(content() == expected_) << size;
    ASSERT_EQ(files(), 1u);
  }
}

TEST_P(StagedFileTest, large_from_the_first_byte_to_odd_ends) {
  for (const size_t size : {33 * kMega + 1, 36 * kMega, 40 * kMega - kPage, 40 * kMega - 1}) {
    expected_.clear();
    auto file = StagedFile::create(path(), true, GetParam()).value();
    ASSERT_TRUE(append(*file, random_bytes(size), size).is_ok());
    ASSERT_TRUE(file->commit().is_ok());
    ASSERT_TRUE(content() == expected_) << size;
  }
}

TEST_P(StagedFileTest, pages_from_where_they_lie) {
  struct Free {
    void operator()(char* memory) const { free(memory); }
  };
  constexpr size_t kMost = 6 * kMega;
  const std::unique_ptr<char, Free> pages(static_cast<char*>(aligned_alloc(kPage, kMost)));
  const auto append_pages = [&](StagedFile& file, size_t size) {
    const std::string bytes = random_bytes(size);
    std::copy(bytes.begin(), bytes.end(), pages.get());
    expected_ += bytes;
    return file.append({{pages.get(), size}});
  };
  auto file = StagedFile::create(path(), true, GetParam()).value();
  ASSERT_TRUE(append(*file, random_bytes(32 * kMega + kPage), 10 * kMega).is_ok());
  for (const size_t size : {kMega, 2 * kMega, 5 * kMega + 77, 3 * kMega, kMost}) {
    // At a page of the file, and then not.
    ASSERT_TRUE(append(*file, random_bytes(-expected_.size() % kPage), kPage).is_ok());
    ASSERT_TRUE(append_pages(*file, size).is_ok());
    ASSERT_TRUE(append(*file, random_bytes(64), 64).is_ok());
    ASSERT_TRUE(append_pages(*file, size).is_ok());
  }
  ASSERT_TRUE(file->commit().is_ok());
  ASSERT_TRUE(content() == expected_);
}

TEST_P(StagedFileTest, gaps_that_are_filled_later) {
  auto file = StagedFile::create(path(), true, GetParam()).value();
  ASSERT_TRUE(append(*file, random_bytes(1000), 100).is_ok());
  struct Gap {
    int64_t offset;
    std::string bytes;
  };
  std::vector<Gap> gaps;
  for (const size_t size : {size_t{1}, 3 * kMega + 5, size_t{0}, kMega}) {
    Gap gap{0, random_bytes(size)};
    gap.offset = file->skip(static_cast<int64_t>(size));
    ASSERT_EQ(gap.offset, static_cast<int64_t>(expected_.size()));
    expected_ += gap.bytes;
    ASSERT_TRUE(append(*file, random_bytes(77), 10).is_ok());
    gaps.push_back(std::move(gap));
  }
  // What goes past the page cache goes in order.
  ASSERT_EQ(file->skip(40 * kMega) < 0, GetParam() == PageCache::kSpare);
  if (GetParam() == PageCache::kKeep) expected_ += std::string(40 * kMega, '\0');
  std::vector<std::thread> threads;
  threads.reserve(gaps.size());
  for (Gap& gap : gaps) {
    threads.emplace_back([&] {
      const size_t half = gap.bytes.size() / 2;
      EXPECT_TRUE(
          file->write_at(gap.offset, {{gap.bytes.data(), half}, {gap.bytes.data() + half, gap.bytes.size() - half}})
              .is_ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(append(*file, random_bytes(99), 10).is_ok());
  ASSERT_TRUE(file->commit().is_ok());
  ASSERT_TRUE(content() == expected_);
}

TEST_P(StagedFileTest, room_that_was_reserved_is_given_back) {
  auto file = StagedFile::create(path(), true, GetParam()).value();
  ASSERT_TRUE(file->reserve(10 * kMega).is_ok());
  ASSERT_TRUE(append(*file, random_bytes(12345), 1000).is_ok());
  ASSERT_TRUE(file->reserve(kMega).is_ok());
  ASSERT_TRUE(file->commit().is_ok());
  ASSERT_TRUE(content() == expected_);
  struct stat found;
  ASSERT_EQ(stat(path().c_str(), &found), 0);
  EXPECT_LT(found.st_blocks * 512, static_cast<int64_t>(kMega));
}

TEST_P(StagedFileTest, bytes_of_other_files_between) {
  const std::string other = random_bytes(3 * kMega + 77);
  std::ofstream(folder_ / "other", std::ios::binary) << other;
  const int source = open((folder_ / "other").c_str(), O_RDONLY);
  auto file = StagedFile::create(path(), false, GetParam()).value();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(append(*file, random_bytes(34 * kMega + 13), 5 * kMega).is_ok());
    ASSERT_TRUE(file->append_file(source, 11, static_cast<int64_t>(other.size()) - 11).is_ok());
    expected_ += other.substr(11);
    ASSERT_TRUE(append(*file, random_bytes(100), 9).is_ok());
  }
  close(source);
  ASSERT_TRUE(file->commit().is_ok());
  EXPECT_TRUE(content() == expected_);
}

TEST_P(StagedFileTest, a_full_disk_is_told_and_leaves_nothing) {
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, limit;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  for (const size_t size : {36 * kMega, 38 * kMega + 5, 60 * kMega - 1}) {
    expected_.clear();
    auto file = StagedFile::create(path(), true, GetParam()).value();
    limit = before;
    limit.rlim_cur = size;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    Status status = file->append({{random_bytes(61 * kMega).data(), 61 * kMega}});
    if (status.is_ok()) status = file->commit();
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(status.code(), ErrorCode::kIoError) << status.message();
    file.reset();
    EXPECT_EQ(files(), 0u);
  }
  signal(SIGXFSZ, handler);
}

TEST_P(StagedFileTest, what_the_page_cache_keeps) {
  struct statfs system;
  ASSERT_EQ(statfs(folder_.c_str(), &system), 0);
  auto file = StagedFile::create(path(), false, GetParam()).value();
  ASSERT_TRUE(append(*file, random_bytes(70 * kMega + 5), 2 * kMega).is_ok());
  ASSERT_TRUE(file->commit().is_ok());
  // Others may put direct writes into the cache, or have nothing else, such as tmpfs.
  const bool is_known = system.f_type == EXT4_SUPER_MAGIC || system.f_type == XFS_SUPER_MAGIC;
  if (GetParam() == PageCache::kKeep)
    EXPECT_GT(cached(), 0.9);
  else if (is_known)
    EXPECT_LT(cached(), 0.6);  // what was written before it was known to be large, and its end
}

INSTANTIATE_TEST_SUITE_P(Both, StagedFileTest, testing::Values(PageCache::kKeep, PageCache::kSpare),
                         [](const auto& info) { return info.param == PageCache::kKeep ? "keep" : "spare"; });

}  // namespace
}  // namespace strom::format
