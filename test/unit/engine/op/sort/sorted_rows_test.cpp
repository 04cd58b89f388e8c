// Sorted batches and their merge, against std::stable_sort.
#include "engine/op/sort/sorted_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace strom::engine::op {
namespace {

using registry::StrView;
using registry::TypeId;

struct Row {
  bool number_is_null, text_is_null;
  double number;
  std::string text;
  int32_t id;
};

/// Numbers with NaN, infinities, both zeros and NULL, and texts that begin alike.
std::vector<Row> rows_of(int count) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double special[] = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 0.0, -0.0};
  std::vector<Row> rows;
  for (int i = 0; i < count; ++i) {
    const double number = i % 7 == 0 ? special[i / 7 % 5] : (i * 7919 % 101 - 50) / 4.0;
    rows.push_back(
        {i % 11 == 0, i % 13 == 0, number, "beginning " + std::string(static_cast<size_t>(i * 31 % 5), 'x'), i});
  }
  return rows;
}

/// Owns what a batch points to.
struct Columns {
  std::vector<double> numbers;
  std::vector<StrView> texts;
  std::vector<int32_t> ids;
  std::vector<uint8_t> number_flags, text_flags;
};

int compare(double a, double b) {
  if (a != a || b != b) return (a != a) - (b != b);
  return (a > b) - (a < b);
}

bool precedes(const Row& a, const Row& b, const std::vector<plan::SortKey>& keys) {
  for (const plan::SortKey& key : keys) {
    const bool a_null = key.output == 0 ? a.number_is_null : a.text_is_null;
    const bool b_null = key.output == 0 ? b.number_is_null : b.text_is_null;
    if (key.output != 2 && a_null != b_null) return a_null == key.nulls_first;
    if (key.output != 2 && a_null) continue;
    const int order = key.output == 0   ? compare(a.number, b.number)
                      : key.output == 1 ? a.text.compare(b.text)
                                        : (a.id > b.id) - (a.id < b.id);
    if (order != 0) return (order < 0) != key.descending;
  }
  return false;
}

TEST(SortedRows, BatchesAreMerged) {
  const std::vector<Row> rows = rows_of(5000);
  for (int variant = 0; variant < 8; ++variant) {
    const bool descending = (variant & 1) != 0, nulls_first = (variant & 2) != 0;
    const uint32_t first = variant & 4 ? 1 : 0;
    const std::vector<plan::SortKey> keys = {
        {first, descending, nulls_first}, {1 - first, !descending, nulls_first}, {2, false, false}};
    SortedRows sorted(keys);
    std::vector<Columns> columns(5);
    std::vector<std::vector<std::unique_ptr<uint8_t[]>>> memory;
    for (size_t b = 0; b < columns.size(); ++b) {
      Columns& own = columns[b];
      for (size_t i = b; i < rows.size(); i += columns.size()) {
        if (b == 3) break;  // an empty one
        own.numbers.push_back(rows[i].number);
        own.texts.push_back({rows[i].text.data(), static_cast<int64_t>(rows[i].text.size())});
        own.ids.push_back(rows[i].id);
        own.number_flags.push_back(rows[i].number_is_null);
        own.text_flags.push_back(rows[i].text_is_null);
      }
      auto batch = std::make_shared<ResultBatch>();
      batch->rows = static_cast<int64_t>(own.ids.size());
      batch->columns = {{{TypeId::kFloat8, 0}, own.numbers.data(), own.number_flags.data()},
                        {{TypeId::kText, 0}, own.texts.data(), own.text_flags.data()},
                        {{TypeId::kInt4, 0}, own.ids.data(), nullptr}};
      memory.push_back(sort_rows(keys, batch.get()));
      sorted.add(batch);
    }
    std::vector<Row> expected;
    for (size_t i = 0; i < rows.size(); ++i)
      if (i % columns.size() != 3) expected.push_back(rows[i]);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](const Row& a, const Row& b) { return precedes(a, b, keys); });
    for (const Row& row : expected) {
      ASSERT_TRUE(sorted.next());
      ASSERT_EQ(static_cast<const int32_t*>(sorted.batch()->columns[2].values)[sorted.row()], row.id) << variant;
    }
    EXPECT_FALSE(sorted.next());
  }
}

TEST(SortedRows, NothingToMerge) {
  SortedRows sorted({{0, false, false}});
  EXPECT_FALSE(sorted.next());
}

}  // namespace
}  // namespace strom::engine::op
