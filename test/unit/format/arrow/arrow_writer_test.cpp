// The writer's promises about files: whole or absent, not overwritten unasked, errors named.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "arrow_print.hpp"
#include "arrow_samples.hpp"
#include "format/arrow/read/reader.hpp"
#include "format/arrow/write/writer.hpp"
#include "format/staged_file.hpp"

namespace strom::test {
namespace {

namespace fs = std::filesystem;
using columnar::Layout;
using format::arrow::FileReader;
using format::arrow::FileWriter;

int entries(const TempFolder& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder.folder()), fs::directory_iterator()));
}

columnar::Schema one_column(Layout layout = Layout::kInt32) {
  columnar::Schema schema;
  columnar::Field& field = schema.fields.emplace_back();
  field.name = "c";
  field.layout = layout;
  return schema;
}

TEST(ArrowWriter, NothingUnderTheNameBeforeFinish) {
  const TempFolder folder;
  auto writer = FileWriter::create(folder.path("f"), one_column(), false);
  ASSERT_TRUE(writer.is_ok());
  EXPECT_FALSE(fs::exists(folder.path("f")));
  EXPECT_LE(entries(folder), 1);  // a temporary name, where the file system has no files without names
  ASSERT_TRUE(writer.value()->finish().is_ok());
  EXPECT_TRUE(fs::exists(folder.path("f")));
  EXPECT_EQ(entries(folder), 1);
}

TEST(ArrowWriter, DroppedWriterLeavesNothing) {
  const TempFolder folder;
  ASSERT_TRUE(FileWriter::create(folder.path("f"), one_column(), false).is_ok());
  EXPECT_EQ(entries(folder), 0);
}

TEST(ArrowWriter, ExistingFileIsKeptUnlessAsked) {
  const TempFolder folder;
  write_bytes(folder.path("f"), {1, 2, 3});
  const auto refused = FileWriter::create(folder.path("f"), one_column(), false);
  EXPECT_EQ(refused.status().code(), ErrorCode::kFileExists);
  EXPECT_EQ(refused.status().message(), "could not create file \"" + folder.path("f") + "\": File exists");
  EXPECT_EQ(read_bytes(folder.path("f")).size(), 3u);
  {
    auto dropped = FileWriter::create(folder.path("f"), one_column(), true);
    ASSERT_TRUE(dropped.is_ok());
  }
  EXPECT_EQ(read_bytes(folder.path("f")).size(), 3u);
  ASSERT_EQ(chmod(folder.path("f").c_str(), 0640), 0);
  auto writer = FileWriter::create(folder.path("f"), one_column(), true);
  ASSERT_TRUE(writer.is_ok());
  ASSERT_TRUE(writer.value()->finish().is_ok());
  EXPECT_TRUE(FileReader::open(folder.path("f")).is_ok());
  struct stat info;
  ASSERT_EQ(stat(folder.path("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(ArrowWriter, FileThatAppearsMeanwhileIsKept) {
  const TempFolder folder;
  auto writer = FileWriter::create(folder.path("f"), one_column(), false);
  ASSERT_TRUE(writer.is_ok());
  write_bytes(folder.path("f"), {1, 2, 3});
  EXPECT_EQ(writer.value()->finish().code(), ErrorCode::kFileExists);
  writer = Status(ErrorCode::kInternal, "drop the writer");
  EXPECT_EQ(read_bytes(folder.path("f")).size(), 3u);
  EXPECT_EQ(entries(folder), 1);
}

TEST(ArrowWriter, BadPlaces) {
  const TempFolder folder;
  EXPECT_EQ(FileWriter::create(folder.path("absent/f"), one_column(), true).status().code(), ErrorCode::kFileNotFound);
  EXPECT_EQ(FileWriter::create(folder.folder(), one_column(), true).status().code(), ErrorCode::kIoError);
  const std::string long_name(250, 'n');
  auto writer = FileWriter::create(folder.path(long_name), one_column(), false);
  ASSERT_TRUE(writer.is_ok()) << writer.status().message();
  EXPECT_TRUE(writer.value()->finish().is_ok());
  EXPECT_TRUE(fs::exists(folder.path(long_name)));
}

TEST(ArrowWriter, RelativePath) {
  const TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.folder());
  auto writer = FileWriter::create("f", one_column(), false);
  const bool finished = writer.is_ok() && writer.value()->finish().is_ok();
  fs::current_path(before);
  EXPECT_TRUE(finished);
  EXPECT_TRUE(FileReader::open(folder.path("f")).is_ok());
}

TEST(ArrowWriter, DiskFullIsAnErrorAndLeavesTheOldFile) {
  const TempFolder folder;
  write_bytes(folder.path("f"), {1, 2, 3});
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit tight = {100'000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto schema = sample_schema();
  const auto columns = sample_columns(schema, 10'000, Nulls::kSome, 1);
  Status write_status, finish_status;
  {
    auto writer = FileWriter::create(folder.path("f"), schema, true);
    ASSERT_TRUE(writer.is_ok());
    write_status = writer.value()->write(view_of(columns));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    finish_status = writer.value()->finish();
  }
  EXPECT_EQ(write_status.code(), ErrorCode::kIoError);
  EXPECT_EQ(write_status.message(), "could not write file \"" + folder.path("f") + "\": File too large");
  EXPECT_EQ(finish_status.code(), ErrorCode::kIoError);  // a half-written file must not be finished
  EXPECT_EQ(read_bytes(folder.path("f")).size(), 3u);
  EXPECT_EQ(entries(folder), 1);
}

TEST(ArrowWriter, UnwritableSchemas) {
  const TempFolder folder;
  const auto code_of = [&](const columnar::Schema& schema) {
    return FileWriter::create(folder.path("f"), schema, false).status().code();
  };
  EXPECT_EQ(code_of(one_column(Layout::kDictionary)), ErrorCode::kInvalidParameter);   // of views, not of fields
  EXPECT_EQ(code_of(one_column(Layout::kDecimal128)), ErrorCode::kInvalidParameter);   // no precision
  EXPECT_EQ(code_of(one_column(Layout::kFixedBinary)), ErrorCode::kInvalidParameter);  // no width
  auto schema = one_column();
  schema.fields[0].unsupported = "type List";
  EXPECT_EQ(code_of(schema), ErrorCode::kUnsupported);
  EXPECT_EQ(entries(folder), 0);
}

TEST(ArrowWriter, BatchesThatContradictTheSchema) {
  const TempFolder folder;
  const int32_t values[3] = {1, 2, 3};
  columnar::ColumnView good;
  good.length = 3;
  good.values = values;
  const auto code_of = [&](const columnar::Schema& schema, const columnar::BatchView& batch) {
    auto writer = FileWriter::create(folder.path("f"), schema, false);
    return writer.is_ok() ? writer.value()->write(batch).code() : writer.status().code();
  };
  EXPECT_EQ(code_of(one_column(), {3, {good}}), ErrorCode::kOk);
  EXPECT_EQ(code_of(one_column(), {3, {}}), ErrorCode::kInvalidParameter);
  EXPECT_EQ(code_of(one_column(), {2, {good}}), ErrorCode::kInvalidParameter);
  EXPECT_EQ(code_of(one_column(Layout::kFloat32), {3, {good}}), ErrorCode::kInvalidParameter);
  columnar::ColumnView nulls = good;
  nulls.null_count = 1;
  EXPECT_EQ(code_of(one_column(), {3, {nulls}}), ErrorCode::kInvalidParameter);
  columnar::ColumnView text = good;  // offsets 1, 2, 3 into no text at all
  text.layout = Layout::kUtf8;
  text.length = 2;
  EXPECT_EQ(code_of(one_column(Layout::kUtf8), {2, {text}}), ErrorCode::kInvalidParameter);
}

TEST(ArrowWriter, ManyColumnsNeedSeveralSystemCalls) {
  const TempFolder folder;
  constexpr int kColumns = 1500;  // more pieces than one writev() takes
  columnar::Schema schema;
  std::vector<columnar::ColumnBuilder> columns;
  for (int i = 0; i < kColumns; ++i) {
    schema.fields.emplace_back().name = "c" + std::to_string(i);
    auto& column = columns.emplace_back(schema.fields.back());
    column.append(int32_t{i});
    column.append_null();
  }
  auto writer = FileWriter::create(folder.path("f"), schema, false);
  ASSERT_TRUE(writer.is_ok());
  ASSERT_TRUE(writer.value()->write(view_of(columns)).is_ok());
  ASSERT_TRUE(writer.value()->finish().is_ok());
  const auto reader = FileReader::open(folder.path("f"));
  ASSERT_TRUE(reader.is_ok());
  for (int i = 0; i < kColumns; ++i) {
    EXPECT_EQ(print_value(reader.value()->column(0, i).value(), 0), std::to_string(i));
    EXPECT_EQ(print_value(reader.value()->column(0, i).value(), 1), "NULL");
  }
}

TEST(ArrowWriter, LargeBuffersBeginAtPages) {
  const TempFolder folder;
  columnar::Schema schema = one_column();
  schema.fields.push_back(schema.fields[0]);
  schema.fields[1].layout = Layout::kUtf8;
  constexpr int32_t kRows = 400'000;
  auto writer = FileWriter::create(folder.path("f"), schema, false);
  ASSERT_TRUE(writer.is_ok());
  for (int batch = 0; batch < 2; ++batch) {
    std::vector<columnar::ColumnBuilder> columns;
    columns.emplace_back(schema.fields[0]);
    columns.emplace_back(schema.fields[1]);
    for (int32_t i = 0; i < kRows; ++i) {
      columns[0].append(i + batch);
      ASSERT_TRUE(columns[1].append_bytes(std::to_string(i + batch)));
    }
    format::arrow::Compressor compressor({});
    const auto encoded = format::arrow::encode_batch(columns, kRows, compressor);
    ASSERT_TRUE(encoded.is_ok());
    ASSERT_TRUE(writer.value()->write(encoded.value()).is_ok());
  }
  ASSERT_TRUE(writer.value()->finish().is_ok());
  const auto reader = FileReader::open(folder.path("f"));
  ASSERT_TRUE(reader.is_ok());
  for (int batch = 0; batch < 2; ++batch) {
    const auto numbers = reader.value()->column(batch, 0).value(), texts = reader.value()->column(batch, 1).value();
    for (const void* buffer : {numbers.values, texts.values, static_cast<const void*>(texts.data)})
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % 4096, 0u);  // the mapping begins at a page, too
    for (const int32_t row : {0, 1, kRows - 1}) {
      EXPECT_EQ(print_value(numbers, row), std::to_string(row + batch));
      EXPECT_NE(print_value(texts, row).find(std::to_string(row + batch)), std::string::npos);
    }
  }
}

TEST(StagedFile, AppendsInOrder) {
  const TempFolder folder;
  auto file = format::StagedFile::create(folder.path("f"), false);
  ASSERT_TRUE(file.is_ok());
  char a[] = "abc", b[] = "de";
  ASSERT_TRUE(file.value()->append({{a, 3}, {nullptr, 0}, {b, 2}}).is_ok());
  ASSERT_TRUE(file.value()->append({}).is_ok());
  EXPECT_EQ(file.value()->position(), 5);
  ASSERT_TRUE(file.value()->commit().is_ok());
  EXPECT_EQ(read_bytes(folder.path("f")), (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e'}));
}

}  // namespace
}  // namespace strom::test
