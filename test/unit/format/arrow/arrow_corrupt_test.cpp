// Damaged files: cut off at every byte, flipped bits, other formats, files that change while they are read. Nothing may
// crash; what must be an error is one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "arrow_print.hpp"
#include "arrow_samples.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::test {
namespace {

using format::arrow::FileReader;

std::vector<uint8_t> sample_bytes(int batches, int64_t rows, Nulls nulls) {
  const TempFolder folder;
  EXPECT_TRUE(write_sample(folder.path("f"), batches, rows, nulls).is_ok());
  return read_bytes(folder.path("f"));
}

/// Opens bytes from memory of exactly that size, so that a sanitizer sees every byte that is read too far.
Result<std::shared_ptr<const FileReader>> open_exactly(const uint8_t* bytes, size_t size,
                                                       std::unique_ptr<uint8_t[]>& copy) {
  copy = std::make_unique<uint8_t[]>(size);
  std::copy(bytes, bytes + size, copy.get());
  return FileReader::open_memory("f", {copy.get(), size});
}

TEST(ArrowCorrupt, CutOffAtEveryByte) {
  const auto bytes = sample_bytes(2, 9, Nulls::kSome);
  std::unique_ptr<uint8_t[]> copy;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto opened = open_exactly(bytes.data(), size, copy);
    ASSERT_FALSE(opened.is_ok()) << size;
    ASSERT_EQ(opened.status().code(), ErrorCode::kCorruptFile) << size;
    constexpr size_t kMagic = 6;
    if (size < kMagic) {
      ASSERT_EQ(opened.status().message(), "file \"f\" is not an Arrow file") << size;
      continue;
    }
    ASSERT_EQ(opened.status().message(), "corrupt Arrow file \"f\"");
    ASSERT_NE(opened.status().detail().find("byte offset"), std::string::npos);
  }
  EXPECT_TRUE(open_exactly(bytes.data(), bytes.size(), copy).is_ok());
}

TEST(ArrowCorrupt, CutOffOnDisk) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  ASSERT_TRUE(write_sample(path, 2, 5000, Nulls::kSome).is_ok());
  const auto size = static_cast<off_t>(read_bytes(path).size());
  for (off_t left = size - 1; left > 0; left -= 4099) {
    ASSERT_EQ(truncate(path.c_str(), left), 0);
    EXPECT_EQ(FileReader::open(path).status().code(), ErrorCode::kCorruptFile) << left;
  }
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(FileReader::open(path).status().code(), ErrorCode::kCorruptFile);
}

TEST(ArrowCorrupt, BytesAddedAtTheEnd) {
  auto bytes = sample_bytes(1, 9, Nulls::kSome);
  std::unique_ptr<uint8_t[]> copy;
  for (int i = 0; i < 100; ++i) {
    bytes.push_back(static_cast<uint8_t>(i));
    // A zero alone is what a power cut may leave.
    EXPECT_EQ(open_exactly(bytes.data(), bytes.size(), copy).status().code(),
              i == 0 ? ErrorCode::kOk : ErrorCode::kCorruptFile);
  }
}

/// Damage is `count` random changes of one kind; returns how many of the files could still be opened.
template <class Damage>
int survive(const std::vector<uint8_t>& good, int rounds, uint32_t seed, Damage damage) {
  std::mt19937 random(seed);
  std::unique_ptr<uint8_t[]> copy;
  int opened_count = 0;
  uint64_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    auto bytes = good;
    damage(bytes, random);
    const auto opened = open_exactly(bytes.data(), bytes.size(), copy);
    if (!opened.is_ok()) continue;
    ++opened_count;
    sum += touch_file(*opened.value());
  }
  EXPECT_NE(sum, 1u);  // keeps the reads
  return opened_count;
}

TEST(ArrowCorrupt, FlippedBits) {
  const auto good = sample_bytes(3, 20, Nulls::kSome);
  const int opened = survive(good, 20'000, 1, [](std::vector<uint8_t>& bytes, std::mt19937& random) {
    for (uint32_t flips = random() % 4;; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << (random() % 8));
      if (flips == 0) break;
    }
  });
  EXPECT_GT(opened, 100);  // else nothing behind the footer was tried
}

TEST(ArrowCorrupt, OverwrittenWords) {
  const auto good = sample_bytes(3, 20, Nulls::kSome);
  static constexpr uint32_t kNasty[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF8, 64, 0x10000};
  const int opened = survive(good, 20'000, 2, [](std::vector<uint8_t>& bytes, std::mt19937& random) {
    const size_t at = random() % (bytes.size() / 4) * 4;
    const uint32_t word = kNasty[random() % std::size(kNasty)];
    for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<uint8_t>(word >> (8 * i));
  });
  EXPECT_GT(opened, 100);
}

TEST(ArrowCorrupt, EverySingleBitOfTheMetadata) {
  const auto good = sample_bytes(1, 1, Nulls::kNone);
  size_t at = 0;
  const int rounds = static_cast<int>(good.size()) * 8;
  const int opened = survive(good, rounds, 3, [&at](std::vector<uint8_t>& bytes, std::mt19937&) {
    bytes[at / 8] ^= static_cast<uint8_t>(1u << (at % 8));
    ++at;
  });
  EXPECT_LT(opened, rounds);
}

TEST(ArrowCorrupt, OtherFormats) {
  const auto code_of = [](std::string text) {
    std::unique_ptr<uint8_t[]> copy;
    text.resize(200);
    return open_exactly(reinterpret_cast<const uint8_t*>(text.data()), text.size(), copy).status();
  };
  EXPECT_EQ(code_of("PAR1").code(), ErrorCode::kCorruptFile);
  EXPECT_EQ(code_of("PAR1").detail(), "It is a Parquet file, which Arrow_Fdw can read.");
  EXPECT_EQ(code_of("\xFF\xFF\xFF\xFF").detail(),
            "At byte offset 8: the schema message has an impossible size.");  // of the streaming format
  EXPECT_EQ(code_of("ARROW1").detail(),
            "At byte offset 194: the file does not end with ARROW1, it may have been cut off.");
}

TEST(ArrowCorrupt, MisalignedMemoryIsRefused) {
  alignas(8) const uint8_t bytes[64] = {};
  EXPECT_EQ(FileReader::open_memory("f", {bytes + 1, 63}).status().code(), ErrorCode::kInternal);
}

TEST(ArrowChanged, ShrunkWhileThreadsRead) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(write_sample(path, 20, 2000, Nulls::kSome).is_ok());
    const auto opened = FileReader::open(path);
    ASSERT_TRUE(opened.is_ok());
    const FileReader& reader = *opened.value();
    std::atomic<uint64_t> sum{0};
    std::atomic<bool> stop{false};
    std::atomic<int> started{0};
    std::vector<std::thread> threads;
    threads.reserve(3);
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        ++started;
        do {
          sum += touch_file(reader);
        } while (!stop);
      });
    }
    while (started < 3) std::this_thread::yield();
    ASSERT_EQ(truncate(path.c_str(), 10'000), 0);
    stop = true;
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(reader.check_unchanged().code(), ErrorCode::kFileChanged);
  }
}

TEST(ArrowChanged, MetadataThatVanishedIsAChangeNotCorruption) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  ASSERT_TRUE(write_sample(path, 20, 2000, Nulls::kSome).is_ok());
  const auto opened = FileReader::open(path);
  ASSERT_TRUE(opened.is_ok());
  ASSERT_EQ(truncate(path.c_str(), 10'000), 0);
  EXPECT_EQ(opened.value()->column(19, 0).status().code(), ErrorCode::kFileChanged);
}

TEST(ArrowChanged, ReplacedFileGoesOnBeingRead) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  ASSERT_TRUE(write_sample(path, 2, 100, Nulls::kSome).is_ok());
  const auto opened = FileReader::open(path);
  ASSERT_TRUE(opened.is_ok());
  const std::string before = print_file(*opened.value()).value();
  ASSERT_TRUE(write_sample(path, 1, 7, Nulls::kNone).is_ok());
  EXPECT_EQ(print_file(*opened.value()).value(), before);
  EXPECT_TRUE(opened.value()->check_unchanged().is_ok());
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(print_file(*opened.value()).value(), before);
  EXPECT_TRUE(opened.value()->check_unchanged().is_ok());
}

TEST(ArrowThreads, FirstUseOfBatchesFromManyThreads) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  ASSERT_TRUE(write_sample(path, 300, 3, Nulls::kSome).is_ok());
  const auto opened = FileReader::open(path);
  ASSERT_TRUE(opened.is_ok());
  const uint64_t expected = touch_file(*FileReader::open(path).value());
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(touch_file(*opened.value()), expected); });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace strom::test
