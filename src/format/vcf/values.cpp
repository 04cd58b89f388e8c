#include "format/vcf/values.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "format/vcf/genotypes.hpp"

namespace strom::format::vcf {

using columnar::ColumnBuilder;
using Form = Layout::Form;

namespace {

/// Part `index` of a list with commas; nothing if the list is shorter.
std::string_view part_of(std::string_view list, size_t index) {
  for (; index > 0; --index) {
    const size_t comma = list.find(',');
    if (comma == std::string_view::npos) return {};
    list.remove_prefix(comma + 1);
  }
  return list.substr(0, std::min(list.find(','), list.size()));
}

/// Numbers with few digits, as most have, without double rounding: both parts are exact as floats.
bool parse_short_float(std::string_view text, float* value) {
  constexpr float kPowers[] = {1, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F};
  constexpr size_t kMostDigits = 8;
  constexpr uint32_t kMostExact = 16777216;
  if (text.empty() || text.size() > kMostDigits) return false;
  uint32_t digits = 0;
  size_t point = text.size(), count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      digits = digits * 10 + static_cast<uint32_t>(c - '0');
      ++count;
    } else if (c == '.' && point == text.size()) {
      point = i;
    } else {
      return false;
    }
  }
  // At most seven digits are exact in a float, and so are powers of ten up to 10^7: only one rounding.
  if (count == 0 || digits > kMostExact) return false;
  const size_t places = point == text.size() ? 0 : text.size() - point - 1;
  *value = static_cast<float>(digits) / kPowers[places];
  return true;
}

/// Of a number whose first digit other than 0 decides, since it is out of range.
bool is_below_one(std::string_view text) {
  const size_t exponent_sign = std::min(text.find_first_of("eE"), text.size());
  const size_t point = std::min(text.find('.'), exponent_sign);
  const size_t first = text.substr(0, exponent_sign).find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  int64_t exponent = 0;
  if (exponent_sign < text.size()) {
    std::string_view digits = text.substr(exponent_sign + 1);
    const bool is_negative = digits.starts_with('-');
    if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc())
      exponent = INT32_MAX;  // more digits than an exponent can have
    if (is_negative) exponent = -exponent;
  }
  return static_cast<int64_t>(point) - static_cast<int64_t>(first) + exponent <= 0;
}

}  // namespace

Status damaged(const std::string& what) { return {ErrorCode::kCorruptFile, what}; }

std::string shortened(std::string_view text) {
  constexpr size_t kMost = 60;
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "…";
}

bool parse_integer(std::string_view text, int32_t* value) {
  constexpr size_t kMostSafe = 9;  // digits that cannot overflow
  if (!text.empty() && text.size() <= kMostSafe) {
    int32_t number = 0;
    size_t i = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) number = number * 10 + (text[i] - '0');
    if (i == text.size()) return *value = number, true;
  }
  const char* begin = text.data();
  if (text.size() > 1 && text[0] == '+') ++begin;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_float(std::string_view text, float* value) {
  if (parse_short_float(text, value)) return true;
  const char* begin = text.data();
  if (text.size() > 1 && text[0] == '+') ++begin;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), *value);
  if (end != text.data() + text.size()) return false;
  if (error == std::errc()) return true;
  // Outside of a float's range: takes the nearest float.
  double wide = 0;
  if (std::from_chars(begin, text.data() + text.size(), wide).ec == std::errc())
    *value = static_cast<float>(wide);
  else if (is_below_one(std::string_view(begin, static_cast<size_t>(end - begin))))
    *value = *begin == '-' ? -0.0F : 0.0F;
  else
    return false;
  return true;
}

Status append_text(std::string_view value, ColumnBuilder& column) {
  if (column.append_bytes(value.data(), static_cast<int64_t>(value.size()))) return Status::ok();
  return {ErrorCode::kOverBudget, "a record batch has more text than a column can hold"};
}

void append_nulls(ColumnBuilder& column, int64_t count) {
  struct Text {
    const char* ptr;
    int64_t len;
  };
  constexpr int64_t kBlock = 4096;
  static const std::vector<uint8_t> all_null(kBlock, 1);
  const columnar::Layout layout = column.field().dictionary ? column.field().index : column.field().layout;
  for (; count > 0; count -= kBlock) {
    const int64_t rows = std::min(count, kBlock);
    if (layout == columnar::Layout::kUtf8) {
      (void)column.append_texts<Text>(nullptr, all_null.data(), rows);  // no bytes, so there is room for them
    } else if (layout == columnar::Layout::kList || layout == columnar::Layout::kFixedList) {
      for (int64_t i = 0; i < rows; ++i) column.append_null();
    } else {
      const int64_t width = columnar::stored_width(column.field());
      std::memset(column.append_fixed(all_null.data(), rows), 0, static_cast<size_t>(rows * width));
    }
  }
}

Status ValueAppender::append(const Layout::Target& target, std::string_view value, const RowAllele& allele,
                             ColumnBuilder& column) {
  if (target.form == Form::kFlag) {
    column.append_bool(value.data() != nullptr);
    return Status::ok();
  }
  if (is_missing(value)) {
    column.append_null();
    return Status::ok();
  }
  if (target.form == Form::kDosage) {
    const int dosage =
        dosage_of(value, layout_.choice().is_whole ? kAnyAllele : static_cast<int32_t>(allele.index) + 1);
    if (dosage < 0)
      column.append_null();
    else
      column.append(static_cast<int8_t>(dosage));
    return Status::ok();
  }
  if (target.form == Form::kLabel) {
    int16_t index = 0;
    STROM_TRY(labels_.find(value, &index));
    column.append(index);
    return Status::ok();
  }
  if (layout_.choice().is_whole) return append_all(target, value, column);
  if (target.count == Count::kAlternatives) value = part_of(value, allele.index);
  if (target.count == Count::kAlleles) {  // the reference's and the row's
    const size_t comma = value.find(',');
    if (comma != std::string_view::npos && allele.count > 1) {
      pair_.assign(value.substr(0, comma)).append(",").append(part_of(value, allele.index + 1));
      value = pair_;
    }
  }
  return append_one(target, value, column);
}

Status ValueAppender::append_one(const Layout::Target& target, std::string_view value, ColumnBuilder& column) {
  if (is_missing(value)) {
    column.append_null();
    return Status::ok();
  }
  if (target.form == Form::kInteger || target.form == Form::kIntegers) {
    int32_t number = 0;
    if (parse_integer(value, &number)) {
      column.append(number);
      return Status::ok();
    }
  } else if (target.form == Form::kFloat || target.form == Form::kFloats) {
    float number = 0;
    if (parse_float(value, &number)) {
      column.append(number);
      return Status::ok();
    }
  } else {
    return append_text(value, column);
  }
  STROM_TRY(wrong_number(target, value));
  column.append_null();
  return Status::ok();
}

Status ValueAppender::append_all(const Layout::Target& target, std::string_view value, ColumnBuilder& column) {
  if (target.form < Form::kIntegers) return append_one(target, value, column);
  for (;;) {
    const size_t comma = std::min(value.find(','), value.size());
    STROM_TRY(append_one(target, value.substr(0, comma), column.child(0)));
    if (comma == value.size()) break;
    value.remove_prefix(comma + 1);
  }
  if (column.append_list()) return Status::ok();
  return {ErrorCode::kOverBudget, "a record batch has more values than a column can hold"};
}

Status ValueAppender::wrong_number(const Layout::Target& target, std::string_view value) {
  if (!layout_.choice().wrong_is_null)
    return Status(ErrorCode::kTypeMismatch,
                  "\"" + shortened(value) + "\" is no number that field \"" + target.id + "\" can have")
        .with_hint("--unconvertible-numeric-as-null makes it NULL, --disable-numeric-conversion keeps all as text.");
  ++counts_.wrong_numbers;
  return Status::ok();
}

}  // namespace strom::format::vcf
