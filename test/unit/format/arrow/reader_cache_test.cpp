// The cache of open readers: hits, changed files, bounds.
#include "format/arrow/read/reader_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "arrow_print.hpp"
#include "arrow_samples.hpp"
#include "base/file_times.hpp"
#include "format/arrow/read/metadata_cache.hpp"

namespace strom::test {
namespace {

using format::arrow::FileReader;
using format::arrow::MetadataCache;
using format::arrow::ReaderCache;

/// Until nothing can happen to the file without being seen.
void settle(const std::string& path) {
  const auto identity = base::identify_file(path).value();
  while (!base::is_settled(identity, base::clock_ns())) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

TEST(ReaderCache, SameFileSameReader) {
  const TempFolder folder;
  ASSERT_TRUE(write_sample(folder.path("f"), 1, 10, Nulls::kSome).is_ok());
  EXPECT_NE(format::arrow::open_cached(folder.path("f")).value(), format::arrow::open_cached(folder.path("f")).value());
  settle(folder.path("f"));
  const auto first = format::arrow::open_cached(folder.path("f"));
  ASSERT_TRUE(first.is_ok());
  EXPECT_EQ(format::arrow::open_cached(folder.path("f")).value(), first.value());
}

TEST(ReaderCache, ReplacedFileIsOpenedAnew) {
  const TempFolder folder;
  ReaderCache cache(10);
  ASSERT_TRUE(write_sample(folder.path("f"), 1, 10, Nulls::kSome).is_ok());
  const auto first = cache.open(folder.path("f")).value();
  ASSERT_TRUE(write_sample(folder.path("f"), 2, 10, Nulls::kSome).is_ok());
  const auto second = cache.open(folder.path("f")).value();
  EXPECT_NE(first, second);
  EXPECT_EQ(second->batch_count(), 2);
  EXPECT_EQ(first->batch_count(), 1);  // still readable
  EXPECT_EQ(cache.size(), 1u);
}

TEST(ReaderCache, ShrunkAndRestoredFileIsOpenedAnew) {
  const TempFolder folder;
  ReaderCache cache(10);
  ASSERT_TRUE(write_sample(folder.path("f"), 5, 1000, Nulls::kSome).is_ok());
  const auto bytes = read_bytes(folder.path("f"));
  const auto first = cache.open(folder.path("f")).value();
  const std::string expected = print_file(*first).value();
  ASSERT_EQ(truncate(folder.path("f").c_str(), 5000), 0);
  touch_file(*first);
  EXPECT_EQ(cache.open(folder.path("f")).status().code(), ErrorCode::kCorruptFile);
  EXPECT_EQ(cache.size(), 0u);
  write_bytes(folder.path("f"), bytes);
  const auto second = cache.open(folder.path("f"));
  ASSERT_TRUE(second.is_ok());
  EXPECT_EQ(print_file(*second.value()).value(), expected);
  EXPECT_EQ(first->check_unchanged().code(), ErrorCode::kFileChanged);
}

TEST(ReaderCache, RemovedFileIsForgotten) {
  const TempFolder folder;
  ReaderCache cache(10);
  ASSERT_TRUE(write_sample(folder.path("f"), 1, 10, Nulls::kSome).is_ok());
  ASSERT_TRUE(cache.open(folder.path("f")).is_ok());
  std::filesystem::remove(folder.path("f"));
  EXPECT_EQ(cache.open(folder.path("f")).status().code(), ErrorCode::kFileNotFound);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(ReaderCache, LeastRecentlyUsedGoesFirst) {
  const TempFolder folder;
  ReaderCache cache(2);
  const auto path = [&](int i) { return folder.path("f" + std::to_string(i)); };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(write_sample(path(i), 1, 10, Nulls::kSome).is_ok());
  settle(path(2));
  const auto first = cache.open(path(0)).value();
  const std::weak_ptr<const FileReader> second = cache.open(path(1)).value();
  EXPECT_EQ(cache.open(path(0)).value(), first);
  ASSERT_TRUE(cache.open(path(2)).is_ok());
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_TRUE(second.expired());
  EXPECT_EQ(cache.open(path(0)).value(), first);
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_NE(cache.open(path(0)).value(), first);
}

TEST(ReaderCache, ManyThreads) {
  const TempFolder folder;
  ReaderCache cache(3);
  const auto path = [&](size_t i) { return folder.path("f" + std::to_string(i)); };
  for (size_t i = 0; i < 5; ++i) ASSERT_TRUE(write_sample(path(i), 1, static_cast<int64_t>(i), Nulls::kNone).is_ok());
  settle(path(4));
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 500; ++i) {
        const size_t file = (i * (t + 1)) % 5;
        const auto reader = cache.open(path(file));
        ASSERT_TRUE(reader.is_ok());
        ASSERT_EQ(reader.value()->batch_rows(0).value(), static_cast<int64_t>(file));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache.size(), 3u);
}

TEST(MetadataCache, KnowsWhatTheReaderKnows) {
  const TempFolder folder;
  ASSERT_TRUE(write_sample(folder.path("f"), 3, 10, Nulls::kSome).is_ok());
  const auto reader = FileReader::open(folder.path("f")).value();
  for (const bool hold : {true, false}) {
    const auto lazy = format::arrow::open_lazily(folder.path("f"), hold).value();
    EXPECT_EQ(lazy->identity(), reader->identity());
    ASSERT_EQ(lazy->batch_count(), 3);
    for (int batch = 0; batch < 3; ++batch) {
      EXPECT_EQ(lazy->batch_rows(batch).value(), reader->batch_rows(batch).value());
      EXPECT_EQ(lazy->batch_location(batch).value().offset, reader->batch_location(batch).value().offset);
      for (int field = 0; field < static_cast<int>(reader->schema().fields.size()); ++field) {
        if (!reader->schema().fields[static_cast<size_t>(field)].unsupported.empty()) continue;
        EXPECT_EQ(lazy->null_count(batch, field).value(), reader->null_count(batch, field).value());
        EXPECT_EQ(lazy->column_bytes(batch, field).value(), reader->column_bytes(batch, field).value());
        EXPECT_EQ(lazy->bounds(batch, field).value().has_value(), reader->bounds(batch, field).value().has_value());
      }
    }
    EXPECT_EQ(lazy->batch_rows(3).status().code(), ErrorCode::kInternal);
    EXPECT_EQ(print_file(*lazy).value(), print_file(*reader).value());
  }
}

TEST(MetadataCache, BelievesOnlyWhatIsStillSo) {
  const TempFolder folder;
  MetadataCache cache(1 << 20);
  ASSERT_TRUE(write_sample(folder.path("f"), 1, 10, Nulls::kSome).is_ok());
  const auto young = cache.find(folder.path("f")).value();
  EXPECT_NE(cache.find(folder.path("f")).value(), young);
  settle(folder.path("f"));
  const auto settled = cache.find(folder.path("f")).value();
  EXPECT_EQ(cache.find(folder.path("f")).value(), settled);
  EXPECT_EQ(settled->schema, cache.find(folder.path("f")).value()->schema);
  ASSERT_TRUE(write_sample(folder.path("f"), 2, 10, Nulls::kSome).is_ok());
  EXPECT_EQ(cache.find(folder.path("f")).value()->batches.size(), 2u);
  EXPECT_EQ(cache.stats().files, 1);
  cache.set_most_bytes(0);
  EXPECT_EQ(cache.stats().files, 0);
  EXPECT_EQ(cache.stats().bytes, 0);
  EXPECT_EQ(cache.find(folder.path("f")).value()->batches.size(), 2u);
  std::filesystem::remove(folder.path("f"));
  EXPECT_EQ(cache.find(folder.path("f")).status().code(), ErrorCode::kFileNotFound);
}

TEST(MetadataCache, FileThatIsReplacedBeforeItIsRead) {
  const TempFolder folder;
  ASSERT_TRUE(write_sample(folder.path("f"), 2, 10, Nulls::kSome).is_ok());
  const auto lazy = format::arrow::open_lazily(folder.path("f"), true).value();
  ASSERT_TRUE(write_sample(folder.path("g"), 2, 10, Nulls::kSome).is_ok());
  std::filesystem::rename(folder.path("g"), folder.path("f"));
  EXPECT_EQ(lazy->column(0, 0).status().code(), ErrorCode::kFileChanged);
  const auto read = format::arrow::open_lazily(folder.path("f"), true).value();
  ASSERT_TRUE(read->column(0, 0).is_ok());
  ASSERT_TRUE(write_sample(folder.path("g"), 2, 10, Nulls::kSome).is_ok());
  std::filesystem::rename(folder.path("g"), folder.path("f"));
  EXPECT_TRUE(read->column(1, 0).is_ok());
  EXPECT_TRUE(read->check_unchanged().is_ok());
}

}  // namespace
}  // namespace strom::test
