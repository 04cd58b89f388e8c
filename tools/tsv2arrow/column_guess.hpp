// What type a column's texts could have, and the word for NULL that is all that stands against it. Used by convert.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/csv/append_value.hpp"

namespace strom::tsv2arrow {

class ColumnGuess {
 public:
  /// Where a text is: the number of its piece, and its row's place in it.
  struct TextPosition {
    int64_t piece = 0, position = 0;
  };

  explicit ColumnGuess(bool words_are_bool) : guess_(words_are_bool) {}

  void observe(const format::csv::TextField& field, TextPosition place);
  void merge(const ColumnGuess& other);
  /// As TypeGuess::choose().
  void choose(columnar::Field& field, bool reals, bool is_sample) const;

  /// Such as NA. Empty: there is none, or without it the column would be text, too.
  const std::string& word() const { return word_; }
  /// Of the first one.
  TextPosition word_place() const { return place_; }
  /// The type without the word.
  void choose_without_word(columnar::Field& field, bool reals) const { guess_.choose(field, reals, false); }

 private:
  format::csv::TypeGuess guess_;  // of all texts but `word_`
  std::string word_;
  TextPosition place_;
};

}  // namespace strom::tsv2arrow
