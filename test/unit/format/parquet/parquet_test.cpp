// Parquet files read through the module, compared with an Arrow file of the same rows; and what happens without it.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "../arrow/arrow_print.hpp"
#include "format/arrow/read/reader_cache.hpp"
#include "format/parquet/module.hpp"
#include "format/parquet/reader.hpp"

namespace strom::test {
namespace {

using format::arrow::FileReader;

const std::string kFiles = STROM_TEST_FILES;

/// Values of the column called `name` of all batches, a line each.
std::string values(const FileReader& reader, const std::string& name) {
  std::string text;
  for (size_t i = 0; i < reader.schema().fields.size(); ++i) {
    if (reader.schema().fields[i].name != name) continue;
    for (int batch = 0; batch < reader.batch_count(); ++batch) {
      const auto column = reader.column(batch, static_cast<int>(i));
      if (!column.is_ok()) return column.status().message() + column.status().detail();
      for (int64_t row = 0; row < column.value().length; ++row) text += print_value(column.value(), row) + '\n';
    }
  }
  return text;
}

TEST(Parquet, WithoutModule) {
  format::parquet::set_module_path("/nowhere/pg_strom_parquet.so");
  const auto opened = format::arrow::open_cached(kFiles + "/parquet/snappy.parquet");
  EXPECT_EQ(opened.status().code(), ErrorCode::kUnsupported);
  EXPECT_NE(opened.status().hint().find("STROM_PARQUET"), std::string::npos);
  format::parquet::set_module_path(STROM_PARQUET_MODULE);
}

TEST(Parquet, SameValuesAsArrow) {
  format::parquet::set_module_path(STROM_PARQUET_MODULE);
  const auto arrow = FileReader::open(kFiles + "/pruning/plain.arrow").value();
  for (const char* name : {"snappy", "zstd", "gzip", "lz4", "brotli", "mixed", "duckdb", "polars", "datafusion"}) {
    const auto opened = format::arrow::open_cached(kFiles + "/parquet/" + name + ".parquet");
    ASSERT_TRUE(opened.is_ok()) << opened.status().message() << opened.status().detail();
    EXPECT_STREQ(opened.value()->format(), "parquet");
    for (const char* column : {"id", "i1", "i8", "u4", "f8", "n", "d", "t", "lt", "b"})
      EXPECT_EQ(values(*opened.value(), column), values(*arrow, column)) << name << " " << column;
  }
}

TEST(Parquet, StatisticsHoldAllValues) {
  format::parquet::set_module_path(STROM_PARQUET_MODULE);
  const auto reader = format::arrow::open_cached(kFiles + "/parquet/snappy.parquet").value();
  const auto bounds = reader->bounds(3, 0).value();
  ASSERT_TRUE(bounds.has_value());
  EXPECT_EQ(static_cast<int64_t>(bounds->low), 300);
  EXPECT_EQ(static_cast<int64_t>(bounds->high), 399);
  EXPECT_EQ(reader->null_count(3, 0).value(), 0);
  EXPECT_EQ(reader->null_count(9, 1).value(), 100);
  const auto unknown = format::arrow::open_cached(kFiles + "/parquet/brotli.parquet").value();
  EXPECT_EQ(unknown->null_count(0, 1).value(), FileReader::kUnknownNulls);
  EXPECT_FALSE(unknown->bounds(0, 1).value().has_value());
}

TEST(Parquet, ReadByManyThreads) {
  format::parquet::set_module_path(STROM_PARQUET_MODULE);
  const auto reader = format::arrow::open_cached(kFiles + "/parquet/mixed.parquet").value();
  const uint64_t wanted = touch_file(*reader);
  std::vector<std::thread> threads;
  std::vector<uint64_t> found(8);
  threads.reserve(found.size());
  for (uint64_t& result : found)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) result = touch_file(*reader);
    });
  for (std::thread& thread : threads) thread.join();
  for (const uint64_t result : found) EXPECT_EQ(result, wanted);
}

TEST(Parquet, DamagedColumnLeavesOthersReadable) {
  format::parquet::set_module_path(STROM_PARQUET_MODULE);
  const auto reader = format::arrow::open_cached(kFiles + "/parquet/damaged.parquet").value();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(reader->column(0, 0).status().code(), ErrorCode::kCorruptFile);
    EXPECT_TRUE(reader->column(0, 16).is_ok());
    EXPECT_EQ(reader->column(0, 99).status().code(), ErrorCode::kInternal);
    EXPECT_EQ(reader->column(99, 0).status().code(), ErrorCode::kInternal);
  }
}

}  // namespace
}  // namespace strom::test
