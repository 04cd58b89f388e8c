// The kernel that checks and decodes heap pages on devices, against the decoder of the host: random tables, and pages
// that are damaged anywhere. On the CPU and on the device module of tests.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

#include "../../../device/test_module.hpp"
#include "../../../format/heap/heap_sample.hpp"
#include "device/device.hpp"
#include "engine/block/pages.hpp"
#include "engine/op/device_image.hpp"
#include "engine/inst/pages_cpu.hpp"

namespace strom::engine::test {
namespace {

using namespace format::heap;        // NOLINT
using namespace format::heap::test;  // NOLINT
using block::PageAttribute;
using block::PageColumn;
using block::PageStep;
using block::PageTask;
using op::DeviceImage;

constexpr uint32_t kPageSize = 8192, kFirstBlock = 1234567;

/// Runs a task that lies in an image.
class Runner {
 public:
  virtual ~Runner() = default;
  /// What the image's memory is like then; *base is where it was on the device.
  virtual std::vector<char> run(const DeviceImage& image, size_t task, uint32_t pages, const char** base) = 0;
};

class OnCpu final : public Runner {
 public:
  std::vector<char> run(const DeviceImage& image, size_t task, uint32_t pages, const char** base) override {
    const std::unique_ptr<char, decltype(&std::free)> memory(
        static_cast<char*>(std::aligned_alloc(64, (image.size() + 63) / 64 * 64)), &std::free);
    image.write(memory.get(), memory.get());
    inst::run_pages_cpu(*reinterpret_cast<const PageTask*>(memory.get() + task), pages);
    *base = memory.get();
    return {memory.get(), memory.get() + image.size()};
  }
};

class OnDevice final : public Runner {
 public:
  explicit OnDevice(const std::string& path)
      : device_(device::Device::open(device::Module::open(path).value(), 0).value()),
        stream_(device_->create_stream().value()) {}
  std::vector<char> run(const DeviceImage& image, size_t task, uint32_t pages, const char** base) override {
    const device::DeviceMemory memory = device_->allocate(image.size()).value();
    auto* device = static_cast<char*>(memory.get());
    std::vector<char> host(image.size());
    image.write(host.data(), device);
    EXPECT_TRUE(stream_.copy_in(device, host.data(), host.size()).is_ok());
    EXPECT_TRUE(stream_.run_pages(reinterpret_cast<const PageTask*>(device + task), pages).is_ok());
    EXPECT_TRUE(stream_.copy_out(host.data(), device, host.size()).is_ok());
    EXPECT_TRUE(stream_.finish().is_ok());
    *base = device;
    return host;
  }

 private:
  std::unique_ptr<device::Device> device_;
  device::Stream stream_;
};

uint32_t add_to_sum(uint32_t sum, uint32_t word) { return (sum ^ word) * 16777619 ^ ((sum ^ word) >> 17); }

/// Of a page whose own one is 0, as PostgreSQL sums it up: line after line of 32 words.
uint16_t checksum_of(const uint8_t* page, uint32_t block) {
  std::array<uint32_t, 32> sums = {0x5B1F36E9, 0xB8525960, 0x02AB50AA, 0x1DE66D2A, 0x79FF467A, 0x9BB9F8A3, 0x217E7CD2,
                                   0x83E13D2C, 0xF8D4474F, 0xE39EB970, 0x42C6AE16, 0x993216FA, 0x7B093B5D, 0x98DAFF3C,
                                   0xF718902A, 0x0B1C9CDB, 0xE58F764B, 0x187636BC, 0x5D7B3BB1, 0xE73DE7DE, 0x92BEC979,
                                   0xCCA6C0B2, 0x304A0979, 0x85AA43D4, 0x783125BB, 0x6CA8EAA2, 0xE407EAC6, 0x4B5CFC3E,
                                   0x9FBF8C76, 0x15CA20BE, 0xF2CA9FD3, 0x959BD756};
  std::array<uint32_t, kPageSize / 4> words;
  std::memcpy(words.data(), page, kPageSize);
  for (size_t i = 0; i < words.size(); ++i) sums[i % 32] = add_to_sum(sums[i % 32], words[i]);
  uint32_t all = block;
  for (const uint32_t sum : sums) all ^= add_to_sum(add_to_sum(sum, 0), 0);
  return static_cast<uint16_t>(all % 65535 + 1);
}

class Table {
 public:
  explicit Table(uint32_t seed, size_t most_rows = 200) : random_(seed) {
    const size_t count = 1 + random_() % 12;
    for (size_t i = 0; i < count; ++i) kinds_.push_back(kKinds[random_() % std::size(kKinds)]);
    for (size_t i = 0; i < count; ++i) {
      layout_.push_back(kinds_[i].layout);
      if (random_() % 2 == 0 || (i + 1 == count && wanted_.empty())) wanted_.push_back(want(i));
    }
    std::shuffle(wanted_.begin(), wanted_.end(), random_);
    const double nulls = random_() % 3 == 0 ? 0.0 : 0.3;
    pages_.emplace_back(kPageSize);
    for (size_t row = 0; row < random_() % most_rows; ++row) {
      std::vector<Attribute> values;
      const size_t stored = random_() % 8 == 0 ? random_() % (count + 1) : count;  // before columns were added
      values.reserve(stored);
      for (size_t i = 0; i < stored; ++i) values.push_back(random_value(random_, kinds_[i], nulls));
      const std::string tuple = form_tuple(layout_, values);
      if (!pages_.back().add(tuple)) pages_.emplace_back(kPageSize).add(tuple);
    }
    for (Page& page : pages_) page.put_header();
  }

  std::mt19937& random() { return random_; }
  std::vector<Page>& pages() { return pages_; }

  /// Checks and decodes by the runner and by the host; what both say has to be the same.
  void compare(Runner* runner, bool has_checksums = false) {
    has_checksums_ = has_checksums;
    const std::vector<uint32_t> rows = check(runner);
    const TupleDecoder decoder(kPageSize, layout_, wanted_);
    uint32_t all = 0;
    std::vector<uint32_t> first_rows;
    for (size_t i = 0; i < pages_.size(); ++i) {
      const uint32_t found = host_rows(decoder, &pages_[i]);
      ASSERT_EQ(rows[i], found) << "page " << i;
      first_rows.push_back(found == block::kBadPage || random_() % 9 == 0 ? block::kSkippedPage : all);
      if (first_rows.back() != block::kSkippedPage) all += found;
    }
    decode(runner, decoder, first_rows, all);
  }

  std::vector<uint32_t> check(Runner* runner) {
    DeviceImage image;
    const Places at = put(PageStep::kCheck, {}, 0, &image);
    const char* base;
    const std::vector<char> after = runner->run(image, at.task, static_cast<uint32_t>(pages_.size()), &base);
    std::vector<uint32_t> rows(pages_.size());
    std::memcpy(rows.data(), after.data() + at.rows, rows.size() * sizeof rows[0]);
    return rows;
  }

 private:
  struct Places {
    size_t task, rows, numbers, pages;
    std::vector<std::pair<size_t, size_t>> columns;  // values, flags
    std::vector<size_t> missing;                     // texts
  };

  WantedColumn want(size_t attribute) {
    WantedColumn column{static_cast<int>(attribute), kinds_[attribute].storage};
    static constexpr __int128 kNumber = static_cast<__int128>(0x0102030405060708) << 64 | 0x1112131415161718;
    static constexpr registry::StrView kText{"a missing text", 14};
    const bool is_text = column.storage == Storage::kText || column.storage == Storage::kNumeric;
    if (random_() % 3 == 0 || column.storage == Storage::kView) return column;
    column.missing_flag = random_() % 4 == 0 ? kValueOfHost : 0;
    column.missing = is_text ? static_cast<const void*>(&kText) : &kNumber;
    return column;
  }

  uint32_t host_rows(const TupleDecoder& decoder, Page* page) const {
    PageRef ref = page->ref(false);
    Columns columns(wanted_, page->items());
    std::vector<uint16_t> numbers(page->items() + 1);
    const auto some = decoder.decode(ref, nullptr, 0, ref.count, numbers.data(), columns.out.data());
    return some.bad_item != 0 ? block::kBadPage : static_cast<uint32_t>(some.rows);
  }

  struct Columns {
    Columns(const std::vector<WantedColumn>& wanted, size_t rows) {
      for (size_t i = 0; i < wanted.size(); ++i) {
        values.emplace_back(rows * 2 + 2);
        flags.emplace_back(rows + 1, uint8_t{0xEE});
        out.push_back({values.back().data(), flags.back().data(), false});
      }
    }
    std::vector<std::vector<uint64_t>> values;
    std::vector<std::vector<uint8_t>> flags;
    std::vector<ColumnOut> out;
  };

  Places put(PageStep step, const std::vector<uint32_t>& first_rows, size_t rows, DeviceImage* image) {
    Places at;
    PageTask task{};
    task.step = step;
    task.page_size = kPageSize;
    task.first_block = kFirstBlock;
    task.has_checksums = has_checksums_ ? 1 : 0;
    std::vector<PageAttribute> attributes;
    attributes.reserve(layout_.size());
    for (const AttributeLayout& layout : layout_) attributes.push_back({layout, -1});
    std::vector<PageColumn> columns;
    size_t last = 0;
    for (const WantedColumn& wanted : wanted_) {
      const auto attribute = static_cast<size_t>(wanted.attribute);
      attributes[attribute].column = static_cast<int32_t>(columns.size());
      last = std::max(last, attribute + 1);
      PageColumn& column = columns.emplace_back();
      column = {wanted.storage, wanted.missing_flag, nullptr, nullptr, {}};
      if (wanted.missing_flag == 0)
        std::memcpy(column.missing, wanted.missing, static_cast<size_t>(storage_width(wanted.storage)));
    }
    task.attribute_count = static_cast<uint32_t>(last);
    at.task = image->put(&task, sizeof task);
    image->point(at.task + offsetof(PageTask, attributes), image->put(std::span<const PageAttribute>(attributes)));
    const size_t views = image->put(std::span<const PageColumn>(columns));
    image->point(at.task + offsetof(PageTask, columns), views);
    for (size_t i = 0; i < columns.size(); ++i) {
      const size_t values = image->reserve((rows + 1) * 16), flags = image->reserve(rows + 1);
      at.columns.emplace_back(values, flags);
      image->point(views + i * sizeof(PageColumn) + offsetof(PageColumn, values), values);
      image->point(views + i * sizeof(PageColumn) + offsetof(PageColumn, flags), flags);
      const bool is_text = columns[i].storage == Storage::kText || columns[i].storage == Storage::kNumeric;
      at.missing.push_back(is_text ? image->put("a missing text", 14) : DeviceImage::kNowhere);
      if (is_text && columns[i].missing_flag == 0)
        image->point(views + i * sizeof(PageColumn) + offsetof(PageColumn, missing), at.missing.back());
    }
    at.pages = image->reserve(pages_.size() * kPageSize);
    for (size_t i = 0; i < pages_.size(); ++i)
      std::memcpy(image->at(at.pages + i * kPageSize), pages_[i].at(0), kPageSize);
    image->point(at.task + offsetof(PageTask, pages), at.pages);
    at.rows = image->reserve(pages_.size() * sizeof(uint32_t));
    image->point(at.task + offsetof(PageTask, rows), at.rows);
    image->point(at.task + offsetof(PageTask, first_rows), image->put(std::span<const uint32_t>(first_rows)));
    at.numbers = image->reserve((rows + 1) * sizeof(uint16_t));
    image->point(at.task + offsetof(PageTask, numbers), at.numbers);
    return at;
  }

  void decode(Runner* runner, const TupleDecoder& decoder, const std::vector<uint32_t>& first_rows, uint32_t all) {
    DeviceImage image;
    const Places at = put(PageStep::kDecode, first_rows, all, &image);
    const char* base;
    const std::vector<char> after = runner->run(image, at.task, static_cast<uint32_t>(pages_.size()), &base);
    for (size_t p = 0; p < pages_.size(); ++p) {
      if (first_rows[p] == block::kSkippedPage) continue;
      const PageRef ref = pages_[p].ref(false);
      Columns columns(wanted_, pages_[p].items());
      std::vector<uint16_t> numbers(pages_[p].items() + 1);
      const auto rows =
          static_cast<size_t>(decoder.decode(ref, nullptr, 0, ref.count, numbers.data(), columns.out.data()).rows);
      EXPECT_EQ(std::memcmp(numbers.data(), after.data() + at.numbers + first_rows[p] * sizeof(uint16_t),
                            rows * sizeof(uint16_t)),
                0);
      for (size_t c = 0; c < wanted_.size(); ++c)
        for (size_t i = 0; i < rows; ++i) {
          SCOPED_TRACE("page " + std::to_string(p) + " column " + std::to_string(c) + " row " + std::to_string(i));
          compare_value(after, base, at, c, columns.out[c], i, first_rows[p] + i, pages_[p].at(0), p);
        }
    }
  }

  void compare_value(const std::vector<char>& after, const char* base, const Places& at, size_t c, const ColumnOut& out,
                     size_t row, size_t place, const uint8_t* page, size_t p) {
    uint8_t wanted_flag = out.has_flags ? out.flags[row] : 0;
    if (wanted_flag == kPackedValue) wanted_flag = kValueOfHost;  // nothing on the device inflates
    const auto flag = static_cast<uint8_t>(after[at.columns[c].second + place]);
    ASSERT_EQ(flag, wanted_flag);
    const Storage storage = wanted_[c].storage;
    const auto width = static_cast<size_t>(storage_width(storage));
    const char* value = after.data() + at.columns[c].first + place * width;
    const auto* host = static_cast<const char*>(out.values) + row * width;
    const bool is_view = storage == Storage::kText || storage == Storage::kNumeric || storage == Storage::kView;
    if (!is_view || flag != 0) {
      const std::string zeros(16, '\0');
      EXPECT_EQ(std::memcmp(value, flag != 0 ? zeros.data() : host, width), 0);
      return;
    }
    registry::StrView found, expected;
    std::memcpy(&found, value, sizeof found);
    std::memcpy(&expected, host, sizeof expected);
    ASSERT_EQ(found.len, expected.len);
    const auto offset = static_cast<size_t>(found.ptr - base);
    const auto* in_page = reinterpret_cast<const char*>(page);
    if (expected.ptr >= in_page && expected.ptr < in_page + kPageSize)
      EXPECT_EQ(offset, at.pages + p * kPageSize + static_cast<size_t>(expected.ptr - in_page));
    else
      EXPECT_EQ(offset, at.missing[c]);
  }

  std::mt19937 random_;
  std::vector<Kind> kinds_;
  std::vector<AttributeLayout> layout_;
  std::vector<WantedColumn> wanted_;
  std::vector<Page> pages_;
  bool has_checksums_ = false;
};

class Pages : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()).empty())
      runner_ = std::make_unique<OnCpu>();
    else
      runner_ = std::make_unique<OnDevice>(GetParam());
  }
  bool is_slow() const { return !std::string(GetParam()).empty(); }
  std::unique_ptr<Runner> runner_;
};

TEST_P(Pages, random_tables) {
  for (uint32_t seed = 0; seed < (is_slow() ? 25u : 1500u); ++seed) {
    SCOPED_TRACE(seed);
    Table(seed, is_slow() ? 60 : 300).compare(runner_.get());
    if (HasFailure()) return;
  }
}

TEST_P(Pages, damaged_tuples) {
  for (uint32_t seed = 0; seed < (is_slow() ? 40u : 3000u); ++seed) {
    SCOPED_TRACE(seed);
    Table table(seed, is_slow() ? 60 : 300);
    for (Page& page : table.pages())
      for (size_t n = table.random()() % 12; n > 0 && page.items() > 0; --n) {
        const size_t place = table.random()() % 3 == 0 ? 24 + table.random()() % (page.items() * 4)
                                                       : page.free() + table.random()() % (kPageSize - page.free());
        *page.at(place) = static_cast<uint8_t>(table.random()());
      }
    table.compare(runner_.get());
    if (HasFailure()) return;
  }
}

TEST_P(Pages, headers) {
  const auto word = [](uint32_t value) { return std::string{static_cast<char>(value), static_cast<char>(value >> 8)}; };
  const std::pair<size_t, std::string> damages[] = {{10, word(0)},          // not all-visible
                                                    {10, word(4 | 8)},      // unknown flags
                                                    {12, word(23)},         // the items end before they begin
                                                    {12, word(8193)},       // behind the free space
                                                    {14, word(8200)},       // which ends behind the page
                                                    {16, word(8200)},       // as does what the access method has
                                                    {16, word(8191)},       // or is not aligned
                                                    {18, word(8192 | 5)},   // another version
                                                    {18, word(16384 | 4)},  // another size
                                                    {0, std::string(8192, '\0')},
                                                    {0, std::string(8192, '\xff')}};
  for (const auto& [place, bytes] : damages) {
    Table table(3, 40);
    Page page(kPageSize);
    page.put_header();
    table.pages().assign(3, page);
    EXPECT_EQ(table.check(runner_.get()), std::vector<uint32_t>(3, 0));  // pages without tuples
    std::memcpy(table.pages()[1].at(place), bytes.data(), bytes.size());
    EXPECT_EQ(table.check(runner_.get()), (std::vector<uint32_t>{0, block::kBadPage, 0})) << place;
  }
  // Anything at all: whatever is said, nothing outside of the page is read.
  std::mt19937 random(1);
  Table table(4, 100);
  for (int round = 0; round < (is_slow() ? 3 : 500); ++round) {
    for (Page& page : table.pages()) {
      for (size_t i = 0; i < kPageSize; ++i) *page.at(i) = static_cast<uint8_t>(random());
      page.put_header();
    }
    (void)table.check(runner_.get());
  }
}

TEST_P(Pages, checksums) {
  Table table(7, 200);
  while (table.pages().size() < 3) table.pages().push_back(table.pages().front());
  for (size_t i = 0; i < table.pages().size(); ++i) {
    Page& page = table.pages()[i];
    std::memset(page.at(8), 0, 2);
    const uint16_t checksum = checksum_of(page.at(0), kFirstBlock + static_cast<uint32_t>(i));
    std::memcpy(page.at(8), &checksum, 2);
  }
  table.compare(runner_.get(), true);
  for (const size_t place : {0, 9, 11, 24, 4000, 8191}) {
    *table.pages()[1].at(place) = static_cast<uint8_t>(*table.pages()[1].at(place) ^ 1);
    EXPECT_EQ(table.check(runner_.get())[1], block::kBadPage) << place;
    EXPECT_NE(table.check(runner_.get())[0], block::kBadPage);
    *table.pages()[1].at(place) = static_cast<uint8_t>(*table.pages()[1].at(place) ^ 1);
  }
}

#ifdef STROM_EMULATED_MODULE_PATH
const std::string emulated = device::test::module_path();
INSTANTIATE_TEST_SUITE_P(, Pages, testing::Values("", emulated.c_str()),
                         [](const auto& info) { return *info.param == '\0' ? "cpu" : "module"; });
#else
INSTANTIATE_TEST_SUITE_P(, Pages, testing::Values(""), [](const auto&) { return "cpu"; });
#endif

}  // namespace
}  // namespace strom::engine::test
