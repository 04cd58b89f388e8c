// Numerics as PostgreSQL stores them are converted when a segment loads them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/int128.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::NodeId;
using plan::ValueType;
using registry::TypeId;

constexpr int kScale = 2;
const ValueType kInt4{TypeId::kInt4, 0}, kNumeric{TypeId::kNumeric, kScale};

/// One chunk of (number int4, numeric) in register form: hundredths of `number`, negative where it is odd. Every fifth
/// value has more digits than an ordinary one, every seventh is null, every eleventh NaN.
class StoredTable : public op::ChunkSource {
 public:
  explicit StoredTable(int rows) : rows_(rows) {
    for (int i = 0; i < rows + block::kTilePadding; ++i) {
      numbers_.push_back(i);
      stored_.push_back("\x11\x22" + (i % 11 == 10 ? std::string("\x00\xC0", 2) : digits_of(value(i))));
      flags_.push_back(i % 7 == 6 ? block::kNullFlag : 0);
    }
    for (const std::string& bytes : stored_)
      views_.push_back({bytes.data() + 2, static_cast<int64_t>(bytes.size()) - 2});
  }

  int64_t chunk_count() const override { return 1; }
  int64_t total_rows() const override { return rows_; }
  bool converts_late() const override { return true; }
  Result<columnar::BatchView> chunk(int64_t) const override {
    columnar::BatchView view;
    view.rows = rows_;
    view.columns.resize(2);
    for (columnar::ColumnView& column : view.columns) {
      column.is_register = true;
      column.length = rows_;
    }
    view.columns[0].values = numbers_.data();
    view.columns[1].values = views_.data();
    view.columns[1].flags = flags_.data();
    view.columns[1].is_stored_numeric = true;
    view.columns[1].scale = scale;
    return view;
  }

  /// In hundredths.
  static int64_t value(int i) { return (i % 5 == 4 ? 123456789012345 + i : i) * (i % 2 == 1 ? -1 : 1); }
  static bool is_null(int i) { return i % 7 == 6; }
  static bool is_nan(int i) { return i % 11 == 10 && !is_null(i); }

  int scale = kScale;

 private:
  /// A short header and digits down to hundredths.
  static std::string digits_of(int64_t hundredths) {
    const bool negative = hundredths < 0;
    uint64_t rest = static_cast<uint64_t>(negative ? -hundredths : hundredths) * 100;
    std::vector<uint16_t> digits;
    for (; rest != 0; rest /= 10000) digits.insert(digits.begin(), static_cast<uint16_t>(rest % 10000));
    const int weight = static_cast<int>(digits.size()) - 2;
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
    digits.insert(digits.begin(),
                  static_cast<uint16_t>(0x8000 | (negative ? 0x2000 : 0) | kScale << 7 | (weight & 0x7F)));
    return {reinterpret_cast<const char*>(digits.data()), digits.size() * 2};
  }

  int rows_;
  std::vector<std::string> stored_;
  std::vector<registry::StrView> views_;
  std::vector<int32_t> numbers_;
  std::vector<uint8_t> flags_;
};

/// `number` from 301 on where the numeric is below 10.
plan::Program filtered(const ValueType& type, const std::string& ten) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, type}}};
  p.pipelines.resize(1);
  const NodeId number = b.column(0, kInt4), value = b.column(1, type);
  p.pipelines[0].quals = {b.call("numeric_lt", {value, b.constant(type, false, ten)}).value(),
                          b.call("int4gt", {number, b.constant(kInt4, false, int_bytes(300))}).value()};
  p.pipelines[0].outputs = {number};
  return p;
}

void check(StoredTable& table, int count, const plan::Program& program) {
  Rows expected;
  std::vector<std::pair<int64_t, int64_t>> fallback;
  for (int row = 301; row < count; ++row) {
    if (StoredTable::is_nan(row)) fallback.emplace_back(0, row);
    if (!StoredTable::is_nan(row) && !StoredTable::is_null(row) && StoredTable::value(row) < 1000)
      expected.push_back(std::to_string(row));
  }
  std::sort(expected.begin(), expected.end());
  exec::Options options;
  options.morsel_rows = count;
  for (const Target& target : targets()) {
    const Outcome outcome = run(program, {&table}, target, options);
    EXPECT_EQ(outcome.rows, expected) << target.name;
    EXPECT_EQ(outcome.fallback, fallback) << target.name;
  }
}

std::string bytes_of(base::int128 value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

TEST(StoredNumeric, IsConvertedToItsScale) {
  StoredTable table(5000);
  check(table, 5000, filtered(kNumeric, bytes_of(1000)));
}

TEST(StoredNumeric, KeepsAScaleOfItsOwn) {
  StoredTable table(5000);
  table.scale = base::kOwnScale;
  base::int128 ten;
  ASSERT_TRUE(base::make_decimal(10, 0, &ten));
  check(table, 5000, filtered({TypeId::kDecimal, 0}, bytes_of(ten)));
}

}  // namespace
}  // namespace strom::engine::test
