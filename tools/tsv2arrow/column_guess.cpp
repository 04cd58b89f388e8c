// See column_guess.hpp.
#include "tsv2arrow/column_guess.hpp"

#include <algorithm>
#include <iterator>

namespace strom::tsv2arrow {

namespace {

/// What programs write where there is no value.
bool is_null_word(std::string_view text) {
  constexpr std::string_view kWords[] = {"NA",   "N/A",  "n/a", "na",   "#N/A", "NULL", "Null",
                                         "null", "None", "nil", "<NA>", "-",    "?",    "\\N"};
  return std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords);
}

}  // namespace

void ColumnGuess::observe(const format::csv::TextField& field, TextPosition place) {
  const bool is_word = !field.is_quoted && is_null_word(field.text) && (word_.empty() || word_ == field.text);
  if (!is_word) return guess_.observe(field.text);
  if (!word_.empty()) return;
  word_ = field.text;
  place_ = place;
}

void ColumnGuess::merge(const ColumnGuess& other) {
  guess_.merge(other.guess_);
  if (other.word_.empty()) return;
  if (!word_.empty() && other.word_ != word_) guess_.observe(other.word_);  // text
  const bool is_first =
      word_.empty() || std::pair(other.place_.piece, other.place_.position) < std::pair(place_.piece, place_.position);
  if (!is_first) return;
  word_ = other.word_;
  place_ = other.place_;
}

void ColumnGuess::choose(columnar::Field& field, bool reals, bool is_sample) const {
  if (word_.empty())
    guess_.choose(field, reals, is_sample);
  else
    field.layout = columnar::Layout::kUtf8;
}

}  // namespace strom::tsv2arrow
