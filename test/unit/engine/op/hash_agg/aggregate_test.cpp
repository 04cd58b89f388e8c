// Each accumulator against a loop over the same rows, and the first rows of an order, on every target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/int128.hpp"
#include "engine/expr/interval.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::ValueType;
using registry::AggregateId;
using registry::TypeId;

const ValueType kBool{TypeId::kBool, 0}, kInt2{TypeId::kInt2, 0}, kInt4{TypeId::kInt4, 0}, kInt8{TypeId::kInt8, 0},
    kFloat8{TypeId::kFloat8, 0}, kNumeric{TypeId::kNumeric, 2}, kText{TypeId::kText, 0};

std::string hex(__int128 v) {
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx",
                static_cast<unsigned long long>(static_cast<unsigned __int128>(v) >> 64),
                static_cast<unsigned long long>(v));
  return text;
}

/// `rows` rows of (key int4, value of `type`, keep bool), a fifth of the values null; one group when `keys` is 0.
template <class T>
struct Input {
  struct Row {
    int32_t key;
    std::optional<T> value;
    bool keep;
  };
  std::vector<Row> rows;
  Table table;

  template <class Make>
  Input(ValueType type, int count, int keys, uint64_t seed, Make make)
      : table({field(columnar::Layout::kInt32), field_of(type), field(columnar::Layout::kBool)}) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < count; ++i) {
      if (i % 1000 == 999) table.new_chunk();
      Row row{keys > 0 ? static_cast<int32_t>(random() % static_cast<uint64_t>(keys)) : 0, std::nullopt,
              random() % 3 != 0};
      if (random() % 5 != 0) row.value = make(random);
      table.column(0).append(row.key);
      append(row.value, type);
      table.column(2).append_bool(row.keep);
      rows.push_back(row);
    }
  }

  void append(const std::optional<T>& value, ValueType type) {
    columnar::ColumnBuilder& column = table.column(1);
    if (!value)
      column.append_null();
    else if constexpr (std::is_same_v<T, std::string>)
      ASSERT_TRUE(column.append_bytes(*value));
    else if (type.type == TypeId::kBool)
      column.append_bool(*value != 0);
    else if (type.type == TypeId::kInt2)
      column.append(static_cast<int16_t>(*value));
    else
      column.append(*value);
  }
};

/// Runs `id` with and without keys and FILTER on all targets, texts also where they do not last. `print` gives the
/// state of the values of one group.
template <class T, class Make, class Print>
void check(AggregateId id, ValueType type, Make make, Print print) {
  for (const Target& target : targets())
    for (int variant = 0; variant < (type == kText ? 8 : 4); ++variant) {
      Input<T> input(type, target.slow ? 700 : 9000, 40, 7, make);
      if (variant & 4) input.table.make_text_unstable();
      plan::Program p;
      plan::Builder b(p);
      p.sources = {{{kInt4, type, kBool}}};
      p.pipelines.resize(1);
      plan::Pipeline& pipeline = p.pipelines[0];
      pipeline.sink = plan::SinkKind::kAggregate;
      if (variant & 1) pipeline.group_keys = {b.column(0, kInt4)};
      pipeline.aggregates = {{id, b.column(1, type), variant & 2 ? b.column(2, kBool) : plan::kNoNode}};
      std::map<int32_t, std::vector<T>> groups;
      for (const auto& row : input.rows) {
        std::vector<T>& values = groups[variant & 1 ? row.key : 0];
        if (row.value && (row.keep || !(variant & 2))) values.push_back(*row.value);
      }
      Rows expected;
      for (const auto& [key, values] : groups)
        expected.push_back((variant & 1 ? std::to_string(key) + "|" : "") + std::to_string(values.size()) + ":" +
                           (values.empty() ? "NULL" : print(values)));
      std::sort(expected.begin(), expected.end());
      exec::Options options;
      options.threads = target.slow ? 1 : 3;
      options.morsel_rows = 500;
      const Outcome outcome = run(p, {&input.table}, target, options);
      EXPECT_EQ(outcome.rows, expected) << target.name << " variant " << variant << " "
                                        << registry::aggregate_info(id).name;
      EXPECT_TRUE(outcome.fallback.empty());
    }
}

const ValueType kDecimal{TypeId::kDecimal, 0};

__int128 random_decimal(std::mt19937_64& random) {
  __int128 decimal;
  const __int128 value = static_cast<int64_t>(random()) / static_cast<int64_t>(1 + random() % 1000000000);
  EXPECT_TRUE(base::make_decimal(value, static_cast<int>(random() % 5), &decimal));
  return decimal;
}

__int128 at_summed_scale(__int128 decimal) {
  return base::decimal_unscaled(decimal) * base::power_of_ten(registry::kSummedScale - base::decimal_scale(decimal));
}

TEST(Accumulators, DecimalSums) {
  check<__int128>(AggregateId::kSumDecimal, kDecimal, random_decimal, [](const std::vector<__int128>& values) {
    __int128 sum = 0;
    int scale = 0;
    for (__int128 v : values) {
      sum += at_summed_scale(v);
      scale = std::max(scale, base::decimal_scale(v));
    }
    return hex(sum) + ":" + std::to_string(scale);
  });
}

TEST(Accumulators, DecimalBest) {
  for (const AggregateId id : {AggregateId::kMinDecimal, AggregateId::kMaxDecimal})
    check<__int128>(id, kDecimal, random_decimal, [id](const std::vector<__int128>& values) {
      std::vector<__int128> aligned;
      aligned.reserve(values.size());
      for (__int128 v : values)
        aligned.push_back(at_summed_scale(v) << base::kDecimalScaleBits | base::decimal_scale(v));
      const auto [least, most] = std::minmax_element(aligned.begin(), aligned.end());
      return hex(id == AggregateId::kMinDecimal ? *least : *most);
    });
}

TEST(Accumulators, CountOfTrueValues) {
  check<uint8_t>(
      AggregateId::kBoolAnd, kBool, [](auto& random) { return static_cast<uint8_t>(random() % 2); },
      [](const std::vector<uint8_t>& values) { return std::to_string(std::count(values.begin(), values.end(), 1)); });
}

template <class T, class F>
void check_bits(AggregateId id, ValueType type, T start, F f) {
  check<T>(
      id, type, [](auto& random) { return static_cast<T>(random() | (random() & 7)); },
      [=](const std::vector<T>& values) {
        T bits = start;
        for (T v : values) bits = static_cast<T>(f(bits, v));
        return std::to_string(bits);
      });
}

TEST(Accumulators, Bits) {
  const auto conjunction = [](auto a, auto b) { return a & b; };
  const auto disjunction = [](auto a, auto b) { return a | b; };
  const auto difference = [](auto a, auto b) { return a ^ b; };
  check_bits<int16_t>(AggregateId::kBitAndInt2, kInt2, -1, conjunction);
  check_bits<int32_t>(AggregateId::kBitOrInt4, kInt4, 0, disjunction);
  check_bits<int32_t>(AggregateId::kBitXorInt4, kInt4, 0, difference);
  check_bits<int64_t>(AggregateId::kBitAndInt8, kInt8, -1, conjunction);
  check_bits<int64_t>(AggregateId::kBitOrInt8, kInt8, 0, disjunction);
  check_bits<int64_t>(AggregateId::kBitXorInt8, kInt8, 0, difference);
}

template <class T>
std::string print_squares(const std::vector<T>& values) {
  __int128 sum = 0, low = 0, high = 0;
  for (T v : values) {
    const unsigned __int128 square = static_cast<unsigned __int128>(static_cast<__int128>(v) * v);
    sum += v;
    low += static_cast<uint64_t>(square);
    high += static_cast<__int128>(square >> 64);
  }
  return hex(sum) + ":" + hex(low) + ":" + hex(high);
}

TEST(Accumulators, ExactSquares) {
  check<int16_t>(
      AggregateId::kVarPopInt2, kInt2, [](auto& random) { return static_cast<int16_t>(random()); },
      print_squares<int16_t>);
  check<int32_t>(
      AggregateId::kStddevInt4, kInt4,
      [](auto& random) { return random() % 9 == 0 ? INT32_MIN : static_cast<int32_t>(random()); },
      print_squares<int32_t>);
  check<int64_t>(
      AggregateId::kVarianceInt8, kInt8,
      [](auto& random) { return random() % 9 == 0 ? INT64_MIN : static_cast<int64_t>(random()); },
      print_squares<int64_t>);
  check<__int128>(
      AggregateId::kVarSampNumeric, kNumeric,
      [](auto& random) { return static_cast<__int128>(static_cast<int64_t>(random() | 1)); }, print_squares<__int128>);
}

TEST(Accumulators, Moments) {
  check<double>(
      AggregateId::kVarPopFloat8, kFloat8, [](auto& random) { return static_cast<double>(random() % 1000) / 8; },
      [](const std::vector<double>& values) {
        double sum = 0, squares = 0;
        for (double v : values) sum += v;
        const double mean = sum / static_cast<double>(values.size());
        for (double v : values) squares += (v - mean) * (v - mean);
        char text[96];
        std::snprintf(text, sizeof text, "%zu:%.9g:%.6g", values.size(), sum, squares);
        return std::string(text);
      });
}

TEST(Accumulators, ValuesWithoutASquareFallBack) {
  for (const auto& [type, id] :
       {std::pair(kNumeric, AggregateId::kVarPopNumeric), std::pair(kFloat8, AggregateId::kVarPopFloat8)}) {
    plan::Program p;
    plan::Builder b(p);
    p.sources = {{{type}}};
    p.pipelines.resize(1);
    p.pipelines[0].sink = plan::SinkKind::kAggregate;
    p.pipelines[0].aggregates = {{id, b.column(0, type), plan::kNoNode}};
    Table table({field_of(type)});
    if (type == kNumeric)
      for (const __int128 v :
           {static_cast<__int128>(5), static_cast<__int128>(1) << 63, -(static_cast<__int128>(1) << 63)})
        table.column(0).append(v);
    else
      for (const double v : {5.0, 1e140, static_cast<double>(INFINITY)}) table.column(0).append(v);
    for (const Target& target : targets())
      EXPECT_EQ(run(p, {&table}, target).fallback, (std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {0, 2}}))
          << target.name;
  }
}

TEST(Accumulators, TextExtremes) {
  const auto word = [](auto& random) {
    std::string text;
    for (uint64_t i = random() % 4; i > 0; --i) text += static_cast<char>("ab\xc3\x01"[random() % 4]);
    return text;
  };
  const auto less = [](const std::string& a, const std::string& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
      return static_cast<uint8_t>(x) < static_cast<uint8_t>(y);
    });
  };
  check<std::string>(AggregateId::kMinText, kText, word, [&](const std::vector<std::string>& values) {
    return *std::min_element(values.begin(), values.end(), less);
  });
  check<std::string>(AggregateId::kMaxText, kText, word, [&](const std::vector<std::string>& values) {
    return *std::max_element(values.begin(), values.end(), less);
  });
}

/// Blanks at the end do not count, also in front of smaller bytes.
TEST(Accumulators, BlankPaddedExtremes) {
  const auto word = [](auto& random) {
    std::string text(6, ' ');
    for (uint64_t i = random() % 4; i > 0; --i) text[i - 1] = "ab\x01 "[random() % 4];
    return text;
  };
  const auto trimmed = [](const std::vector<std::string>& values) {
    std::vector<std::string> texts;
    texts.reserve(values.size());
    for (const std::string& value : values) texts.push_back(value.substr(0, value.find_last_not_of(' ') + 1));
    return texts;
  };
  const ValueType type{TypeId::kBpchar, 0};
  check<std::string>(AggregateId::kMinBpchar, type, word, [&](const std::vector<std::string>& values) {
    const auto texts = trimmed(values);
    return *std::min_element(texts.begin(), texts.end());
  });
  check<std::string>(AggregateId::kMaxBpchar, type, word, [&](const std::vector<std::string>& values) {
    const auto texts = trimmed(values);
    return *std::max_element(texts.begin(), texts.end());
  });
}

/// Of two arguments, each null now and then: rows with both count.
TEST(Accumulators, PairMoments) {
  for (const Target& target : targets())
    for (int variant = 0; variant < 4; ++variant) {
      const int count = target.slow ? 700 : 9000, keys = variant & 1 ? 40 : 0;
      std::mt19937_64 random(11);
      Table table({field(columnar::Layout::kInt32), field(columnar::Layout::kFloat64),
                   field(columnar::Layout::kFloat64), field(columnar::Layout::kBool)});
      std::map<int32_t, std::vector<std::pair<double, double>>> groups;
      for (int i = 0; i < count; ++i) {
        if (i % 1000 == 999) table.new_chunk();
        const int32_t key = keys > 0 ? static_cast<int32_t>(random() % 40) : 0;
        const double y = static_cast<double>(random() % 200), x = static_cast<double>(random() % 300) - 100;
        const bool no_y = random() % 6 == 0, no_x = random() % 6 == 0, keep = random() % 3 != 0;
        table.column(0).append(key);
        no_y ? table.column(1).append_null() : table.column(1).append(y);
        no_x ? table.column(2).append_null() : table.column(2).append(x);
        table.column(3).append_bool(keep);
        auto& pairs = groups[key];
        if (!no_y && !no_x && (keep || !(variant & 2))) pairs.emplace_back(y, x);
      }
      plan::Program p;
      plan::Builder b(p);
      p.sources = {{{kInt4, kFloat8, kFloat8, kBool}}};
      p.pipelines.resize(1);
      plan::Pipeline& pipeline = p.pipelines[0];
      pipeline.sink = plan::SinkKind::kAggregate;
      if (keys > 0) pipeline.group_keys = {b.column(0, kInt4)};
      const plan::NodeId filter = variant & 2 ? b.column(3, kBool) : plan::kNoNode;
      pipeline.aggregates = {{AggregateId::kCorr, b.column(1, kFloat8), filter, b.column(2, kFloat8)},
                             {AggregateId::kRegrCount, b.column(1, kFloat8), filter, b.column(2, kFloat8)}};
      Rows expected;
      for (const auto& [key, pairs] : groups) {
        double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
        for (const auto& [y, x] : pairs) n += 1, sx += x, sy += y;
        for (const auto& [y, x] : pairs)
          sxx += (x - sx / n) * (x - sx / n), syy += (y - sy / n) * (y - sy / n), sxy += (x - sx / n) * (y - sy / n);
        char text[200];
        std::snprintf(text, sizeof text, "%.0f:%.0f:%.9g:%.11g:%.9g:%.11g:%.11g|%.0f", n, n, sx, sxx, sy, syy, sxy, n);
        expected.push_back((keys > 0 ? std::to_string(key) + "|" : "") + text);
      }
      std::sort(expected.begin(), expected.end());
      exec::Options options;
      options.threads = target.slow ? 1 : 3;
      options.morsel_rows = 500;
      EXPECT_EQ(run(p, {&table}, target, options).rows, expected) << target.name << " variant " << variant;
    }
}

TEST(Accumulators, IntervalExtremes) {
  const auto make = [](auto& random) {
    return expr::pack({static_cast<int64_t>(random() % 86400000000), static_cast<int32_t>(random() % 30),
                       static_cast<int32_t>(random() % 9) - 4});
  };
  const auto shorter = [](__int128 a, __int128 b) { return expr::span_of(a) < expr::span_of(b); };
  const ValueType type{TypeId::kInterval, 0};
  check<__int128>(AggregateId::kMinInterval, type, make, [&](const std::vector<__int128>& values) {
    return hex(*std::min_element(values.begin(), values.end(), shorter));
  });
  check<__int128>(AggregateId::kMaxInterval, type, make, [&](const std::vector<__int128>& values) {
    return hex(*std::max_element(values.begin(), values.end(), shorter));
  });
}

/// A line "set N|key|key|..." with "-" for the keys that the sets below do not have: their values are open.
std::string without_open_keys(const std::string& line) {
  const uint64_t kept[] = {0b11, 0b10, 0b01, 0, 0b01};
  const size_t first = line.find('|'), second = line.find('|', first + 1), third = line.find('|', second + 1);
  const uint64_t set = kept[line[4] - '0'];
  return line.substr(0, first + 1) + (set & 1 ? line.substr(first + 1, second - first - 1) : "-") + "|" +
         (set & 2 ? line.substr(second + 1, third - second - 1) : "-") + line.substr(third);
}

TEST(GroupingSets, ManyGroupsAreMergedForEachSet) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kText, kInt4}}};
  p.pipelines.resize(1);
  plan::Pipeline& pipeline = p.pipelines[0];
  pipeline.sink = plan::SinkKind::kAggregate;
  pipeline.group_keys = {b.column(0, kInt4), b.column(1, kText)};
  pipeline.grouping_sets = {0b11, 0b10, 0b01, 0, 0b01};
  pipeline.aggregates = {{AggregateId::kSumInt4, b.column(2, kInt4), plan::kNoNode},
                         {AggregateId::kMaxText, b.column(1, kText), plan::kNoNode}};
  for (const bool stable : {true, false}) {
    Table table({field(columnar::Layout::kInt32), field(columnar::Layout::kUtf8), field(columnar::Layout::kInt32)});
    if (!stable) table.make_text_unstable();
    struct State {
      int64_t count = 0, sum = 0, texts = 0;
      std::string highest;
    };
    std::map<std::string, State> groups;
    std::mt19937_64 random(3);
    for (int i = 0; i < 30000; ++i) {
      if (i % 4000 == 3999) table.new_chunk();
      const auto key = static_cast<int32_t>(random() % 60);
      const std::string text = "t" + std::to_string(random() % 50);
      const bool no_key = key == 7, no_text = random() % 11 == 0;
      if (no_key)
        table.column(0).append_null();
      else
        table.column(0).append(key);
      if (no_text)
        table.column(1).append_null();
      else
        ASSERT_TRUE(table.column(1).append_bytes(text));
      table.column(2).append(static_cast<int32_t>(i));
      const std::string k = no_key ? "NULL" : std::to_string(key), t = no_text ? "NULL" : text;
      for (const std::string& group : {"set 0|" + k + "|" + t, "set 1|-|" + t, "set 2|" + k + "|-",
                                       std::string("set 3|-|-"), "set 4|" + k + "|-"}) {
        State& state = groups[group];
        ++state.count;
        state.sum += i;
        if (no_text) continue;
        ++state.texts;
        state.highest = std::max(state.highest, text);
      }
    }
    Rows expected;
    for (const auto& [group, state] : groups)
      expected.push_back(group + "|" + std::to_string(state.count) + ":" + std::to_string(state.sum) + "|" +
                         std::to_string(state.texts) + ":" + (state.texts == 0 ? "NULL" : state.highest));
    std::sort(expected.begin(), expected.end());
    exec::Options options;
    options.threads = 2;
    options.morsel_rows = 3000;
    for (const Target& target : targets())
      if (!target.slow) {
        Rows rows = run(p, {&table}, target, options).rows;
        for (std::string& row : rows) row = without_open_keys(row);
        std::sort(rows.begin(), rows.end());
        EXPECT_EQ(rows, expected) << target.name;
      }
  }
}

struct Order {
  const char* name;
  ValueType type;
  bool descending, nulls_first;
};

class TopRows : public testing::TestWithParam<Order> {};

/// Order of the keys as lines of text, as SQL has it.
bool goes_before(const std::string& a, const std::string& b, const Order& order) {
  if (a == "NULL" || b == "NULL") return a != b && (a == "NULL") == order.nulls_first;
  const std::string& left = order.descending ? b : a;
  const std::string& right = order.descending ? a : b;
  switch (order.type.type) {
    case TypeId::kText:
      return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(), [](char x, char y) {
        return static_cast<uint8_t>(x) < static_cast<uint8_t>(y);
      });
    case TypeId::kBool: return left < right;
    case TypeId::kNumeric: {  // hexadecimal of 128 bits
      const auto number = [](const std::string& s) {
        return static_cast<__int128>(static_cast<unsigned __int128>(std::stoull(s.substr(0, 16), nullptr, 16)) << 64 |
                                     std::stoull(s.substr(16), nullptr, 16));
      };
      return number(left) < number(right);
    }
    case TypeId::kInt8: return std::stoll(left) < std::stoll(right);
    default: {
      const double x = std::strtod(left.c_str(), nullptr), y = std::strtod(right.c_str(), nullptr);
      return !std::isnan(x) && (std::isnan(y) || x < y);
    }
  }
}

std::string key_of(const std::string& line) { return line.substr(line.find('|') + 1); }

TEST_P(TopRows, HasTheFirstRowsAndFewOthers) {
  const Order order = GetParam();
  for (const Target& target : targets()) {
    std::mt19937_64 random(31);
    Table table({field_of(order.type), field(columnar::Layout::kInt32)});
    const int rows = target.slow ? 4000 : 40000;
    for (int32_t i = 0; i < rows; ++i) {
      if (i % 7000 == 6999) table.new_chunk();
      append_random(random, order.type, 0.0002, table.column(0));
      table.column(1).append(i);
    }
    plan::Program p;
    plan::Builder b(p);
    p.sources = {{{order.type, kInt4}}};
    p.pipelines.resize(1);
    p.pipelines[0].outputs = {b.column(1, kInt4), b.column(0, order.type)};
    const auto by_key = [&](const std::string& x, const std::string& y) {
      const std::string a = key_of(x), c = key_of(y);
      if (goes_before(a, c, order)) return true;
      return !goes_before(c, a, order) && x < y;
    };
    Rows all = run(p, {&table}, target).rows;  // once for all that follows: sorting texts is slow under sanitizers
    ASSERT_EQ(all.size(), static_cast<size_t>(rows));
    std::sort(all.begin(), all.end(), by_key);
    for (const int64_t wanted : {1, 10, 3000}) {
      p.pipelines[0].top = {wanted, b.column(0, order.type), order.descending, order.nulls_first, {}};
      exec::Options options;
      options.threads = target.slow ? 1 : 2;
      options.morsel_rows = 6000;
      Rows top = run(p, {&table}, target, options).rows;
      std::sort(top.begin(), top.end(), by_key);
      ASSERT_GE(top.size(), std::min(all.size(), static_cast<size_t>(wanted))) << target.name;
      // Equal keys may come in any number: compare keys, and that every row is one of the table's.
      for (size_t i = 0; i < static_cast<size_t>(std::min<int64_t>(wanted, rows)); ++i)
        ASSERT_EQ(key_of(top[i]), key_of(all[i])) << target.name << " row " << i;
      EXPECT_TRUE(std::includes(all.begin(), all.end(), top.begin(), top.end(), by_key)) << target.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, TopRows,
                         testing::Values(Order{"Int4", kInt4, false, false}, Order{"Int8Descending", kInt8, true, true},
                                         Order{"NumericNullsFirst", kNumeric, false, true},
                                         Order{"Float8", kFloat8, false, false},
                                         Order{"Float8Descending", kFloat8, true, false},
                                         Order{"Float4", ValueType{TypeId::kFloat4, 0}, true, true},
                                         Order{"Bool", kBool, true, false}, Order{"Text", kText, false, false},
                                         Order{"TextDescending", kText, true, true}),
                         [](const auto& info) { return info.param.name; });

TEST(FirstRows, RisingKeysLeaveFewRows) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4}}};
  p.pipelines.resize(1);
  p.pipelines[0].outputs = {b.column(0, kInt4)};
  p.pipelines[0].top = {5, b.column(0, kInt4), true, true, {}};
  Table table({field(columnar::Layout::kInt32)});
  for (int32_t i = 0; i < 200000; ++i) table.column(0).append(i);
  const Rows rows = run(p, {&table}, cpu_target()).rows;
  EXPECT_LE(rows.size(), 100u);
  for (const char* last : {"199995", "199996", "199997", "199998", "199999"})
    EXPECT_TRUE(std::binary_search(rows.begin(), rows.end(), last));
}

// Rows of 100 partitions, a NULL and 99 texts, in several orders: none of the wanted rows is missing, and few others
// are there.
TEST(FirstRows, OfEachPartition) {
  for (const bool distinct : {false, true})
    for (const int64_t budget : {int64_t{64} << 20, int64_t{1} << 12}) {
      constexpr int32_t kRows = 60000, kPartitions = 100, kWanted = 3;
      Table table({field(columnar::Layout::kInt32), field(columnar::Layout::kUtf8), field(columnar::Layout::kInt32)});
      std::map<int32_t, std::set<std::pair<int32_t, int32_t>>> partitions;  // key and row
      for (int32_t i = 0; i < kRows; ++i) {
        const int32_t key = static_cast<int32_t>(int64_t{i} * 7919 % 5003), partition = i * 31 % kPartitions;
        table.column(0).append(key);
        if (partition == 0)
          table.column(1).append_null();
        else
          table.column(1).append_bytes("partition " + std::to_string(partition));
        table.column(2).append(i);
        partitions[partition].emplace(key, i);
      }
      plan::Program p;
      plan::Builder b(p);
      p.sources = {{{kInt4, kText, kInt4}}};
      p.pipelines.resize(1);
      p.pipelines[0].outputs = {b.column(2, kInt4)};
      p.pipelines[0].top = {kWanted, b.column(0, kInt4), false, false, {}, {b.column(1, kText)}, distinct};
      exec::Options options;
      options.threads = 2;
      options.morsel_rows = 5000;
      options.memory_budget = budget;
      const Rows rows = run(p, {&table}, cpu_target(), options).rows;
      for (const auto& [partition, ordered] : partitions) {
        std::set<int32_t> keys;
        int64_t count = 0;
        for (const auto& [key, row] : ordered) {
          keys.insert(key);
          if (distinct ? keys.size() > kWanted : ++count > kWanted) break;
          EXPECT_TRUE(std::binary_search(rows.begin(), rows.end(), std::to_string(row))) << partition;
        }
      }
      if (budget > 1 << 20) {
        EXPECT_LE(rows.size(), kRows / 4u);
      }
    }
}

TEST(FirstRows, ErrorsOfOthersAreSeen) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4}}};
  p.pipelines.resize(1);
  const plan::NodeId column = b.column(0, kInt4);
  const int32_t one = 1;
  const auto quotient = b.call("int4div", {b.constant(kInt4, false, int_bytes(one)), column}).value();
  p.pipelines[0].outputs = {column};
  p.pipelines[0].top = {2, column, false, false, {quotient}};
  Table table({field(columnar::Layout::kInt32)});
  for (int32_t i = -5; i < 3000; ++i) table.column(0).append(i);
  for (const int64_t wanted : {2, 7})  // without and with the row that fails
    for (const Target& target : targets()) {
      p.pipelines[0].top.rows = wanted;
      const Outcome outcome = run(p, {&table}, target);
      EXPECT_EQ(outcome.rows, wanted == 2 ? (Rows{"-4", "-5"}) : (Rows{"-1", "-2", "-3", "-4", "-5", "1", "2"}))
          << target.name;
      EXPECT_EQ(outcome.fallback, (std::vector<std::pair<int64_t, int64_t>>{{0, 5}})) << target.name;
    }
}

}  // namespace
}  // namespace strom::engine::test
