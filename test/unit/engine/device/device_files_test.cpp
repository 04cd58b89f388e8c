// Slots whose columns partly lie in mapped files: what is left to the device to read, and where it goes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "engine/device/device_columns.hpp"

namespace strom::engine::device {
namespace {

using columnar::ColumnView;
using columnar::Layout;
using registry::TypeId;

class Memory final : public DeviceRegion {
 public:
  Memory(char* device, char* host, size_t size) : DeviceRegion(device, host, size) {}
};

struct OpenFile final : DeviceFile {
  explicit OpenFile(int number) : descriptor(number) {}
  ~OpenFile() override { close(descriptor); }
  int descriptor;
};

/// Reads files by pread; fails as it is told.
class Reader final : public Device {
 public:
  std::string name() const override { return "reader"; }
  int states_per_worker() const override { return 1; }
  Result<std::unique_ptr<DeviceRegion>> allocate(size_t, bool, const KeepGoing&) override {
    return Status(ErrorCode::kOverBudget, "no memory");
  }
  Result<std::shared_ptr<const DeviceFile>> open_file(int descriptor, const std::string& name,
                                                      const KeepGoing&) override {
    ++opened;
    names.push_back(name);
    if (!failure.is_ok()) return failure;
    return std::shared_ptr<const DeviceFile>(std::make_shared<OpenFile>(dup(descriptor)));
  }
  Status run(const DeviceWork&, const KeepGoing&) override { return {}; }

  int opened = 0;
  std::vector<std::string> names;
  Status failure;
};

class DeviceFilesTest : public testing::Test {
 protected:
  static constexpr size_t kFile = 24 << 20;
  static constexpr int64_t kRows = 1'000'000;

  DeviceFilesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "strom_device_files_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    std::mt19937_64 random(11);
    bytes_.resize(kFile + 8);
    for (size_t i = 0; i < bytes_.size(); i += 8) {
      const uint64_t word = random();
      std::memcpy(bytes_.data() + i, &word, 8);
    }
    bytes_.resize(kFile + 5);  // ends within a page
    mapping_ = cold_file("file", bytes_.size());
  }
  ~DeviceFilesTest() override { std::filesystem::remove_all(folder_); }

  /// A mapped file with the first of these bytes, which are not in the page cache.
  std::shared_ptr<const base::MappedFile> cold_file(const std::string& name, size_t bytes) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary).write(bytes_.data(), static_cast<std::streamsize>(bytes));
    auto mapping = base::MappedFile::open(path).value();
    evict(*mapping);
    return mapping;
  }
  static void evict(const base::MappedFile& mapping) {
    const int descriptor = mapping.new_descriptor();
    fsync(descriptor);
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    close(descriptor);
  }
  bool is_cold() const { return !mapping_->is_resident(mapping_->data(), kFile); }

  /// Columns of every width that follow each other in the file from `offset` on, the first with NULLs; then one of the
  /// host's own memory.
  columnar::BatchView batch_at(size_t offset) {
    columnar::BatchView batch;
    batch.rows = kRows;
    const auto* at = mapping_->data() + offset;
    const auto add = [&](Layout layout, size_t bytes) {
      ColumnView& view = batch.columns.emplace_back();
      view.layout = layout;
      view.length = kRows;
      view.values = at;
      at += (bytes + 7) / 8 * 8;
    };
    add(Layout::kInt32, kRows * 4);
    batch.columns[0].validity = at;
    batch.columns[0].null_count = 1;
    at += (kRows / 8 + 7) / 8 * 8;
    add(Layout::kFloat64, kRows * 8);
    add(Layout::kBool, kRows / 8);
    add(Layout::kInt16, kRows * 2);
    add(Layout::kInt32, 0);
    batch.columns.back().values = bytes_.data();
    EXPECT_LT(at, mapping_->data() + kFile);
    return batch;
  }

  /// Fills a slot, does what a device does with it, and compares every byte of the columns.
  void check(const columnar::BatchView& batch, int64_t begin, int32_t rows, DeviceFiles* files, size_t origin,
             bool expects_files) {
    const plan::Source source{{{TypeId::kInt4}, {TypeId::kFloat8}, {TypeId::kBool}, {TypeId::kInt2}, {TypeId::kInt4}}};
    const std::vector<uint32_t> columns = {0, 1, 2, 3, 4};
    const ColumnSlice slice{&batch, &source, &columns, begin, rows, nullptr, files};
    int32_t corrupt = 0;
    const size_t size = slot_bytes(slice, &corrupt).value();
    std::string device(size + 8192, 'd'), host(size, 'h');
    char* aligned = reinterpret_cast<char*>((reinterpret_cast<uint64_t>(device.data()) + 4095) / 4096 * 4096) + origin;
    ASSERT_LE(aligned + size, device.data() + device.size());
    const Memory slot(aligned, host.data(), size);
    const auto filled = fill_slot(slice, slot, [] { return true; }, &corrupt);
    ASSERT_TRUE(filled.is_ok()) << filled.status().message();
    EXPECT_EQ(!filled.value().files.empty(), expects_files);
    std::memcpy(aligned, host.data(), filled.value().bytes);
    size_t lowest = size;
    for (const DeviceFileRange& range : filled.value().files) {
      EXPECT_EQ(range.region, &slot);
      EXPECT_GE(range.offset, filled.value().bytes);
      EXPECT_LE(range.offset + range.bytes, lowest);  // from the end on, one before the other
      lowest = range.offset;
      EXPECT_EQ(range.file_offset % 4096, 0u);
      EXPECT_EQ(reinterpret_cast<uint64_t>(aligned + range.offset) % 4096, 0u);
      EXPECT_TRUE(range.bytes % 4096 == 0 || range.file_offset + range.bytes == bytes_.size());
      const int descriptor = static_cast<const OpenFile&>(*range.file).descriptor;
      ASSERT_EQ(pread(descriptor, aligned + range.offset, range.bytes, static_cast<off_t>(range.file_offset)),
                static_cast<ssize_t>(range.bytes));
    }
    const auto* views = reinterpret_cast<const ColumnView*>(
        host.data() + (reinterpret_cast<const char*>(filled.value().columns) - aligned));
    const size_t first = static_cast<size_t>(begin - slice.lead()),
                 all = static_cast<size_t>(rows) + static_cast<size_t>(slice.lead());
    const size_t widths[] = {4, 8, 0, 2, 4};
    for (size_t i = 0; i < columns.size(); ++i) {
      const char* from = own(batch.columns[i].values);
      const size_t width = widths[i], bytes = width == 0 ? (all + 7) / 8 : all * width;
      EXPECT_EQ(std::memcmp(views[i].values, from + (width == 0 ? first / 8 : first * width), bytes), 0) << i;
      EXPECT_EQ(reinterpret_cast<uint64_t>(views[i].values) % 8, 0u);
    }
    EXPECT_EQ(std::memcmp(views[0].validity, own(batch.columns[0].validity) + first / 8, (all + 7) / 8), 0);
    EXPECT_EQ(views[1].validity, nullptr);
  }

  /// The same bytes elsewhere: pages that are read through a mapping stay in memory.
  const char* own(const void* data) const {
    const auto offset = reinterpret_cast<uint64_t>(data) - reinterpret_cast<uint64_t>(mapping_->data());
    return offset < bytes_.size() ? bytes_.data() + offset : static_cast<const char*>(data);
  }

  std::string folder_, bytes_;
  std::shared_ptr<const base::MappedFile> mapping_;
};

TEST_F(DeviceFilesTest, slices_of_every_size) {
  if (!is_cold()) GTEST_SKIP() << "all is in memory here";
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    Reader reader;
    DeviceFiles files(&reader);
    const columnar::BatchView batch = batch_at(round == 0 ? 0 : random() % 100000 * 8);
    const int64_t begin = round % 3 == 0 ? 0 : random() % 900'000;
    const auto rows = static_cast<int32_t>(round % 5 == 0 ? kRows - begin : 1 + random() % (kRows - begin));
    evict(*mapping_);
    check(batch, begin, rows, &files, round % 7 * 64, (rows + (begin & 63)) * 8 >= 64 << 10);
    EXPECT_LE(reader.opened, 1);
    EXPECT_EQ(files.bytes() > 0, reader.opened == 1);
  }
  const columnar::BatchView batch = batch_at(8);
  check(batch, 100, 900'000, nullptr, 0, false);
  Reader reader;
  DeviceFiles files(&reader);
  check(batch, 100, 900'000, &files, 0, false);  // which is in memory now
}

// Texts that come back from the device point to bytes that the host has to have.
TEST_F(DeviceFilesTest, texts_of_fixed_width_are_copied) {
  if (!is_cold()) GTEST_SKIP() << "all is in memory here";
  Reader reader;
  DeviceFiles files(&reader);
  columnar::BatchView batch;
  batch.rows = 100'000;
  ColumnView& column = batch.columns.emplace_back();
  column.layout = columnar::Layout::kFixedBinary;
  column.byte_width = 10;
  column.length = batch.rows;
  column.values = mapping_->data();
  plan::Source source;
  source.columns = {plan::ValueType{registry::TypeId::kBytea, 0}};
  const std::vector<uint32_t> columns = {0};
  const ColumnSlice slice{&batch, &source, &columns, 0, 100'000, nullptr, &files};
  evict(*mapping_);
  int32_t corrupt = 0;
  const size_t size = slot_bytes(slice, &corrupt).value();
  std::string device(size, 'd'), host(size, 'h');
  const Memory slot(device.data(), host.data(), size);
  const auto filled = fill_slot(slice, slot, [] { return true; }, &corrupt);
  ASSERT_TRUE(filled.is_ok()) << filled.status().message();
  EXPECT_TRUE(filled.value().files.empty());
  EXPECT_NE(host.find(bytes_.substr(0, 1'000'000)), std::string::npos);
}

TEST_F(DeviceFilesTest, the_end_of_the_file) {
  if (!is_cold()) GTEST_SKIP() << "all is in memory here";
  Reader reader;
  DeviceFiles files(&reader);
  const auto part = files.find(mapping_->data() + kFile - 99'992, 99'997, 8, [] { return true; });
  ASSERT_TRUE(part.is_ok() && part.value());
  EXPECT_EQ(part.value()->end, bytes_.size());
  EXPECT_EQ(part.value()->begin + part.value()->lead, kFile - 99'992);
}

TEST_F(DeviceFilesTest, what_is_not_for_the_device) {
  const auto keep_going = [] { return true; };
  Reader reader;
  DeviceFiles files(&reader);
  const auto is_found = [&](const void* data, size_t bytes) {
    const auto part = files.find(data, bytes, 8, keep_going);
    EXPECT_TRUE(part.is_ok());
    return part.value().has_value();
  };
  EXPECT_FALSE(is_found(bytes_.data(), 1 << 20));         // no file's
  EXPECT_FALSE(is_found(mapping_->data() + 4, 1 << 20));  // misaligned
  EXPECT_FALSE(is_found(mapping_->data(), 1000));         // too little
  EXPECT_FALSE(is_found(nullptr, 0));
  EXPECT_EQ(reader.opened, 0);
}

TEST_F(DeviceFilesTest, failures) {
  if (!is_cold()) GTEST_SKIP() << "all is in memory here";
  Reader reader;
  DeviceFiles files(&reader);
  const auto find = [&](const base::MappedFile& mapping) {
    return files.find(mapping.data(), 200'000, 8, [] { return true; });
  };
  for (const ErrorCode code : {ErrorCode::kCancelled, ErrorCode::kDeviceLost}) {
    reader.failure = Status(code, "why");
    EXPECT_EQ(find(*mapping_).status().code(), code);
  }
  reader.failure = Status(ErrorCode::kUnsupported, "not this one");
  EXPECT_FALSE(find(*mapping_).value());
  reader.failure = Status();
  EXPECT_FALSE(find(*mapping_).value());  // it is not asked again
  EXPECT_EQ(reader.opened, 3);
  for (int i = 0; i < 70; ++i) {
    const auto file = cold_file("many", 200'000);
    EXPECT_TRUE(find(*file).value().has_value());
    std::filesystem::remove(folder_ + "/many");
  }
  EXPECT_EQ(reader.opened, 73);
  evict(*mapping_);
  EXPECT_TRUE(find(*mapping_).value().has_value());  // forgotten meanwhile
}

}  // namespace
}  // namespace strom::engine::device
