// Export files: what buffers have after growing, moving and sealing.
#include "service/export_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>
#include <string>
#include <vector>

namespace strom::service {
namespace {

std::string content(const ExportFile& file, size_t buffer) {
  std::string bytes(static_cast<size_t>(file.size(buffer)), '\0');
  EXPECT_EQ(pread(file.descriptor(), bytes.data(), bytes.size(), file.offset(buffer)),
            static_cast<ssize_t>(bytes.size()));
  return bytes;
}

/// Blocks of different content, so that one in a wrong place is seen.
std::string block(size_t buffer, int number, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<char>(buffer * 7 + static_cast<size_t>(number) * 31 + i * 13);
  return bytes;
}

void grow_and_compare(const std::vector<int64_t>& room, int64_t alignment) {
  auto made = ExportFile::create(3, room);
  ASSERT_TRUE(made.is_ok());
  ExportFile file = std::move(made).value();
  std::string wanted[3];
  // More than one step of a move, sizes that are no multiple of a page.
  for (int number = 0; number < 7; ++number)
    for (size_t buffer = 0; buffer < 3; ++buffer) {
      const std::string bytes = block(buffer, number, 1000003 * (buffer + 1));
      wanted[buffer] += bytes;
      ASSERT_TRUE(file.append(buffer, bytes.data(), static_cast<int64_t>(bytes.size())).is_ok());
    }
  ASSERT_TRUE(file.settle(alignment).is_ok());
  ASSERT_TRUE(file.seal("the end").is_ok());
  int64_t at = 0;
  for (size_t buffer = 0; buffer < 3; ++buffer) {
    at = (at + alignment - 1) / alignment * alignment;
    EXPECT_EQ(file.offset(buffer), at);
    EXPECT_TRUE(content(file, buffer) == wanted[buffer]) << buffer;
    at += file.size(buffer);
  }
  EXPECT_EQ(file.length(), at + 7);
  EXPECT_EQ(lseek(file.descriptor(), 0, SEEK_END), file.length());
  EXPECT_LT(pwrite(file.descriptor(), "x", 1, 0), 0) << "a sealed file can be written";
  EXPECT_NE(ftruncate(file.descriptor(), 0), 0) << "a sealed file can be cut";
}

TEST(ExportFile, BuffersWithoutKnownSizesAreMovedTogether) { grow_and_compare({}, 64); }
TEST(ExportFile, BuffersOfKnownSizesStay) { grow_and_compare({7000021, 14000042, 21000063}, 1); }
TEST(ExportFile, BuffersThatOutgrowTheirRoomAreSpread) { grow_and_compare({1000, 14000042, 5000}, 64); }
TEST(ExportFile, RoomThatIsNotUsedGoes) { grow_and_compare({20000000, 20000000, 30000000}, 1); }

TEST(ExportFile, NothingAtAll) {
  auto made = ExportFile::create(2, {});
  ASSERT_TRUE(made.is_ok());
  ASSERT_TRUE(made.value().settle(64).is_ok());
  ASSERT_TRUE(made.value().seal("").is_ok());
  EXPECT_EQ(made.value().length(), 0);
}

}  // namespace
}  // namespace strom::service
