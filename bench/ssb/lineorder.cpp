// Rows of lineorder: orders with one to seven lines. Each order has a random stream of its own.
#include <array>
#include <cstdint>
#include <vector>

#include "ssb/calendar.hpp"
#include "ssb/random.hpp"
#include "ssb/retail_price.hpp"
#include "ssb/tables.hpp"
#include "ssb/words.hpp"

namespace strom::ssb::detail {
namespace {

constexpr int kMaxLines = 7;
constexpr int kMaxCommitDelay = 90;

struct Line {
  int32_t partkey, suppkey, quantity, extendedprice, discount, revenue, supplycost, tax, commit_date;
  std::string_view shipmode;
};

/// The date keys of the days of orders and commitments.
std::array<int32_t, kOrderDays + kMaxCommitDelay> make_date_keys() {
  std::array<int32_t, kOrderDays + kMaxCommitDelay> keys;
  for (size_t day = 0; day < keys.size(); ++day) keys[day] = date_key(date_of(static_cast<int32_t>(day)));
  return keys;
}

/// Eight keys of every 32 are used, as in TPC-H (clause 4.2.3).
int64_t sparse_order_key(int64_t order) { return (order >> 3 << 5) | (order & 7); }

/// One third of the customers never order: those whose key is divisible by three, as in TPC-H.
int32_t pick_customer(RowRandom& random, int64_t customers) {
  int64_t key = random.between(1, customers);
  if (key % 3 == 0) key += (key < customers && random.below(2)) ? 1 : -1;
  return static_cast<int32_t>(key);
}

Line make_line(RowRandom& random, const Sizes& sizes, int32_t order_day, const int32_t* date_keys) {
  Line line;
  line.partkey = static_cast<int32_t>(random.between(1, sizes.parts));
  line.suppkey = static_cast<int32_t>(random.between(1, sizes.suppliers));
  line.quantity = static_cast<int32_t>(random.between(1, 50));
  line.discount = static_cast<int32_t>(random.between(0, 10));
  line.tax = static_cast<int32_t>(random.between(0, 8));
  const int32_t price = retail_price(line.partkey);
  line.extendedprice = price * line.quantity;
  line.revenue = static_cast<int32_t>(int64_t{line.extendedprice} * (100 - line.discount) / 100);
  line.supplycost = 6 * price / 10;
  line.commit_date = date_keys[order_day + random.between(30, kMaxCommitDelay)];
  line.shipmode = kShipModes[random.below(kShipModes.size())];
  return line;
}

}  // namespace

void append_lineorder(const Plan& plan, int64_t first, int64_t count, Columns& columns) {
  static const auto date_keys = make_date_keys();
  for (int64_t order = first + 1; order <= first + count; ++order) {
    RowRandom random(plan.seed, static_cast<uint64_t>(Table::kLineorder), static_cast<uint64_t>(order));
    const int64_t orderkey = sparse_order_key(order);
    const int32_t custkey = pick_customer(random, plan.sizes.customers);
    const auto day = static_cast<int32_t>(random.below(kOrderDays));
    const std::string_view priority = kPriorities[random.below(kPriorities.size())];
    const auto lines = static_cast<int>(random.between(1, kMaxLines));
    std::array<Line, kMaxLines> made;
    int32_t total = 0;
    for (int i = 0; i < lines; ++i) {
      made[i] = make_line(random, plan.sizes, day, date_keys.data());
      total += static_cast<int32_t>(int64_t{made[i].revenue} * (100 + made[i].tax) / 100);
    }
    for (int i = 0; i < lines; ++i) {
      const Line& line = made[i];
      columns[0].append<int64_t>(orderkey);
      columns[1].append<int32_t>(i + 1);
      columns[2].append<int32_t>(custkey);
      columns[3].append<int32_t>(line.partkey);
      columns[4].append<int32_t>(line.suppkey);
      columns[5].append<int32_t>(date_keys[day]);
      columns[6].append_bytes(priority);
      columns[7].append_bytes("0");
      columns[8].append<int32_t>(line.quantity);
      columns[9].append<int32_t>(line.extendedprice);
      columns[10].append<int32_t>(total);
      columns[11].append<int32_t>(line.discount);
      columns[12].append<int32_t>(line.revenue);
      columns[13].append<int32_t>(line.supplycost);
      columns[14].append<int32_t>(line.tax);
      columns[15].append<int32_t>(line.commit_date);
      columns[16].append_bytes(line.shipmode);
    }
  }
}

}  // namespace strom::ssb::detail
