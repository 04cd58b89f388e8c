// Columns that stay on a device between executions: the same answers from them, in every form that columns have, as
// long as they are what their names say.
#include "engine/device/cached_columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "columnar/changing_origin.hpp"
#include "engine/device/renewal.hpp"
#include "engine/inst/tile_cpu.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using columnar::ColumnView;
using columnar::Layout;
using plan::NodeId;
using plan::ValueType;
using registry::AggregateId;
using registry::StrView;
using registry::TypeId;

const ValueType kInt4{TypeId::kInt4, 0}, kBool{TypeId::kBool, 0}, kText{TypeId::kText, 0};
constexpr size_t kMuch = size_t{1} << 31;

/// One chunk of a row number and of texts in each way that columns can have them.
class Mixed : public op::ChunkSource {
 public:
  static constexpr int kWays = 5;

  Mixed(int rows, int words, uint64_t seed) : rows_(rows) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < words; ++i) {
      words_.push_back("word " + std::to_string(i) + std::string(random() % 20, 'x'));
      if (i % 9 == 8) words_.back().clear();
    }
    for (const std::string& word : words_) dictionary_.push_back({word.data(), static_cast<int64_t>(word.size())});
    offsets_.push_back(0);
    validity_.assign(static_cast<size_t>(rows) / 8 + 1, 0);
    for (int i = 0; i < rows; ++i) {
      numbers_.push_back(i);
      picks_.push_back(static_cast<int32_t>(random() % static_cast<uint64_t>(words)));
      const std::string& word = words_[static_cast<size_t>(picks_.back())];
      texts_ += word;
      offsets_.push_back(static_cast<int32_t>(texts_.size()));
      const bool is_null = random() % 7 == 0;
      if (!is_null) validity_[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>(1 << i % 8);
      flags_.push_back(is_null ? block::kNullFlag : 0);
      registers_.push_back(dictionary_[static_cast<size_t>(picks_.back())]);
      bool_bits_.resize(static_cast<size_t>(i) / 8 + 1);
      if (word.size() % 2 == 1) bool_bits_.back() |= static_cast<uint8_t>(1 << i % 8);
      std::string fixed = word.substr(0, 8);
      fixed.resize(8, ' ');
      fixed_ += fixed;
    }
    numbers_.resize(numbers_.size() + block::kTilePadding);
    flags_.resize(flags_.size() + block::kTilePadding);
  }

  static std::vector<ValueType> types() { return {kInt4, kText, kText, kText, {TypeId::kBpchar, 0}, kBool}; }

  int64_t chunk_count() const override { return 1; }
  int64_t total_rows() const override { return rows_; }
  Result<columnar::BatchView> chunk(int64_t) const override {
    columnar::BatchView view;
    view.rows = rows_;
    view.columns.resize(kWays + 1);
    for (ColumnView& column : view.columns) {
      column.length = rows_;
      column.validity = validity_.data();
      column.null_count = 1;
    }
    ColumnView& number = view.columns[0];
    number.is_register = true;
    number.validity = nullptr;
    number.values = numbers_.data();
    ColumnView& offsets = view.columns[1];
    offsets.layout = Layout::kUtf8;
    offsets.values = offsets_.data();
    offsets.data = texts_.data();
    offsets.data_size = static_cast<int64_t>(texts_.size());
    ColumnView& dictionary = view.columns[2];
    dictionary.layout = Layout::kDictionary;
    dictionary.byte_width = 4;
    dictionary.values = picks_.data();
    dictionary.dictionary = dictionary_.data();
    dictionary.dictionary_size = static_cast<int64_t>(dictionary_.size());
    ColumnView& registers = view.columns[3];
    registers.is_register = true;
    registers.validity = nullptr;
    registers.values = registers_.data();
    registers.flags = flags_.data();
    ColumnView& fixed = view.columns[4];
    fixed.layout = Layout::kFixedBinary;
    fixed.byte_width = 8;
    fixed.values = fixed_.data();
    ColumnView& bits = view.columns[5];
    bits.layout = Layout::kBool;
    bits.values = bool_bits_.data();
    class Origin final : public columnar::BatchOrigin {
     public:
      explicit Origin(const Mixed* table) : table_(table) {}
      std::string name(size_t column) const override {
        return column < 32 && (table_->unnamed >> column & 1) != 0 ? "" : "mixed " + std::to_string(column);
      }
      int32_t number(size_t column) const override { return static_cast<int32_t>(column); }
      std::string label() const override { return columnar::table_label(1, 2, 3); }

     private:
      const Mixed* const table_;
    };
    view.origin = std::make_shared<const Origin>(this);
    return view;
  }

  uint32_t unnamed = 0;  // columns without a name, as bits
  std::vector<int32_t> numbers_;

 private:
  const int rows_;
  std::vector<std::string> words_;
  std::vector<StrView> dictionary_, registers_;
  std::vector<int32_t> picks_, offsets_;
  std::vector<uint8_t> validity_, flags_, bool_bits_;
  std::string texts_, fixed_;
};

plan::Program projection(int32_t below) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{Mixed::types()}};
  p.pipelines.resize(1);
  p.pipelines[0].quals = {b.call("int4lt", {b.column(0, kInt4), b.constant(kInt4, false, int_bytes(below))}).value()};
  for (uint32_t i = 0; i < p.sources[0].columns.size(); ++i)
    p.pipelines[0].outputs.push_back(b.column(i, p.sources[0].columns[i]));
  return p;
}

plan::Program grouping(uint32_t column) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{Mixed::types()}};
  p.pipelines.resize(1);
  p.pipelines[0].sink = plan::SinkKind::kAggregate;
  p.pipelines[0].group_keys = {b.column(column, kText)};
  p.pipelines[0].aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode},
                               {AggregateId::kSumInt4, b.column(0, kInt4), plan::kNoNode}};
  return p;
}

Target target_of(device::Device* device) {
  return {"memory of its own", inst::run_morsel_for(platform::best_isa()), false, device};
}

Outcome run_on(const plan::Program& program, const op::ChunkSource& source, device::Device* device, int threads = 2) {
  exec::Options options;
  options.threads = threads;
  return run(program, {&source}, target_of(device), options);
}

TEST(CachedColumns, are_the_same_in_every_form) {
  const Mixed table(23'000, 300, 1);
  const auto device = host_device(inst::run_morsel_for(platform::best_isa()), 3, kMuch);
  for (const plan::Program& program :
       {projection(1 << 30), projection(7'777), grouping(1), grouping(2), grouping(3), projection(1 << 30)}) {
    const Outcome wanted = run_on(program, table, nullptr);
    for (int i = 0; i < 2; ++i) {
      const Outcome got = run_on(program, table, device.get());
      EXPECT_EQ(got.rows, wanted.rows);
      EXPECT_EQ(got.stats.device_rows, 23'000);
    }
  }
  const op::DeviceBytes bytes = run_on(projection(1 << 30), table, device.get()).stats.device_bytes;
  EXPECT_GT(bytes.cached, 23'000 * 40);
  EXPECT_LT(bytes.copied, 5 * 3000);  // views of columns
}

TEST(CachedColumns, a_dictionary_larger_than_a_morsel) {
  const Mixed table(23'000, 9'000, 2);
  const auto device = host_device(inst::run_morsel_for(platform::best_isa()), 3, kMuch);
  for (const plan::Program& program : {projection(1 << 30), grouping(2), grouping(3)}) {
    const Outcome wanted = run_on(program, table, nullptr);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(run_on(program, table, device.get()).rows, wanted.rows);
  }
}

TEST(CachedColumns, with_others_and_with_little_memory) {
  Mixed table(23'000, 300, 3);
  const plan::Program program = projection(1 << 30);
  const Outcome wanted = run_on(program, table, nullptr);
  int64_t fewest = INT64_MAX, most = 0;
  for (const uint32_t unnamed : {0u, 1u, 2u, 6u, 62u}) {
    table.unnamed = unnamed;
    for (size_t memory = 300'000; memory < 8'000'000; memory = memory * 5 / 4) {
      const auto device = host_device(inst::run_morsel_for(platform::best_isa()), 1, memory);
      for (int i = 0; i < 2; ++i) {
        const Outcome got = run_on(program, table, device.get(), 1);
        ASSERT_EQ(got.rows, wanted.rows) << memory << " " << unnamed;
        fewest = std::min(fewest, got.stats.device_rows);
        most = std::max(most, got.stats.device_rows);
      }
    }
  }
  EXPECT_EQ(fewest, 0);
  EXPECT_EQ(most, 23'000);
}

// The host's numbers change under the same name, which no real source lets happen: it shows what is read.
TEST(CachedColumns, are_read_instead_of_the_host) {
  Mixed table(5'000, 10, 4);
  const auto device = host_device(inst::run_morsel_for(platform::best_isa()), 3, kMuch);
  const plan::Program program = grouping(1);
  const Outcome before = run_on(program, table, device.get());
  for (int32_t& number : table.numbers_) number += 1;
  EXPECT_EQ(run_on(program, table, device.get()).rows, before.rows);
  table.unnamed = 1;
  const Outcome after = run_on(program, table, device.get());
  EXPECT_NE(after.rows, before.rows);
  EXPECT_EQ(after.rows, run_on(program, table, nullptr).rows);
}

TEST(CachedColumns, nothing_is_kept_of_what_has_changed) {
  Table table({field(Layout::kInt32)});
  for (int i = 0; i < 20'000; ++i) {
    if (i % 6'000 == 5'999) table.new_chunk();
    table.column(0).append(i % 100);
  }
  table.name_columns("a");
  table.set_holds(false);
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4}}};
  p.pipelines.resize(1);
  p.pipelines[0].sink = plan::SinkKind::kAggregate;
  p.pipelines[0].aggregates = {{AggregateId::kSumInt4, b.column(0, kInt4), plan::kNoNode}};
  const auto device = host_device(inst::run_morsel_for(platform::best_isa()), 3, kMuch);
  const Outcome wanted = run_on(p, table, nullptr);
  for (int i = 0; i < 2; ++i) {
    const Outcome got = run_on(p, table, device.get());
    EXPECT_EQ(got.rows, wanted.rows);
    EXPECT_EQ(got.stats.device_bytes.cached, 0);
  }
  table.set_holds(true);
  table.name_columns("b");
  for (int i = 0; i < 2; ++i) {
    const Outcome got = run_on(p, table, device.get());
    EXPECT_EQ(got.rows, wanted.rows);
    EXPECT_EQ(got.stats.device_bytes.cached > 0, i == 1);
  }
}

/// Two columns of one chunk whose rows change from one generation to the next.
class Changing : public op::ChunkSource {
 public:
  explicit Changing(int rows) : rows_(rows), written_(static_cast<size_t>(rows) / 64 + 1, 1) {
    for (int i = 0; i < rows; ++i) {
      numbers_.push_back(i % 1000);
      longs_.push_back(i * 3);
      flags_.push_back(i % 11 == 0 ? block::kNullFlag : 0);
    }
    numbers_.resize(numbers_.size() + block::kTilePadding);
    longs_.resize(longs_.size() + block::kTilePadding);
    flags_.resize(flags_.size() + block::kTilePadding);
  }

  static std::vector<ValueType> types() { return {kInt4, {TypeId::kInt8, 0}}; }
  int64_t chunk_count() const override { return 1; }
  int64_t total_rows() const override { return rows_; }
  Result<columnar::BatchView> chunk(int64_t) const override {
    columnar::BatchView view;
    view.rows = rows_;
    view.columns.resize(2);
    for (ColumnView& column : view.columns) {
      column.length = rows_;
      column.is_register = true;
    }
    view.columns[0].values = numbers_.data();
    view.columns[1].values = longs_.data();
    view.columns[1].flags = flags_.data();
    class Origin final : public columnar::ChangingOrigin {
     public:
      explicit Origin(const Changing* table) : table_(table), generation_(table->generation_) {}
      std::string name(size_t column) const override { return "changing " + std::to_string(column); }
      int32_t number(size_t column) const override { return static_cast<int32_t>(column); }
      std::string label() const override { return columnar::table_label(1, 2, 3); }
      uint64_t generation() const override { return generation_; }
      std::vector<uint32_t> changed_blocks(uint64_t since, int64_t begin, int64_t rows) const override {
        std::vector<uint32_t> blocks;
        for (int64_t row = begin; row < begin + rows; row += kBlockRows)
          if (table_->written_[static_cast<size_t>(row / kBlockRows)] >= since)
            blocks.push_back(static_cast<uint32_t>((row - begin) / kBlockRows));
        return blocks;
      }

     private:
      const Changing* const table_;
      const uint64_t generation_;
    };
    view.origin = std::make_shared<const Origin>(this);
    return view;
  }

  void change(int row) {
    const auto at = static_cast<size_t>(row);
    numbers_[at] += 17;
    longs_[at] -= 5;
    flags_[at] ^= block::kNullFlag;
    written_[at / 64] = generation_;
  }
  /// A change that a source would not let happen.
  void change_unseen(int row) { numbers_[static_cast<size_t>(row)] += 1; }
  void begin_generation() { ++generation_; }
  void set_generation(uint64_t generation) { generation_ = generation; }
  uint64_t generation() const { return generation_; }

 private:
  const int rows_;
  uint64_t generation_ = 2;
  std::vector<uint64_t> written_;
  std::vector<int32_t> numbers_;
  std::vector<int64_t> longs_;
  std::vector<uint8_t> flags_;
};

plan::Program sums_of_both() {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{Changing::types()}};
  p.pipelines.resize(1);
  p.pipelines[0].sink = plan::SinkKind::kAggregate;
  p.pipelines[0].aggregates = {{AggregateId::kSumInt4, b.column(0, kInt4), plan::kNoNode},
                               {AggregateId::kSumInt8, b.column(1, {TypeId::kInt8, 0}), plan::kNoNode}};
  return p;
}

TEST(CachedColumns, of_an_older_generation_get_the_blocks_that_were_written_to) {
  constexpr int kRows = 23'001;  // the last block is not full, and its values end between two words
  Changing table(kRows);
  const auto device = host_device(inst::run_morsel_for(platform::best_isa()), 3, kMuch);
  const plan::Program program = sums_of_both();
  const auto copied = [&] {
    const Outcome wanted = run_on(program, table, nullptr), got = run_on(program, table, device.get());
    EXPECT_EQ(got.rows, wanted.rows);
    EXPECT_EQ(got.stats.device_rows, kRows);
    return got.stats.device_bytes;
  };
  EXPECT_GT(copied().copied, kRows * 13);
  const op::DeviceBytes nothing = copied();
  EXPECT_GT(nothing.cached, kRows * 13);
  EXPECT_LT(nothing.copied, 10'000);  // views of columns

  for (const std::vector<int>& rows :
       {std::vector<int>{0}, {kRows - 1}, {63, 64, 127, 128}, {}, {5'000, 5'001, 12'345, 22'980, kRows - 1}}) {
    for (const int row : rows) table.change(row);
    table.begin_generation();
    const op::DeviceBytes bytes = copied();
    EXPECT_LE(bytes.copied, nothing.copied + static_cast<int64_t>(rows.size()) * (64 * 13 + 72));
    EXPECT_GT(bytes.cached, kRows * 12);
    EXPECT_EQ(copied().copied, nothing.copied);
  }
  // Blocks that have the number of the copy, since they were written to after it had been made.
  table.change(700);
  const uint64_t generation = table.generation();
  table.begin_generation();
  EXPECT_GT(copied().copied, nothing.copied);
  // Only these are read from the host; and the copy is good for who wants an older one.
  table.change_unseen(9'000);
  const auto seen = run_on(program, table, device.get()).rows;
  EXPECT_NE(seen, run_on(program, table, nullptr).rows);
  table.set_generation(generation - 1);
  EXPECT_EQ(run_on(program, table, device.get()).rows, seen);
}

TEST(CachedColumns, of_an_older_generation_where_all_was_written_to) {
  constexpr int kRows = 70'000;
  Changing table(kRows);
  const auto device = host_device(inst::run_morsel_for(platform::best_isa()), 3, kMuch);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(run_on(sums_of_both(), table, device.get()).rows, run_on(sums_of_both(), table, nullptr).rows);
    for (int row = 0; row < kRows; row += 1 + i * 13) table.change(row);
    table.begin_generation();
  }
}

TEST(CachedColumns, of_an_older_generation_with_little_memory) {
  for (size_t memory = 300'000; memory < 8'000'000; memory = memory * 5 / 4) {
    Changing table(23'000);
    const auto device = host_device(inst::run_morsel_for(platform::best_isa()), 1, memory);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(run_on(sums_of_both(), table, device.get(), 1).rows, run_on(sums_of_both(), table, nullptr).rows);
      for (int row = i; row < 23'000; row += 40) table.change(row);
      table.begin_generation();
    }
  }
}

TEST(CachedColumns, are_brought_up_to_date_without_a_query) {
  constexpr int kRows = 23'001, kMorselRows = 5000;  // as in run_on()
  Changing table(kRows);
  const auto device = host_device(inst::run_morsel_for(platform::best_isa()), 3, kMuch);
  const plan::Program program = sums_of_both();
  const auto renew = [&](device::Device* of) {
    const auto renewed = device::renew_columns(of, table, {Changing::types()}, kMorselRows, [] { return true; });
    EXPECT_TRUE(renewed.is_ok());
    return renewed.is_ok() ? renewed.value() : device::Renewed{};
  };
  EXPECT_EQ(renew(device.get()).bytes, 0);  // no query has asked for columns, so none are put there
  run_on(program, table, device.get());
  const op::DeviceBytes nothing = run_on(program, table, device.get()).stats.device_bytes;
  EXPECT_GT(nothing.cached, kRows * 13);
  for (const int row : {0, 63, 64, 9'000, kRows - 1}) table.change(row);
  table.begin_generation();
  const device::Renewed renewed = renew(device.get());
  EXPECT_EQ(renewed.blocks, 8);  // four of each column
  EXPECT_GT(renewed.bytes, 4 * 64 * 13);
  EXPECT_LE(renewed.bytes, 4 * (64 * 13 + 2 * 72));
  EXPECT_EQ(renew(device.get()).blocks, 0);
  const Outcome got = run_on(program, table, device.get());
  EXPECT_EQ(got.rows, run_on(program, table, nullptr).rows);
  EXPECT_EQ(got.stats.device_bytes.copied, nothing.copied);
}

}  // namespace
}  // namespace strom::engine::test
