// Rows of the Star Schema Benchmark generator: sizes, ranges, formulas, foreign keys, hierarchies and determinism.
#include "ssb/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ssb/words.hpp"
#include "ssb_batches.hpp"

namespace strom::ssb {
namespace {

Plan plan_at(double scale, uint64_t seed = 1) {
  Plan plan;
  plan.sizes = sizes_at(scale).value();
  plan.seed = seed;
  return plan;
}

TEST(SsbSizes, FollowTheSpecification) {
  const Sizes one = sizes_at(1).value();
  EXPECT_EQ(one.orders, 1500000);
  EXPECT_EQ(one.customers, 30000);
  EXPECT_EQ(one.suppliers, 2000);
  EXPECT_EQ(one.parts, 200000);
  EXPECT_EQ(one.days, 2557);
  EXPECT_EQ(sizes_at(2).value().parts, 400000);
  EXPECT_EQ(sizes_at(5).value().parts, 600000);
  EXPECT_EQ(sizes_at(8).value().parts, 800000);
  EXPECT_EQ(sizes_at(5).value().customers, 150000);
  EXPECT_EQ(sizes_at(0.01).value().parts, 2000);
  EXPECT_EQ(sizes_at(0.00001).value().suppliers, 1);
}

TEST(SsbSizes, RefuseScalesOutOfRange) {
  for (double scale : {0.0, -1.0, 10001.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(sizes_at(scale).status().code(), ErrorCode::kInvalidParameter) << scale;
}

TEST(SsbLineorder, HasOneToSevenLinesPerOrderAndSparseKeys) {
  const Plan plan = plan_at(0.05);
  int64_t rows = 0, orders = 0, last_key = 0;
  std::map<int, int64_t> orders_by_lines;
  int last_line = 0;
  for_each_row(plan, Table::kLineorder, [&](const Row& row) {
    const int64_t key = row.big("lo_orderkey");
    const int line = row.number("lo_linenumber");
    if (key != last_key) {
      if (last_key) ++orders_by_lines[last_line];
      ASSERT_GT(key, last_key);
      ASSERT_LT(key & 31, 8);
      ASSERT_EQ(line, 1);
      ++orders;
    } else {
      ASSERT_EQ(line, last_line + 1);
    }
    last_key = key;
    last_line = line;
    ++rows;
  });
  ++orders_by_lines[last_line];
  EXPECT_EQ(orders, 75000);
  EXPECT_NEAR(static_cast<double>(rows), 300000, 3000);
  ASSERT_EQ(orders_by_lines.size(), 7u);
  for (const auto& [lines, count] : orders_by_lines) EXPECT_NEAR(static_cast<double>(count), 75000 / 7.0, 600) << lines;
}

TEST(SsbLineorder, KeepsRangesAndFormulas) {
  const Plan plan = plan_at(0.05);
  std::set<int> quantities, discounts, taxes, ship_delays;
  std::set<std::string> priorities, modes;
  for_each_row(plan, Table::kLineorder, [&](const Row& row) {
    const int part = row.number("lo_partkey"), quantity = row.number("lo_quantity");
    const int price = 90000 + part / 10 % 20001 + 100 * (part % 1000);
    const int64_t extended = row.number("lo_extendedprice"), discount = row.number("lo_discount");
    ASSERT_EQ(extended, int64_t{price} * quantity);
    ASSERT_EQ(row.number("lo_revenue"), extended * (100 - discount) / 100);
    ASSERT_EQ(row.number("lo_supplycost"), price * 6 / 10);
    ASSERT_EQ(row.text("lo_shippriority"), "0");
    quantities.insert(quantity);
    discounts.insert(static_cast<int>(discount));
    taxes.insert(row.number("lo_tax"));
    priorities.emplace(row.text("lo_orderpriority"));
    modes.emplace(row.text("lo_shipmode"));
  });
  EXPECT_EQ(quantities.size(), 50u);
  EXPECT_EQ(*quantities.begin(), 1);
  EXPECT_EQ(*quantities.rbegin(), 50);
  EXPECT_EQ(discounts.size(), 11u);
  EXPECT_EQ(*discounts.rbegin(), 10);
  EXPECT_EQ(taxes.size(), 9u);
  EXPECT_EQ(*taxes.rbegin(), 8);
  EXPECT_EQ(priorities.size(), 5u);
  EXPECT_EQ(modes.size(), 7u);
}

TEST(SsbLineorder, OrderTotalIsTheSumOfItsLines) {
  const Plan plan = plan_at(0.01);
  std::unordered_map<int64_t, int64_t> sums, totals;
  for_each_row(plan, Table::kLineorder, [&](const Row& row) {
    const int64_t key = row.big("lo_orderkey");
    sums[key] += int64_t{row.number("lo_revenue")} * (100 + row.number("lo_tax")) / 100;
    const auto [at, fresh] = totals.emplace(key, row.number("lo_ordertotalprice"));
    ASSERT_TRUE(fresh || at->second == row.number("lo_ordertotalprice"));
  });
  EXPECT_EQ(sums, totals);
}

TEST(SsbLineorder, RefersToRowsThatExist) {
  const Plan plan = plan_at(0.02);
  std::map<int, int> day_numbers;
  for_each_row(plan, Table::kDate, [&](const Row& row) {
    day_numbers.emplace(row.number("d_datekey"), static_cast<int>(day_numbers.size()));
  });
  std::set<int> customers, suppliers, parts;
  int first_order = 99999999, last_order = 0;
  for_each_row(plan, Table::kLineorder, [&](const Row& row) {
    const int ordered = row.number("lo_orderdate");
    ASSERT_TRUE(day_numbers.contains(ordered));
    const auto commit = day_numbers.find(row.number("lo_commit_date"));
    ASSERT_NE(commit, day_numbers.end());
    const int delay = commit->second - day_numbers.at(ordered);
    ASSERT_GE(delay, 30);
    ASSERT_LE(delay, 90);
    first_order = std::min(first_order, ordered);
    last_order = std::max(last_order, ordered);
    customers.insert(row.number("lo_custkey"));
    suppliers.insert(row.number("lo_suppkey"));
    parts.insert(row.number("lo_partkey"));
  });
  EXPECT_EQ(first_order, 19920101);
  EXPECT_EQ(last_order, 19980802);
  EXPECT_GE(*customers.begin(), 1);
  EXPECT_LE(*customers.rbegin(), plan.sizes.customers);
  EXPECT_EQ(customers.size(), 400u);  // two thirds of 600
  EXPECT_EQ(std::count_if(customers.begin(), customers.end(), [](int key) { return key % 3 == 0; }), 0);
  EXPECT_GE(*suppliers.begin(), 1);
  EXPECT_LE(*suppliers.rbegin(), plan.sizes.suppliers);
  EXPECT_EQ(suppliers.size(), 40u);
  EXPECT_GE(*parts.begin(), 1);
  EXPECT_LE(*parts.rbegin(), plan.sizes.parts);
}

TEST(SsbPart, BrandBelongsToCategoryBelongsToManufacturer) {
  const Plan plan = plan_at(1);
  std::set<std::string> makers, categories, brands, types, containers, colours;
  int64_t rows = 0;
  for_each_row(plan, Table::kPart, [&](const Row& row) {
    ASSERT_EQ(row.number("p_partkey"), ++rows);
    const std::string maker(row.text("p_mfgr")), category(row.text("p_category")), brand(row.text("p_brand1"));
    ASSERT_EQ(category.substr(0, maker.size()), maker);
    ASSERT_EQ(brand.substr(0, category.size()), category);
    ASSERT_EQ(brand.size(), 9u);
    const std::string name(row.text("p_name")), colour(row.text("p_color"));
    const size_t blank = name.find(' ');
    ASSERT_NE(name.substr(0, blank), name.substr(blank + 1));
    ASSERT_NE(name.substr(0, blank), colour);
    ASSERT_NE(name.substr(blank + 1), colour);
    ASSERT_GE(row.number("p_size"), 1);
    ASSERT_LE(row.number("p_size"), 50);
    makers.insert(maker);
    categories.insert(category);
    brands.insert(brand);
    types.emplace(row.text("p_type"));
    containers.emplace(row.text("p_container"));
    colours.insert(colour);
  });
  EXPECT_EQ(rows, 200000);
  EXPECT_EQ(makers, (std::set<std::string>{"MFGR#1", "MFGR#2", "MFGR#3", "MFGR#4", "MFGR#5"}));
  EXPECT_EQ(categories.size(), 25u);
  EXPECT_EQ(brands.size(), 1000u);
  EXPECT_EQ(*brands.begin(), "MFGR#1101");
  EXPECT_EQ(*brands.rbegin(), "MFGR#5540");
  EXPECT_EQ(types.size(), 150u);
  EXPECT_EQ(containers.size(), 40u);
  EXPECT_EQ(colours.size(), 92u);
}

void check_places(Table table, const std::string& prefix, std::string_view name_word) {
  const Plan plan = plan_at(1);
  std::map<std::string, std::string, std::less<>> region_of;
  for (const Nation& nation : kNations) region_of.emplace(nation.name, nation.region);
  std::set<std::string> cities, nations;
  int64_t rows = 0;
  for_each_row(plan, table, [&](const Row& row) {
    const std::string city(row.text(prefix + "city")), nation(row.text(prefix + "nation"));
    std::string stem = nation.substr(0, 9);
    stem.resize(9, ' ');
    ASSERT_EQ(city.substr(0, 9), stem);
    ASSERT_EQ(city.size(), 10u);
    ASSERT_TRUE(city.back() >= '0' && city.back() <= '9');
    ASSERT_EQ(row.text(prefix + "region"), region_of.at(nation));
    const size_t address = row.text(prefix + "address").size();
    ASSERT_GE(address, 10u);
    ASSERT_LE(address, 25u);
    ASSERT_EQ(row.text(prefix + "phone").size(), 15u);
    ASSERT_EQ(row.text(prefix + "name").substr(0, name_word.size()), name_word);
    ++rows;
    cities.insert(city);
    nations.insert(nation);
  });
  EXPECT_EQ(rows, table == Table::kCustomer ? 30000 : 2000);
  EXPECT_EQ(cities.size(), 250u);
  EXPECT_EQ(nations.size(), 25u);
}

TEST(SsbCustomer, CityBelongsToNationBelongsToRegion) { check_places(Table::kCustomer, "c_", "Customer#00"); }
TEST(SsbSupplier, CityBelongsToNationBelongsToRegion) { check_places(Table::kSupplier, "s_", "Supplier#00"); }

TEST(SsbDate, IsTheCalendar) {
  const Plan plan = plan_at(1);
  std::vector<int> keys;
  std::map<int, int> days_by_year, days_in_week6;
  int month_ends = 0, holidays = 0;
  for_each_row(plan, Table::kDate, [&](const Row& row) {
    const int key = row.number("d_datekey"), year = row.number("d_year");
    keys.push_back(key);
    ASSERT_EQ(key / 10000, year);
    ASSERT_EQ(key / 100, row.number("d_yearmonthnum"));
    ASSERT_EQ(key / 100 % 100, row.number("d_monthnuminyear"));
    ASSERT_EQ(key % 100, row.number("d_daynuminmonth"));
    ASSERT_EQ(row.number("d_daynuminyear"), ++days_by_year[year]);
    ASSERT_EQ(row.number("d_weekdayfl"), row.text("d_dayofweek").front() != 'S');
    ASSERT_EQ(row.number("d_lastdayinweekfl"), row.text("d_dayofweek") == "Saturday");
    if (row.number("d_weeknuminyear") == 6) ++days_in_week6[year];
    month_ends += row.number("d_lastdayinmonthfl");
    holidays += row.number("d_holidayfl");
    if (key == 19920101) {
      EXPECT_EQ(row.text("d_date"), "January 1, 1992");
      EXPECT_EQ(row.text("d_dayofweek"), "Wednesday");
      EXPECT_EQ(row.text("d_yearmonth"), "Jan1992");
      EXPECT_EQ(row.text("d_sellingseason"), "Winter");
      EXPECT_EQ(row.number("d_daynuminweek"), 4);
    }
    if (key == 19971224) {
      EXPECT_EQ(row.text("d_yearmonth"), "Dec1997");
      EXPECT_EQ(row.text("d_sellingseason"), "Christmas");
      EXPECT_EQ(row.number("d_holidayfl"), 1);
    }
  });
  EXPECT_EQ(keys.size(), 2557u);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(keys.front(), 19920101);
  EXPECT_EQ(keys.back(), 19981231);
  EXPECT_EQ(
      days_by_year,
      (std::map<int, int>{{1992, 366}, {1993, 365}, {1994, 365}, {1995, 365}, {1996, 366}, {1997, 365}, {1998, 365}}));
  EXPECT_EQ(month_ends, 84);
  EXPECT_EQ(holidays, 70);
  for (const auto& [year, days] : days_in_week6) EXPECT_EQ(days, 7) << year;
}

TEST(SsbBatches, NothingIsNullableAndNothingIsNull) {
  const Plan plan = plan_at(0.001);
  for (Table table : kTables) {
    const columnar::Schema schema = table_schema(table);
    for (const columnar::Field& field : schema.fields) EXPECT_FALSE(field.nullable) << field.name;
    BatchBuilder builder(table);
    builder.build(plan, 0);
    const columnar::BatchView batch = builder.view();
    ASSERT_EQ(batch.columns.size(), schema.fields.size());
    for (const columnar::ColumnView& column : batch.columns) {
      EXPECT_EQ(column.length, batch.rows);
      EXPECT_EQ(column.null_count, 0);
    }
  }
}

TEST(SsbBatches, CutDoesNotChangeTheRows) {
  Plan whole = plan_at(0.01), cut = whole;
  whole.batch_rows = int64_t{1} << 22;
  cut.batch_rows = 1000;
  for (Table table : kTables) {
    EXPECT_EQ(batch_count(whole, table), 1);
    EXPECT_EQ(fingerprint(whole, table), fingerprint(cut, table)) << table_name(table);
  }
  EXPECT_EQ(batch_count(cut, Table::kLineorder), 60);
}

TEST(SsbBatches, SeedDecidesTheRows) {
  for (Table table : {Table::kLineorder, Table::kCustomer, Table::kSupplier, Table::kPart}) {
    EXPECT_EQ(fingerprint(plan_at(0.01, 7), table), fingerprint(plan_at(0.01, 7), table));
    EXPECT_NE(fingerprint(plan_at(0.01, 7), table), fingerprint(plan_at(0.01, 8), table)) << table_name(table);
  }
}

}  // namespace
}  // namespace strom::ssb
