// What the writer writes, the reader reads: every layout, nulls, empty and many batches, metadata.
#include <gtest/gtest.h>

#include "arrow_print.hpp"
#include "arrow_samples.hpp"
#include "columnar/layout.hpp"
#include "format/arrow/read/reader.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::test {
namespace {

using format::arrow::FileReader;
using format::arrow::FileWriter;

std::shared_ptr<const FileReader> open_ok(const std::string& path) {
  auto opened = FileReader::open(path);
  EXPECT_TRUE(opened.is_ok()) << opened.status().message() << ": " << opened.status().detail();
  return opened.is_ok() ? opened.value() : nullptr;
}

struct Case {
  int batches;
  int64_t rows;
  Nulls nulls;
};

class RoundTrip : public testing::TestWithParam<Case> {};

TEST_P(RoundTrip, EveryValueComesBack) {
  const Case& param = GetParam();
  const TempFolder folder;
  const std::string path = folder.path("sample.arrow");
  const Status written = write_sample(path, param.batches, param.rows, param.nulls);
  ASSERT_TRUE(written.is_ok()) << written.message() << written.detail();

  const auto reader = open_ok(path);
  ASSERT_NE(reader, nullptr);
  ASSERT_EQ(reader->batch_count(), param.batches);
  const auto schema = sample_schema();
  ASSERT_EQ(reader->schema().fields.size(), schema.fields.size());
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    EXPECT_EQ(print_field(reader->schema().fields[i]), print_field(schema.fields[i]));
    EXPECT_EQ(reader->schema().fields[i].metadata, schema.fields[i].metadata);
    EXPECT_TRUE(reader->schema().fields[i].nullable);
  }
  EXPECT_EQ(reader->schema().metadata, schema.metadata);

  for (int batch = 0; batch < param.batches; ++batch) {
    const auto columns = sample_columns(schema, param.rows, param.nulls, static_cast<uint32_t>(batch));
    ASSERT_EQ(reader->batch_rows(batch).value(), param.rows);
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto read = reader->column(batch, static_cast<int>(i));
      ASSERT_TRUE(read.is_ok()) << read.status().message();
      const auto expected = columns[i].view();
      EXPECT_EQ(read.value().null_count, expected.null_count);
      EXPECT_EQ(read.value().validity == nullptr, expected.null_count == 0);
      ASSERT_EQ(read.value().length, param.rows);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(read.value().values) % 64, 0u);
      for (int64_t row = 0; row < param.rows; ++row) {
        ASSERT_EQ(print_value(read.value(), row), print_value(expected, row))
            << schema.fields[i].name << " row " << row;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RoundTrip,
                         testing::Values(Case{1, 1000, Nulls::kSome}, Case{1, 1000, Nulls::kNone},
                                         Case{1, 1000, Nulls::kAll}, Case{3, 0, Nulls::kNone}, Case{0, 0, Nulls::kNone},
                                         Case{5, 1, Nulls::kSome}, Case{2, 64, Nulls::kSome},
                                         Case{7, 65, Nulls::kSome}));

TEST(ArrowRoundTrip, ColumnBytesAreThoseOfTheBuffers) {
  const TempFolder folder;
  const std::string path = folder.path("bytes.arrow");
  ASSERT_TRUE(write_sample(path, 1, 100, Nulls::kSome).is_ok());
  const auto reader = open_ok(path);
  ASSERT_NE(reader, nullptr);
  const auto schema = sample_schema();
  const auto columns = sample_columns(schema, 100, Nulls::kSome, 0);
  for (size_t i = 0; i < columns.size(); ++i) {
    // A builder holds just what is written.
    EXPECT_EQ(reader->column_bytes(0, static_cast<int>(i)).value(), columns[i].memory_bytes()) << schema.fields[i].name;
  }
  const auto location = reader->batch_location(0).value();
  EXPECT_EQ(location.offset % 64, 0);
  EXPECT_EQ(location.meta_size % 64, 0);
  EXPECT_EQ(location.body_size % 64, 0);
}

TEST(ArrowRoundTrip, TenThousandBatches) {
  const TempFolder folder;
  const std::string path = folder.path("many.arrow");
  columnar::Schema schema;
  schema.fields.emplace_back().name = "i";
  auto writer = FileWriter::create(path, schema, false);
  ASSERT_TRUE(writer.is_ok());
  constexpr int kBatches = 10'000;
  columnar::ColumnBuilder column(schema.fields[0]);
  for (int32_t i = 0; i < kBatches; ++i) {
    column.clear();
    column.append(i);
    column.append(-i);
    ASSERT_TRUE(writer.value()->write({2, {column.view()}}).is_ok());
  }
  ASSERT_TRUE(writer.value()->finish().is_ok());

  const auto reader = open_ok(path);
  ASSERT_NE(reader, nullptr);
  ASSERT_EQ(reader->batch_count(), kBatches);
  for (int32_t i = kBatches - 1; i >= 0; --i) {
    const auto read = reader->column(i, 0);
    ASSERT_TRUE(read.is_ok());
    EXPECT_EQ(static_cast<const int32_t*>(read.value().values)[0], i);
    EXPECT_EQ(static_cast<const int32_t*>(read.value().values)[1], -i);
  }
}

TEST(ArrowRoundTrip, NoColumns) {
  const TempFolder folder;
  const std::string path = folder.path("empty.arrow");
  auto writer = FileWriter::create(path, {}, false);
  ASSERT_TRUE(writer.is_ok());
  ASSERT_TRUE(writer.value()->write({17, {}}).is_ok());
  ASSERT_TRUE(writer.value()->finish().is_ok());
  const auto reader = open_ok(path);
  ASSERT_NE(reader, nullptr);
  EXPECT_TRUE(reader->schema().fields.empty());
  EXPECT_EQ(reader->batch_rows(0).value(), 17);
  EXPECT_FALSE(reader->column(0, 0).is_ok());
  EXPECT_FALSE(reader->batch_rows(1).is_ok());
  EXPECT_FALSE(reader->batch_rows(-1).is_ok());
}

TEST(ArrowRoundTrip, MetadataSetLateStandsInTheFooter) {
  const TempFolder folder;
  const std::string path = folder.path("stats.arrow");
  columnar::Schema schema;
  schema.fields.emplace_back().name = "i";
  schema.fields[0].nullable = false;
  schema.metadata = {{"was", "here"}};
  auto writer = FileWriter::create(path, schema, false);
  ASSERT_TRUE(writer.is_ok());
  writer.value()->schema().fields[0].metadata = {{"min_values", "1,2,3"}, {"max_values", "4,5,6"}};
  writer.value()->schema().metadata = {{"rows", "0"}};
  ASSERT_TRUE(writer.value()->finish().is_ok());
  const auto reader = open_ok(path);
  ASSERT_NE(reader, nullptr);
  const columnar::KeyValues expected = {{"min_values", "1,2,3"}, {"max_values", "4,5,6"}};
  EXPECT_EQ(reader->schema().fields[0].metadata, expected);
  EXPECT_FALSE(reader->schema().fields[0].nullable);
  const columnar::KeyValues whole = {{"rows", "0"}};
  EXPECT_EQ(reader->schema().metadata, whole);
}

}  // namespace
}  // namespace strom::test
