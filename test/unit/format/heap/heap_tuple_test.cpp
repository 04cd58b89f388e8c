// The heap decoder against tuples put together here: random layouts, nulls, missing attributes, all forms of varlena,
// and damaged bytes.
#include "format/heap/tuple.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <random>
#include <string>

#include "base/half.hpp"
#include "base/int128.hpp"
#include "base/stored_numeric.hpp"
#include "heap_sample.hpp"

namespace strom::format::heap {
namespace {

using namespace test;

constexpr uint32_t kPageSize = 32768;  // the largest that PostgreSQL can be built with, as pages are by default here

struct Columns {
  explicit Columns(const std::vector<WantedColumn>& wanted, size_t rows) {
    for (const WantedColumn& column : wanted) {
      values.emplace_back(rows * 16 + 16);
      flags.emplace_back(rows, uint8_t{0xEE});
      out.push_back({values.back().data(), flags.back().data(), false});
      (void)column;
    }
  }
  std::vector<std::vector<uint8_t>> values, flags;
  std::vector<ColumnOut> out;
};

uint8_t flag_of(const ColumnOut& out, size_t row) { return out.has_flags ? out.flags[row] : 0; }

void expect_value(const Kind& kind, const Attribute& value, const ColumnOut& out, size_t row) {
  if (!value) {
    EXPECT_EQ(flag_of(out, row), kNullValue);
    return;
  }
  const bool packed = value->form == Form::kCompressed;
  if (value->form == Form::kOutOfLine || (packed && kind.storage != Storage::kText)) {
    EXPECT_EQ(flag_of(out, row), kValueOfHost);
    return;
  }
  EXPECT_EQ(flag_of(out, row), packed ? kPackedValue : 0);
  EXPECT_TRUE(!packed || out.has_packed);
  if (kind.storage == Storage::kText || kind.storage == Storage::kNumeric) {
    const auto& text = static_cast<const registry::StrView*>(out.values)[row];
    EXPECT_EQ(std::string(text.ptr, static_cast<size_t>(text.len)), value->bytes);
  } else if (kind.storage == Storage::kView) {
    const char* bytes = static_cast<const registry::StrView*>(out.values)[row].ptr;
    EXPECT_EQ(std::string(bytes, value->bytes.size()), value->bytes);
  } else if (kind.storage == Storage::kInt2) {
    int16_t expected;
    std::memcpy(&expected, value->bytes.data(), 2);
    EXPECT_EQ(static_cast<const int32_t*>(out.values)[row], expected);
  } else if (kind.storage == Storage::kInt1) {
    EXPECT_EQ(static_cast<const int32_t*>(out.values)[row], static_cast<int8_t>(value->bytes[0]));
  } else if (kind.storage == Storage::kHalf) {
    uint16_t half;
    std::memcpy(&half, value->bytes.data(), 2);
    const float expected = base::half_to_float(half);
    const float found = static_cast<const float*>(out.values)[row];
    EXPECT_EQ(std::bit_cast<uint32_t>(found), std::bit_cast<uint32_t>(expected));  // NaN, too
  } else if (kind.storage == Storage::kUnsigned1) {
    EXPECT_EQ(static_cast<const int32_t*>(out.values)[row], static_cast<uint8_t>(value->bytes[0]));
  } else if (kind.storage == Storage::kUnsigned8) {
    uint64_t expected;
    std::memcpy(&expected, value->bytes.data(), 8);
    EXPECT_EQ(static_cast<const uint64_t*>(out.values)[row], expected ^ uint64_t{1} << 63);
  } else if (kind.storage == Storage::kTid) {
    uint16_t parts[3];
    std::memcpy(parts, value->bytes.data(), sizeof parts);
    EXPECT_EQ(static_cast<const uint64_t*>(out.values)[row],
              uint64_t{parts[0]} << 32 | uint64_t{parts[1]} << 16 | parts[2]);
  } else if (kind.storage == Storage::kMac6 || kind.storage == Storage::kMac8) {
    uint64_t expected = 0;
    for (char byte : value->bytes) expected = expected << 8 | static_cast<uint8_t>(byte);
    if (kind.storage == Storage::kMac8) expected ^= uint64_t{1} << 63;
    EXPECT_EQ(static_cast<const uint64_t*>(out.values)[row], expected);
  } else {
    const auto width = static_cast<size_t>(storage_width(kind.storage));
    std::string expected = value->bytes;
    expected.resize(width, '\0');
    EXPECT_EQ(std::memcmp(static_cast<const uint8_t*>(out.values) + row * width, expected.data(), width), 0);
  }
}

class Round {
 public:
  explicit Round(uint32_t seed) : random_(seed) {
    const size_t count = 1 + random_() % 12;
    for (size_t i = 0; i < count; ++i) kinds_.push_back(kKinds[random_() % std::size(kKinds)]);
    for (size_t i = 0; i < count; ++i) {
      layout_.push_back(kinds_[i].layout);
      if (random_() % 2 == 0) wanted_.push_back({static_cast<int>(i), kinds_[i].storage});
    }
    std::shuffle(wanted_.begin(), wanted_.end(), random_);
    const double nulls = random_() % 3 == 0 ? 0.0 : 0.3;
    for (size_t row = 0; row < 1 + random_() % 50; ++row) {
      std::vector<Attribute> values;
      const size_t stored = random_() % 8 == 0 ? random_() % (count + 1) : count;  // stored before columns were added
      values.reserve(stored);
      for (size_t i = 0; i < stored; ++i) values.push_back(random_value(random_, kinds_[i], nulls));
      tuples_.push_back(form_tuple(layout_, values));
      values.resize(count);
      rows_.push_back(values);
    }
  }

  std::vector<Page> pages() const {
    std::vector<Page> pages(1);
    for (const std::string& tuple : tuples_)
      if (!pages.back().add(tuple)) pages.emplace_back().add(tuple);
    return pages;
  }

  void check() {
    const TupleDecoder decoder(kPageSize, layout_, wanted_);
    const auto capacity = static_cast<int64_t>(tuples_.size()) * 2;
    Columns columns(wanted_, static_cast<size_t>(capacity));
    std::vector<uint16_t> numbers(static_cast<size_t>(capacity));
    const std::vector<Page> pages = this->pages();
    int64_t rows = 0;
    for (const Page& page : pages) {
      const PageRef ref = page.ref(random_() % 2 == 0);
      const PageRows some =
          decoder.decode(ref, pages.back().ref(true).bytes, rows, capacity, numbers.data(), columns.out.data());
      ASSERT_EQ(some.bad_item, 0);
      ASSERT_EQ(some.rows, static_cast<int64_t>(page.tuples().size()));
      for (size_t i = 0; i < page.tuples().size(); ++i)
        EXPECT_EQ(numbers[static_cast<size_t>(rows) + i], page.tuples()[i]);
      rows += some.rows;
    }
    ASSERT_EQ(rows, static_cast<int64_t>(tuples_.size()));
    for (size_t i = 0; i < wanted_.size(); ++i)
      for (size_t row = 0; row < rows_.size(); ++row) {
        const auto attribute = static_cast<size_t>(wanted_[i].attribute);
        expect_value(kinds_[attribute], rows_[row][attribute], columns.out[i], row);
      }
  }

  // Under AddressSanitizer this is a test that nothing outside of the page is read.
  void check_damaged() {
    const TupleDecoder decoder(kPageSize, layout_, wanted_);
    for (Page& page : pages()) {
      for (size_t n = random_() % 20; n > 0; --n)
        *page.at(random_() % 4 == 0 ? 24 + random_() % 200 : page.free() + random_() % (kPageSize - page.free())) =
            static_cast<uint8_t>(random_());
      const PageRef ref = page.ref(random_() % 2 == 0);
      Columns columns(wanted_, ref.count);
      std::vector<uint16_t> numbers(ref.count);
      const PageRows some = decoder.decode(ref, nullptr, 0, ref.count, numbers.data(), columns.out.data());
      EXPECT_LE(some.rows, ref.count);
    }
  }

 private:
  std::mt19937 random_;
  std::vector<Kind> kinds_;
  std::vector<AttributeLayout> layout_;
  std::vector<WantedColumn> wanted_;
  std::vector<std::string> tuples_;
  std::vector<std::vector<Attribute>> rows_;
};

TEST(HeapTuple, RandomTablesDecode) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Round(seed).check();
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(HeapTuple, DamagedTuplesAreSafe) {
  for (uint32_t seed = 0; seed < 3000; ++seed) Round(seed).check_damaged();
}

TEST(HeapTuple, TruncationIsSeen) {
  const std::vector<AttributeLayout> layout = {{4, 4}, {-1, 4}, {8, 8}};
  const TupleDecoder decoder(kPageSize, layout, {{2, Storage::kWord8}});
  const std::string whole = form_tuple(layout, {Value{Form::kFixed, "abcd"}, Value{Form::kLong, std::string(200, 'x')},
                                                Value{Form::kFixed, "12345678"}});
  for (size_t size = 0; size < whole.size(); ++size) {
    Page page;
    ASSERT_TRUE(page.add(whole.substr(0, size)));
    Columns columns(decoder.wanted(), 1);
    uint16_t numbers[1];
    EXPECT_EQ(decoder.decode(page.ref(true), nullptr, 0, 1, numbers, columns.out.data()).bad_item, page.tuples()[0])
        << size;
  }
}

TEST(HeapTuple, OlderTuplesHaveTheMissingValue) {
  const std::vector<AttributeLayout> layout = {{4, 4}, {8, 8}, {-1, 4}, {4, 4}, {-1, 4}};
  const int64_t number = 77;
  const registry::StrView text{"missing", 7};
  const TupleDecoder decoder(kPageSize, layout,
                             {{1, Storage::kWord8, 0, &number},
                              {2, Storage::kText, 0, &text},
                              {3, Storage::kWord4},
                              {4, Storage::kNumeric, kValueOfHost, nullptr}});
  Page page;
  ASSERT_TRUE(page.add(form_tuple(layout, {Value{Form::kFixed, "abcd"}})));
  ASSERT_TRUE(page.add(form_tuple(layout, {std::nullopt, std::nullopt, Value{Form::kShort, "own"}})));
  Columns columns(decoder.wanted(), 2);
  uint16_t numbers[2];
  ASSERT_EQ(decoder.decode(page.ref(true), nullptr, 0, 2, numbers, columns.out.data()).rows, 2);
  const auto text_at = [&](size_t row) {
    const auto& value = static_cast<const registry::StrView*>(columns.out[1].values)[row];
    return std::string(value.ptr, static_cast<size_t>(value.len));
  };
  EXPECT_EQ(flag_of(columns.out[0], 0), 0);
  EXPECT_EQ(static_cast<const int64_t*>(columns.out[0].values)[0], number);
  EXPECT_EQ(flag_of(columns.out[0], 1), kNullValue);
  EXPECT_EQ(text_at(0), "missing");
  EXPECT_EQ(text_at(1), "own");
  EXPECT_EQ(flag_of(columns.out[2], 0), kNullValue);
  EXPECT_EQ(flag_of(columns.out[3], 1), kValueOfHost);
}

// ---- numeric ----

std::string numeric(bool is_long, bool negative, int weight, const std::vector<int16_t>& digits) {
  std::string bytes;
  const auto put = [&](uint16_t word) { bytes.append(reinterpret_cast<const char*>(&word), 2); };
  if (is_long) {
    put(static_cast<uint16_t>((negative ? 0x4000 : 0) | 2));
    put(static_cast<uint16_t>(weight));
  } else {
    put(static_cast<uint16_t>(0x8000 | (negative ? 0x2000 : 0) | 2 << 7 | (weight & 0x7F)));
  }
  for (const int16_t digit : digits) put(static_cast<uint16_t>(digit));
  return bytes;
}

std::optional<__int128> read(const std::string& bytes, int scale) {
  __int128 value;
  if (!base::numeric_to_int128(bytes.data(), static_cast<int>(bytes.size()), scale, &value)) return std::nullopt;
  return value;
}

TEST(HeapNumeric, ValuesAtAScale) {
  for (const bool is_long : {false, true}) {
    EXPECT_EQ(read(numeric(is_long, false, 0, {123, 4500}), 2), 12345);
    EXPECT_EQ(read(numeric(is_long, true, 0, {123, 4500}), 3), -123450);
    EXPECT_EQ(read(numeric(is_long, false, 0, {123, 4500}), 1), std::nullopt);  // a digit would be lost
    EXPECT_EQ(read(numeric(is_long, false, -1, {500}), 2), 5);
    EXPECT_EQ(read(numeric(is_long, false, 2, {1}), 0), 100000000);
    EXPECT_EQ(read(numeric(is_long, false, 0, {}), 5), 0);
  }
  __int128 largest = 1;
  for (int i = 0; i < 38; ++i) largest *= 10;
  --largest;
  EXPECT_EQ(read(numeric(false, true, 9, {99, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999}), 0), -largest);
  EXPECT_EQ(read(numeric(false, false, 9, {100}), 0), std::nullopt);
  EXPECT_EQ(read(numeric(true, false, 200, {1}), 0), std::nullopt);
  EXPECT_EQ(read(numeric(true, false, -200, {1}), 0), std::nullopt);
}

TEST(HeapNumeric, ValuesWithTheirScale) {  // numeric() writes display scale 2
  for (const bool is_long : {false, true}) {
    __int128 decimal;
    const auto read = [&](const std::string& bytes) {
      return base::numeric_to_decimal(bytes.data(), static_cast<int>(bytes.size()), &decimal);
    };
    ASSERT_TRUE(read(numeric(is_long, true, 0, {123, 4500})));
    EXPECT_EQ(base::decimal_unscaled(decimal), -12345);
    EXPECT_EQ(base::decimal_scale(decimal), 2);
    ASSERT_TRUE(read(numeric(is_long, false, 0, {})));
    EXPECT_EQ(base::decimal_unscaled(decimal), 0);
    EXPECT_EQ(base::decimal_scale(decimal), 2);
    EXPECT_FALSE(read(numeric(is_long, false, -1, {5})));  // 0.0005
    EXPECT_FALSE(read(numeric(is_long, false, 9, {99})));  // beyond 2^121 in hundredths
    EXPECT_FALSE(read(std::string("\x00\xC0", 2)));
  }
}

TEST(HeapNumeric, OrdinaryValues) {
  std::mt19937 random(7);
  constexpr int16_t kDigits[] = {0, 1, 9, 10, 99, 100, 5000, 9999, 10000, -1};
  int ordinary = 0;
  for (int round = 0; round < 200000; ++round) {
    std::vector<int16_t> digits;
    for (size_t i = random() % 5; i > 0; --i) digits.push_back(kDigits[random() % std::size(kDigits)]);
    const int weight = static_cast<int>(random() % 6) - 3;
    std::string stored = "\x77\x77" + numeric(random() % 8 == 0, random() % 2 == 0, weight, digits);
    if (random() % 16 == 0) stored[3] = static_cast<char>(random());
    if (random() % 16 == 0) stored.resize(2 + random() % (stored.size() - 1));
    const std::string bytes = stored.substr(2);
    base::OrdinaryNumeric value;
    if (!base::read_ordinary_numeric(stored.data() + 2, static_cast<int64_t>(bytes.size()), &value)) continue;
    ++ordinary;
    ASSERT_EQ(read(bytes, base::kOrdinaryScale),
              value.negative ? -static_cast<int64_t>(value.magnitude) : static_cast<int64_t>(value.magnitude));
    for (int scale = 0; scale <= base::kOrdinaryScale; ++scale) {
      uint64_t quotient;
      const bool exact = base::OrdinaryDivisor(base::kOrdinaryScale - scale).divide(value.magnitude, &quotient);
      ASSERT_EQ(exact, read(bytes, scale).has_value());
      if (exact) {
        ASSERT_EQ(read(bytes, scale),
                  value.negative ? -static_cast<int64_t>(quotient) : static_cast<int64_t>(quotient));
      }
    }
  }
  EXPECT_GT(ordinary, 10000);
}

TEST(HeapNumeric, SpecialAndDamagedValues) {
  EXPECT_EQ(read(std::string("\x00\xC0", 2), 0), std::nullopt);  // NaN
  EXPECT_EQ(read(std::string("\x00\xD0", 2), 0), std::nullopt);  // infinity
  EXPECT_EQ(read("", 0), std::nullopt);
  EXPECT_EQ(read("x", 0), std::nullopt);
  EXPECT_EQ(read(numeric(false, false, 0, {-1}), 0), std::nullopt);
  EXPECT_EQ(read(numeric(false, false, 0, {10000}), 0), std::nullopt);
  EXPECT_EQ(read(numeric(true, false, 0, {}).substr(0, 3), 0), std::nullopt);
}

}  // namespace
}  // namespace strom::format::heap
