// See stored_value.hpp.
#include "arrow_files/stored_value.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/int128.hpp"
#include "columnar/batch.hpp"
#include "columnar/utf8.hpp"
#include "format/arrow/statistics/statistics_text.hpp"
#include "format/csv/row_text.hpp"

namespace strom::tool {

using base::int128;

namespace {

bool parse(const std::string& text, int128* value) {
  *value = 0;
  const bool negative = text.starts_with('-');
  constexpr size_t kMostDigits = 38;
  if (text.size() == negative || text.size() > kMostDigits + negative) return false;
  for (size_t i = negative; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    *value = *value * 10 + (text[i] - '0');
  }
  if (negative) *value = -*value;
  return true;
}

}  // namespace

std::string stored_value_text(const columnar::Field& field, const std::string& stored) {
  if (const auto text = format::arrow::parse_text_item(stored)) {
    // A bound that was cut need not be UTF-8.
    const bool is_printable = columnar::is_utf8(*text) && std::none_of(text->begin(), text->end(), [](char c) {
                                return static_cast<unsigned char>(c) < ' ';
                              });
    return is_printable ? *text : stored;
  }
  int128 value = 0;
  if (!parse(stored, &value)) return stored;
  // A column of one row: the lower bytes of the number are the value, whatever its width.
  columnar::ColumnView view;
  view.layout = field.layout;
  view.unit = field.unit;
  view.length = 1;
  view.values = &value;
  const auto text = format::csv::RowText::create({field}, {});
  format::csv::TextBuffer out;
  if (!text.is_ok() || !text.value()->append_rows({1, {view}}, 0, 1, out).is_ok() || out.size() == 0) return stored;
  return std::string(out.view().substr(0, out.view().size() - 1));
}

}  // namespace strom::tool
