// Rows of the dimension tables: date1, customer, supplier, part.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "ssb/calendar.hpp"
#include "ssb/random.hpp"
#include "ssb/tables.hpp"
#include "ssb/words.hpp"

namespace strom::ssb::detail {
namespace {

/// A text value, made on the stack.
class Text {
 public:
  template <class... Args>
  explicit Text(fmt::format_string<Args...> format, Args&&... args) {
    size_ = fmt::format_to_n(bytes_, sizeof bytes_, format, std::forward<Args>(args)...).size;
  }
  operator std::string_view() const { return {bytes_, size_}; }

 private:
  char bytes_[48];
  size_t size_;
};

// Random values are drawn into variables first, because C++ does not define the order in which a call's arguments are
// evaluated.
template <size_t n>
std::string_view pick(RowRandom& random, const std::array<std::string_view, n>& words) {
  return words[random.below(n)];
}

/// 10 to 25 characters.
std::string_view make_address(RowRandom& random, std::array<char, 25>& bytes) {
  static constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,";
  static_assert(kAlphabet.size() == 64);
  const auto size = static_cast<size_t>(random.between(10, 25));
  uint64_t bits = 0;
  for (size_t i = 0; i < size; ++i) {
    if (i % 10 == 0) bits = random.next();
    bytes[i] = kAlphabet[bits & 63];
    bits >>= 6;
  }
  return {bytes.data(), size};
}

/// Appends city, nation, region and phone to columns[at ..], which customers and suppliers have in common.
void append_place(RowRandom& random, Columns& columns, size_t at) {
  const size_t code = random.below(kNations.size());
  const Nation& nation = kNations[code];
  const uint64_t city = random.below(10);
  const int64_t area = random.between(100, 999), exchange = random.between(100, 999), line = random.between(1000, 9999);
  columns[at].append_bytes(Text("{:<9.9}{}", nation.name, city));
  columns[at + 1].append_bytes(nation.name);
  columns[at + 2].append_bytes(nation.region);
  columns[at + 3].append_bytes(Text("{}-{}-{}-{}", code + 10, area, exchange, line));
}

std::string_view selling_season(unsigned month) {
  if (month >= 11) return "Christmas";
  if (month >= 9) return "Fall";
  if (month >= 5) return "Summer";
  return month == 4 ? "Spring" : "Winter";
}

bool is_holiday(unsigned month, unsigned day) {
  struct MonthDay {
    unsigned month, day;
  };
  static constexpr MonthDay kHolidays[] = {{1, 1},  {2, 20}, {4, 20},  {5, 20},  {7, 20},
                                           {8, 20}, {9, 20}, {10, 20}, {11, 20}, {12, 24}};
  for (const MonthDay& holiday : kHolidays)
    if (holiday.month == month && holiday.day == day) return true;
  return false;
}

void append_day(int32_t number, Columns& columns) {
  namespace chrono = std::chrono;
  const chrono::sys_days day = kFirstDay + chrono::days{number};
  const chrono::year_month_day date = day;
  const int year = static_cast<int>(date.year());
  const unsigned month = static_cast<unsigned>(date.month()), in_month = static_cast<unsigned>(date.day());
  const int weekday = static_cast<int>(chrono::weekday{day}.c_encoding());  // 0 is Sunday
  const auto in_year = static_cast<int32_t>((day - chrono::sys_days{date.year() / 1 / 1}).count() + 1);
  const bool last_in_month = date.day() == (date.year() / date.month() / chrono::last).day();
  const std::string_view month_name = kMonths[month - 1];

  columns[0].append<int32_t>(date_key(date));
  columns[1].append_bytes(Text("{} {}, {}", month_name, in_month, year));
  columns[2].append_bytes(kWeekdays[weekday]);
  columns[3].append_bytes(month_name);
  columns[4].append<int32_t>(year);
  columns[5].append<int32_t>(year * 100 + static_cast<int32_t>(month));
  columns[6].append_bytes(Text("{:.3}{}", month_name, year));
  columns[7].append<int32_t>(weekday + 1);
  columns[8].append<int32_t>(static_cast<int32_t>(in_month));
  columns[9].append<int32_t>(in_year);
  columns[10].append<int32_t>(static_cast<int32_t>(month));
  columns[11].append<int32_t>(in_year / 7 + 1);
  columns[12].append_bytes(selling_season(month));
  columns[13].append<int32_t>(weekday == 6);
  columns[14].append<int32_t>(last_in_month);
  columns[15].append<int32_t>(is_holiday(month, in_month));
  columns[16].append<int32_t>(weekday != 0 && weekday != 6);
}

}  // namespace

void append_date(const Plan&, int64_t first, int64_t count, Columns& columns) {
  for (int64_t day = first; day < first + count; ++day) append_day(static_cast<int32_t>(day), columns);
}

void append_customer(const Plan& plan, int64_t first, int64_t count, Columns& columns) {
  std::array<char, 25> address;
  for (int64_t key = first + 1; key <= first + count; ++key) {
    RowRandom random(plan.seed, static_cast<uint64_t>(Table::kCustomer), static_cast<uint64_t>(key));
    columns[0].append<int32_t>(static_cast<int32_t>(key));
    columns[1].append_bytes(Text("Customer#{:09}", key));
    columns[2].append_bytes(make_address(random, address));
    append_place(random, columns, 3);
    columns[7].append_bytes(pick(random, kSegments));
  }
}

void append_supplier(const Plan& plan, int64_t first, int64_t count, Columns& columns) {
  std::array<char, 25> address;
  for (int64_t key = first + 1; key <= first + count; ++key) {
    RowRandom random(plan.seed, static_cast<uint64_t>(Table::kSupplier), static_cast<uint64_t>(key));
    columns[0].append<int32_t>(static_cast<int32_t>(key));
    columns[1].append_bytes(Text("Supplier#{:09}", key));
    columns[2].append_bytes(make_address(random, address));
    append_place(random, columns, 3);
  }
}

void append_part(const Plan& plan, int64_t first, int64_t count, Columns& columns) {
  for (int64_t key = first + 1; key <= first + count; ++key) {
    RowRandom random(plan.seed, static_cast<uint64_t>(Table::kPart), static_cast<uint64_t>(key));
    const int64_t mfgr = random.between(1, 5), category = random.between(1, 5), brand = random.between(1, 40);
    // Draws three different colours: two make the name, the third is the colour.
    const size_t colours = kColours.size();
    const size_t one = random.below(colours), two = (one + 1 + random.below(colours - 1)) % colours;
    size_t three = random.below(colours);
    while (three == one || three == two) three = random.below(colours);
    const std::string_view type_size = pick(random, kTypeSizes), type_finish = pick(random, kTypeFinishes);
    const std::string_view type_metal = pick(random, kTypeMetals);
    const auto size = static_cast<int32_t>(random.between(1, 50));
    const std::string_view container_size = pick(random, kContainerSizes),
                           container_kind = pick(random, kContainerKinds);
    columns[0].append<int32_t>(static_cast<int32_t>(key));
    columns[1].append_bytes(Text("{} {}", kColours[one], kColours[two]));
    columns[2].append_bytes(Text("MFGR#{}", mfgr));
    columns[3].append_bytes(Text("MFGR#{}{}", mfgr, category));
    columns[4].append_bytes(Text("MFGR#{}{}{:02}", mfgr, category, brand));
    columns[5].append_bytes(kColours[three]);
    columns[6].append_bytes(Text("{} {} {}", type_size, type_finish, type_metal));
    columns[7].append<int32_t>(size);
    columns[8].append_bytes(Text("{} {}", container_size, container_kind));
  }
}

}  // namespace strom::ssb::detail
