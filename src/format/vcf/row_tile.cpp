#include "format/vcf/row_tile.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "format/vcf/short_number.hpp"

namespace strom::format::vcf {

using columnar::ColumnBuilder;
using Form = Layout::Form;

namespace {

/// Of POS and QUAL, which have no other form.
Status wrong_column(const Layout::Target& target, std::string_view text) {
  const bool is_whole =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return damaged(target.id + " \"" + shortened(text) + "\" is " + (is_whole ? "too large" : "no number"));
}

}  // namespace

RowTile::RowTile(const Layout& layout, std::vector<ColumnBuilder>& columns, ValueAppender& values)
    : layout_(layout),
      columns_(columns),
      values_(values),
      position_{"POS", Form::kInteger, Count::kFixed},
      quality_{"QUAL", Form::kFloat, Count::kFixed},
      texts_((kFirstInfo + layout.info().size()) * kStride) {}

void RowTile::begin(std::string_view text) {
  rows_ = 0;
  last_word_ = text.size() < ShortNumber::kMost ? nullptr : text.data() + text.size() - ShortNumber::kMost;
}

Status RowTile::add(int64_t line, const FixedFields& fixed, std::string_view alternative,
                    const std::vector<std::string_view>& info, const RowAllele& allele) {
  if (rows_ == kRows) STROM_TRY(flush());
  for (size_t i = 0; i < kFirstInfo; ++i) put(i, i == kAlt ? alternative : fixed[i]);
  for (size_t i = 0; i < info.size(); ++i) put(kFirstInfo + i, info[i]);
  lines_[rows_] = line;
  alleles_[rows_] = allele;
  ++rows_;
  return Status::ok();
}

Status RowTile::flush() {
  Status failed = Status::ok();
  size_t rows = rows_;
  for (size_t column = 0; column < kFirstInfo + layout_.info().size(); ++column) {
    size_t row = 0;
    Status status = append_column(column, rows, &row);
    if (status.is_ok()) continue;
    // From here on, only an error of an earlier row matters.
    failed = std::move(status);
    failed_ = lines_[row];
    rows = row;
  }
  rows_ = 0;
  return failed;
}

Status RowTile::append_column(size_t column, size_t rows, size_t* row) {
  if (column == kPos) return append_numbers<int32_t>(column, rows, position_, row);
  if (column == kQual) return append_numbers<float>(column, rows, quality_, row);
  if (column < kFirstInfo) return append_texts(column, rows, false, row);
  const Layout::Target& target = layout_.info()[column - kFirstInfo];
  switch (target.form) {
    case Form::kFlag:
      for (size_t i = 0; i < rows; ++i) columns_[column].append_bool(column_texts(column)[i].ptr != nullptr);
      return Status::ok();
    case Form::kInteger: return append_numbers<int32_t>(column, rows, target, row);
    case Form::kFloat: return append_numbers<float>(column, rows, target, row);
    case Form::kText:
      if (target.count != Count::kAlleles || layout_.choice().is_whole)
        return append_texts(column, rows, target.count == Count::kAlternatives && !layout_.choice().is_whole, row);
      break;
    default: break;
  }
  return append_others(column, rows, target, row);
}

/// `is_list`: takes the text before a comma.
Status RowTile::append_texts(size_t column, size_t rows, bool is_list, size_t* row) {
  Text* texts = column_texts(column);
  ColumnBuilder& to = columns_[column];
  uint8_t flags[kRows];
  uint8_t has_nulls = 0;
  for (size_t i = 0; i < rows; ++i) {
    if (is_list && texts[i].len > 1) {
      if (const void* comma = std::memchr(texts[i].ptr, ',', static_cast<size_t>(texts[i].len)); comma != nullptr)
        texts[i].len = static_cast<const char*>(comma) - texts[i].ptr;
    }
    flags[i] = to.field().nullable && texts[i].is_missing() ? 1 : 0;
    has_nulls |= flags[i];
  }
  if (to.append_texts(texts, has_nulls != 0 ? flags : nullptr, static_cast<int64_t>(rows))) return Status::ok();
  for (*row = 0; *row < rows; ++*row) {
    if (flags[*row] != 0)
      to.append_null();
    else
      STROM_TRY(append_text(texts[*row].view(), to));
  }
  return Status::ok();
}

template <class T>
bool RowTile::parse(const Text& text, bool is_list, T* value) const {
  if (text.len <= static_cast<int64_t>(ShortNumber::kMost) && last_word_ != nullptr && text.ptr <= last_word_) {
    const ShortNumber number(text.ptr, static_cast<size_t>(text.len), is_list);
    if constexpr (std::is_same_v<T, float>) {
      if (number.real(value)) return true;
    } else {
      if (number.integer(value)) return true;
    }
  }
  std::string_view view = text.view();
  if (is_list) view = view.substr(0, view.find(','));
  if constexpr (std::is_same_v<T, float>)
    return parse_float(view, value);
  else
    return parse_integer(view, value);
}

template <class T>
Status RowTile::append_numbers(size_t column, size_t rows, const Layout::Target& target, size_t* row) {
  if (rows == 0) return Status::ok();  // a column may have no memory yet
  const Text* texts = column_texts(column);
  const bool is_list = target.count == Count::kAlternatives && !layout_.choice().is_whole;
  T numbers[kRows];
  uint8_t flags[kRows];
  uint8_t has_nulls = 0;
  for (size_t i = 0; i < rows; ++i) {
    flags[i] = 0;
    const Text& text = texts[i];
    if (!text.is_missing() && parse(text, is_list, &numbers[i])) continue;
    flags[i] = has_nulls = 1;
    numbers[i] = 0;
    std::string_view view = text.view();
    if (is_list) view = view.substr(0, view.find(','));
    if (is_missing(view) && column != kPos) continue;
    *row = i;
    if (column == kPos || column == kQual) return wrong_column(target, view);
    STROM_TRY(values_.wrong_number(target, view));
  }
  std::memcpy(columns_[column].append_fixed(has_nulls != 0 ? flags : nullptr, static_cast<int64_t>(rows)), numbers,
              rows * sizeof(T));
  return Status::ok();
}

Status RowTile::append_others(size_t column, size_t rows, const Layout::Target& target, size_t* row) {
  for (*row = 0; *row < rows; ++*row)
    STROM_TRY(values_.append(target, column_texts(column)[*row].view(), alleles_[*row], columns_[column]));
  return Status::ok();
}

}  // namespace strom::format::vcf
