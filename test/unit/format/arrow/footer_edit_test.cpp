// Metadata that is replaced in place: the old or the new one at every moment, the rest as it was.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "arrow_print.hpp"
#include "arrow_samples.hpp"
#include "format/arrow/write/footer_edit.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::test {
namespace {

namespace fs = std::filesystem;
using columnar::KeyValues;
using format::arrow::edit_footer;
using format::arrow::FieldMetadata;
using format::arrow::FileReader;

std::shared_ptr<const FileReader> open_file(const std::string& path) {
  auto reader = FileReader::open(path);
  EXPECT_TRUE(reader.is_ok()) << reader.status().message() << ": " << reader.status().detail();
  return reader.is_ok() ? reader.value() : nullptr;
}

Status edit(const std::string& path, const FieldMetadata& metadata) {
  STROM_ASSIGN(const auto reader, FileReader::open(path));
  return edit_footer(*reader, metadata);
}

/// Everything but the metadata of column 3.
std::string content(const std::string& path) {
  const auto reader = open_file(path);
  if (reader == nullptr) return "unreadable";
  std::string text = print_file(*reader).value();
  for (size_t i = 0; i < reader->schema().fields.size(); ++i) {
    const columnar::Field& field = reader->schema().fields[i];
    text += print_field(field) + (field.nullable ? "" : " not null");
    if (i == 3) continue;
    for (const auto& [key, value] : field.metadata) text += key + "=" + value;
  }
  for (const auto& [key, value] : reader->schema().metadata) text += key + "=" + value;
  return text;
}

KeyValues values_of_size(size_t size, char fill) { return {{"key", std::string(size, fill)}, {"more", ""}}; }

TEST(FooterEdit, ReplacesMetadataAndNothingElse) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  for (const int batches : {0, 1, 3}) {
    ASSERT_TRUE(write_sample(path, batches, 100, Nulls::kSome).is_ok());
    const std::string before = content(path);
    for (const size_t size : {size_t{1}, size_t{500}, size_t{100'000}, size_t{3}, size_t{0}}) {
      const KeyValues metadata = size == 0 ? KeyValues() : values_of_size(size, 'x');
      const Status status = edit(path, {{3, metadata}});
      ASSERT_TRUE(status.is_ok()) << status.message() << status.detail();
      EXPECT_EQ(open_file(path)->schema().fields[3].metadata, metadata);
      EXPECT_EQ(content(path), before);
    }
  }
}

TEST(FooterEdit, FilesDoNotGrowForEver) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  ASSERT_TRUE(write_sample(path, 2, 100, Nulls::kSome).is_ok());
  const auto first = fs::file_size(path);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(edit(path, {{3, values_of_size(1'000, 'x')}}).is_ok());
    EXPECT_LT(fs::file_size(path), first + 20'000);
  }
}

TEST(FooterEdit, KeepsOwnerAndLinks) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  ASSERT_TRUE(write_sample(path, 1, 10, Nulls::kNone).is_ok());
  fs::create_hard_link(path, folder.path("link"));
  ASSERT_TRUE(edit(path, {{3, values_of_size(10, 'x')}}).is_ok());
  EXPECT_EQ(open_file(folder.path("link"))->schema().fields[3].metadata.size(), 2u);
}

TEST(FooterEdit, RefusesFilesThatChangedOrAreLocked) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  ASSERT_TRUE(write_sample(path, 1, 10, Nulls::kNone).is_ok());
  const auto reader = open_file(path);
  const int fd = open(path.c_str(), O_RDONLY);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  EXPECT_EQ(edit_footer(*reader, {}).code(), ErrorCode::kOverBudget);
  close(fd);
  ASSERT_TRUE(write_sample(path, 1, 11, Nulls::kNone).is_ok());
  EXPECT_EQ(edit_footer(*reader, {}).code(), ErrorCode::kFileChanged);
  fs::remove(path);
  EXPECT_EQ(edit_footer(*reader, {}).code(), ErrorCode::kFileNotFound);
}

TEST(FooterEdit, NoRoomLeavesTheFileAsItWas) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  ASSERT_TRUE(write_sample(path, 2, 100, Nulls::kNone).is_ok());
  const auto before = read_bytes(path);
  signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit limit{before.size() + 1'000, old_limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  const Status status = edit(path, {{3, values_of_size(50'000, 'x')}});
  setrlimit(RLIMIT_FSIZE, &old_limit);
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(read_bytes(path), before);
}

/// A process that edits again and again is killed at random moments after its first edit, while another reader looks
/// on.
TEST(FooterEdit, SurvivesBeingKilled) {
  const TempFolder folder;
  const std::string path = folder.path("f");
  ASSERT_TRUE(write_sample(path, 2, 50, Nulls::kSome).is_ok());
  const std::string before = content(path);
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    int edited[2];
    ASSERT_EQ(pipe(edited), 0);
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0;; ++i) {
        if (!edit(path, {{3, values_of_size(size_t{10} << (i % 12), static_cast<char>('a' + i % 26))}}).is_ok())
          _exit(1);
        if (i == 0 && write(edited[1], "x", 1) != 1) _exit(1);
      }
    }
    close(edited[1]);
    char byte = 0;
    EXPECT_EQ(read(edited[0], &byte, 1), 1);  // 0 where the child has ended before
    close(edited[0]);
    const auto looks = random() % 4;
    for (unsigned look = 0; look < looks; ++look) {
      const auto reader = FileReader::open(path);
      // The footer may be switched between its two reads; a second try finds it.
      if (!reader.is_ok()) {
        EXPECT_TRUE(FileReader::open(path).is_ok());
      }
    }
    usleep(random() % 3'000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    ASSERT_EQ(content(path), before);
    const KeyValues metadata = open_file(path)->schema().fields[3].metadata;
    ASSERT_EQ(metadata.size(), 2u);
    ASSERT_EQ(metadata[0].second, std::string(metadata[0].second.size(), metadata[0].second[0]));
  }
}

}  // namespace
}  // namespace strom::test
