// What is known of files as bytes: all of it comes back, and damaged bytes are refused or give something harmless.
#include "format/arrow/read/metadata_pack.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "arrow_print.hpp"
#include "arrow_samples.hpp"
#include "base/file_times.hpp"

namespace strom::test {
namespace {

using format::arrow::FileMetadata;
using format::arrow::MetadataCache;
using format::arrow::MetadataPacker;
using format::arrow::unpack_metadata;

std::span<const uint8_t> span_of(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

/// Some of everything, with the field at odd places.
std::shared_ptr<FileMetadata> sample(int number) {
  auto metadata = std::make_shared<FileMetadata>();
  metadata->identity = {1, static_cast<uint64_t>(number), 1 << 20, -5, INT64_MAX};
  metadata->format = number % 2 == 0 ? "arrow" : "parquet";
  columnar::Schema schema;
  columnar::Field part;
  part.name = "part";
  part.layout = columnar::Layout::kDecimal128;
  part.precision = 38;
  part.scale = -3;
  columnar::Field field;
  field.name = "größe";
  field.layout = columnar::Layout::kDenseUnion;
  field.children = {part, part};
  field.type_ids = {-1, 127};
  field.metadata = {{"pg_type", "pg_catalog.int4"}, {"", std::string("\0x", 2)}};
  schema.fields = {field, part};
  schema.fields[1].timezone = "Europe/Paris";
  schema.fields[1].unsupported = number % 3 == 0 ? "big words" : "";
  schema.metadata = {{"a", "b"}};
  metadata->schema = std::make_shared<const columnar::Schema>(schema);
  for (int batch = 0; batch < number % 4; ++batch) {
    FileMetadata::Batch& last = metadata->batches.emplace_back();
    last.location = {INT64_MAX, 77, 1'000'000'000'000};
    last.rows = batch;
    last.compressed = batch % 2 == 0;
    last.null_counts = {FileMetadata::kUnreadable, 0};
    last.bytes = {-1, INT64_MAX};
    last.memory_bytes = {0, 1 << 30};
  }
  columnar::Bounds bounds;
  bounds.low = -(static_cast<__int128>(1) << 100);
  bounds.high = 5;
  metadata->bounds[0] = {bounds, std::nullopt};
  bounds = {};
  bounds.kind = columnar::Bounds::Kind::kText;
  bounds.low_text = "a";
  bounds.high_text = std::string(1000, 'z');
  bounds.high_is_prefix = true;
  metadata->bounds[1] = {bounds};
  bounds = {};
  bounds.kind = columnar::Bounds::Kind::kReal;
  bounds.low_real = -1.5;
  metadata->bounds[1].push_back(bounds);
  return metadata;
}

std::string path_of(int number) { return "/data/folder/file" + std::to_string(number * 7) + ".arrow"; }

std::string pack(int files) {
  MetadataPacker packer;
  for (int i = 0; i < files; ++i) packer.add(path_of(i), *sample(i));
  return packer.take();
}

TEST(MetadataPack, EverythingComesBack) {
  const std::string bytes = pack(20);
  const auto files = unpack_metadata(span_of(bytes));
  ASSERT_TRUE(files.has_value());
  ASSERT_EQ(files->size(), 20u);
  MetadataPacker again;
  for (int i = 0; i < 20; ++i) {
    const auto& file = (*files)[static_cast<size_t>(i)];
    const auto expected = sample(i);
    EXPECT_EQ(file.path, path_of(i));
    EXPECT_EQ(file.metadata->identity, expected->identity);
    EXPECT_STREQ(file.metadata->format, expected->format);
    ASSERT_EQ(file.metadata->batches.size(), expected->batches.size());
    for (size_t b = 0; b < expected->batches.size(); ++b) {
      const auto &one = file.metadata->batches[b], &other = expected->batches[b];
      EXPECT_EQ(one.location.offset, other.location.offset);
      EXPECT_EQ(one.location.meta_size, other.location.meta_size);
      EXPECT_EQ(one.location.body_size, other.location.body_size);
      EXPECT_EQ(one.rows, other.rows);
      EXPECT_EQ(one.compressed, other.compressed);
      EXPECT_EQ(one.null_counts, other.null_counts);
      EXPECT_EQ(one.bytes, other.bytes);
      EXPECT_EQ(one.memory_bytes, other.memory_bytes);
    }
    ASSERT_EQ(file.metadata->bounds.size(), 2u);
    EXPECT_TRUE(file.metadata->bounds[0][0]->low == expected->bounds[0][0]->low);
    EXPECT_FALSE(file.metadata->bounds[0][1].has_value());
    EXPECT_EQ(file.metadata->bounds[1][0]->high_text, expected->bounds[1][0]->high_text);
    EXPECT_TRUE(file.metadata->bounds[1][0]->high_is_prefix);
    EXPECT_EQ(file.metadata->bounds[1][1]->low_real, -1.5);
    again.add(file.path, *file.metadata);
  }
  EXPECT_EQ(again.take(), bytes);
  EXPECT_EQ((*files)[1].metadata->schema, (*files)[2].metadata->schema);  // written once
  EXPECT_TRUE(unpack_metadata({})->empty());
}

TEST(MetadataPack, DamagedBytesAreHarmless) {
  const std::string bytes = pack(6);
  for (size_t size = 0; size < bytes.size(); ++size) (void)unpack_metadata(span_of(bytes.substr(0, size)));
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i <= round % 4; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    if (const auto files = unpack_metadata(span_of(damaged))) {
      MetadataPacker packer;
      for (const auto& file : *files) packer.add(file.path, *file.metadata);
    }
  }
}

TEST(MetadataPack, SeedsAreBelievedAsLongAsTheFileIsTheSame) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  ASSERT_TRUE(write_sample(path, 2, 10, Nulls::kSome).is_ok());
  while (!base::is_settled(base::identify_file(path).value(), base::clock_ns()))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  MetadataCache first(1 << 20), second(1 << 20), full(10);
  ASSERT_EQ(first.settled(path), nullptr);
  ASSERT_TRUE(first.find(path).is_ok());
  ASSERT_NE(first.settled(path), nullptr);
  MetadataPacker packer;
  packer.add(path, *first.settled(path));
  const std::string bytes = packer.take();
  const auto seed = [&](MetadataCache& cache) {
    auto files = unpack_metadata(span_of(bytes));
    ASSERT_TRUE(files.has_value());
    cache.seed(files->front().path, std::move(files->front().metadata));
  };
  seed(second);
  EXPECT_EQ(second.find(path).value()->batches.size(), 2u);
  EXPECT_EQ(second.stats().misses, 0);
  seed(full);
  EXPECT_EQ(full.stats().files, 0);
  ASSERT_TRUE(write_sample(path, 3, 10, Nulls::kSome).is_ok());
  EXPECT_EQ(second.find(path).value()->batches.size(), 3u);
  seed(second);  // what is known stays
  EXPECT_EQ(second.find(path).value()->batches.size(), 3u);
}

}  // namespace
}  // namespace strom::test
