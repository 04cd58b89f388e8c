// The writer for columns of any type: going on with a file, and what files may not be gone on with. That others read
// what it writes is checked by test/tools/pg2arrow*.py.
#include "format/arrow/write/writer.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>

#include "format/arrow/read/describe.hpp"

namespace strom::format::arrow {
namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using columnar::Schema;

class FileWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/file_writer_test.XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    Field number;
    number.name = "n";
    Field label;
    label.name = "l";
    label.layout = Layout::kUtf8;
    label.dictionary = true;
    label.dictionary_id = 3;
    schema_.fields = {number, label};
  }
  void TearDown() override { ASSERT_EQ(system(("rm -rf " + folder_).c_str()), 0); }

  std::string path() const { return folder_ + "/file.arrow"; }

  Status write_batch(FileWriter& writer, int rows, Codec codec) const {
    std::vector<ColumnBuilder> columns;
    columns.reserve(schema_.fields.size());
    for (const auto& field : schema_.fields) columns.emplace_back(field);
    for (int i = 0; i < rows; ++i) {
      columns[0].append(i);
      if (i % 2) {
        columns[1].append_null();
      } else {
        columns[1].append(int32_t{0});
      }
    }
    Compressor compressor({codec, 0});
    STROM_ASSIGN(const EncodedBatch batch, encode_batch(columns, rows, compressor));
    return writer.write(batch).status();
  }

  static Status write_labels(FileWriter& writer, const std::vector<std::string>& labels, bool is_delta) {
    Field field;
    field.layout = Layout::kUtf8;
    ColumnBuilder values(field);
    for (const std::string& label : labels) values.append_bytes(label.data(), static_cast<int64_t>(label.size()));
    return writer.write_dictionary(3, values, is_delta);
  }

  Status write_file() const {
    STROM_ASSIGN(auto file, StagedFile::create(path(), false));
    STROM_ASSIGN(const auto writer, FileWriter::create(std::move(file), schema_, false));
    STROM_TRY(write_labels(*writer, {"x", "yy"}, false));
    STROM_TRY(write_batch(*writer, 5, Codec::kNone));
    return writer->finish();
  }

  std::string folder_;
  Schema schema_;
};

TEST_F(FileWriterTest, GoesOnWithAFile) {
  ASSERT_TRUE(write_file().is_ok());
  for (int round = 1; round <= 3; ++round) {
    const auto existing = ExistingFile::open(path());
    ASSERT_TRUE(existing.is_ok()) << existing.status().detail();
    EXPECT_EQ(existing.value()->batches, round);
    EXPECT_TRUE(columnar::same_type(existing.value()->schema.fields[0], schema_.fields[0]));
    EXPECT_TRUE(columnar::same_type(existing.value()->schema.fields[1], schema_.fields[1]));
    EXPECT_EQ(existing.value()->dictionary(3).value().size(), static_cast<size_t>(round + 1));
    EXPECT_EQ(existing.value()->dictionary(3).value()[1], "yy");
    auto file = std::move(StagedFile::create(path(), true)).value();
    ASSERT_TRUE(existing.value()->copy_messages(*file).is_ok());
    const auto writer = FileWriter::resume(std::move(file), *existing.value(), schema_);
    ASSERT_TRUE(writer.is_ok());
    ASSERT_TRUE(write_labels(*writer.value(), {"z" + std::to_string(round)}, true).is_ok());
    ASSERT_TRUE(write_batch(*writer.value(), 1000, round == 1 ? Codec::kLz4 : Codec::kZstd).is_ok());
    ASSERT_TRUE(writer.value()->finish().is_ok());
  }
  const auto text = describe_file(path());
  ASSERT_TRUE(text.is_ok());
  EXPECT_NE(text.value().find("[Record Batch 3]"), std::string::npos);
  EXPECT_NE(text.value().find("isDelta=true"), std::string::npos);
}

TEST_F(FileWriterTest, DamagedFilesAreRefused) {
  ASSERT_TRUE(write_file().is_ok());
  std::stringstream content;
  content << std::ifstream(path(), std::ios::binary).rdbuf();
  const std::string good = content.str();
  const std::string damaged = folder_ + "/damaged.arrow";
  for (size_t i = 0; i < good.size() * 8; i += 37) {
    std::string bytes = good;
    bytes[i / 8] ^= static_cast<char>(1 << i % 8);
    std::ofstream(damaged, std::ios::binary | std::ios::trunc) << bytes;
    const auto existing = ExistingFile::open(damaged);
    if (existing.is_ok()) (void)existing.value()->dictionary(3);
    (void)describe_file(damaged);
  }
  for (size_t size = 0; size < good.size(); size += 13) {
    std::ofstream(damaged, std::ios::binary | std::ios::trunc) << good.substr(0, size);
    EXPECT_FALSE(ExistingFile::open(damaged).is_ok()) << size;
  }
}

TEST_F(FileWriterTest, SchemasThatCannotBeWritten) {
  const auto create = [&](Field field) {
    auto file = std::move(StagedFile::create(path(), true)).value();
    return FileWriter::create(std::move(file), {{std::move(field)}, {}}, false).is_ok();
  };
  Field decimal;
  decimal.layout = Layout::kDecimal128;
  decimal.precision = 39;
  EXPECT_FALSE(create(decimal));
  decimal.layout = Layout::kDecimal256;
  EXPECT_TRUE(create(decimal));
  Field list;
  list.layout = Layout::kList;
  EXPECT_FALSE(create(list));
  Field other;
  other.unsupported = "type Other";
  EXPECT_FALSE(create(other));
}

TEST(Compression, Parsed) {
  EXPECT_EQ(parse_compression("none").value().codec, Codec::kNone);
  EXPECT_EQ(parse_compression("zstd:19").value().level, 19);
  for (const char* text : {"", "zstd:", "zstd:0", "zstd:-1", "lz4:1", "gzip", "zstd:1x"}) {
    EXPECT_FALSE(parse_compression(text).is_ok()) << text;
  }
}

}  // namespace
}  // namespace strom::format::arrow
